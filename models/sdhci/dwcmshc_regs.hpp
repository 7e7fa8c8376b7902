// Vendor area 1 of a DWC MSHC, found through VENDOR1_POINTER; offsets are relative to it. No SystemC in here.
#pragma once

#include "models/core/register_map.hpp"

namespace vp::dwcmshc {

using A = Access;

inline constexpr FieldDef kMshcCtrlFields[] = {
    {"CMD_CONFLICT_CHECK", 0, 1, A::RW, "command conflict check"},
    {"NEGEDGE_DATAOUT", 1, 1, A::RW, "data out on the falling edge"},
    {"SW_CG_DIS", 4, 1, A::RW, "1: internal clock gating disabled"},
    {"SLV_ERR_RESP", 5, 1, A::RW, "answer bad register accesses with an error"},
    {"PEDGE_DRV", 6, 1, A::RW, "drive on the rising edge"},
    {"NEDGE_SMPL", 7, 1, A::RW, "sample on the falling edge"},
};
inline constexpr FieldDef kMbiuCtrlFields[] = {
    {"UNDEFL_INCR_EN", 0, 1, A::RW, "undefined-length INCR bursts"},
    {"INCR4_EN", 1, 1, A::RW, "INCR4"},
    {"INCR8_EN", 2, 1, A::RW, "INCR8"},
    {"INCR16_EN", 3, 1, A::RW, "INCR16"},
    {"UPPER", 16, 16, A::RW, "meaning not public; kept"},
};
inline constexpr FieldDef kEmmcCtrlFields[] = {
    {"CARD_IS_EMMC", 0, 1, A::RW, "eMMC; enables the data strobe for HS400"},
    {"DISABLE_DATA_CRC_CHK", 1, 1, A::RW, "no data CRC check"},
    {"EMMC_RST_N", 2, 1, A::RW, "1: RST_n deasserted"},
    {"EMMC_RST_N_OE", 3, 1, A::RW, "RST_n output enable"},
    {"ENH_STROBE_ENABLE", 8, 1, A::RW, "enhanced strobe"},
    {"CQE_ALGO_SEL", 9, 1, A::RW, "0: priority then doorbell order; 1: doorbell order"},
    {"CQE_PREFETCH_DISABLE", 10, 1, A::RW, "no descriptor prefetch in the CQE"},
};
inline constexpr FieldDef kBootCtrlFields[] = {
    {"MAN_BOOT_EN", 0, 1, A::RW, "mandatory boot"},
    {"VALIDATE_BOOT", 7, 1, A::RW, "validate boot"},
    {"BOOT_ACK_ENABLE", 8, 1, A::RW, "expect a boot acknowledge"},
    {"BOOT_TOUT_CNT", 12, 4, A::RW, "boot acknowledge timeout, TMCLK x 2^(13+n)"},
};
inline constexpr FieldDef kAtCtrlFields[] = {
    {"AT_EN", 0, 1, A::RW, "auto tuning"},
    {"CI_SEL", 1, 1, A::RW, "when to correct the centre phase"},
    {"SWIN_TH_EN", 2, 1, A::RW, "take the first window above the threshold"},
    {"RPT_TUNE_ERR", 3, 1, A::RW, "report tuning errors"},
    {"SW_TUNE_EN", 4, 1, A::RW, "software tuning: CENTER_PH_CODE is writable"},
    {"WIN_EDGE_SEL", 8, 4, A::RW, "window edges"},
    {"TUNE_CLK_STOP_EN", 16, 1, A::RW, "stop the clock while the phase changes"},
    {"PRE_CHANGE_DLY", 17, 2, A::RW, "n + 1 cycles"},
    {"POST_CHANGE_DLY", 19, 2, A::RW, "n + 1 cycles"},
    {"SWIN_TH_VAL", 24, 7, A::RW, "window threshold in taps, val + 1"},
};
inline constexpr FieldDef kAtStatFields[] = {
    {"CENTER_PH_CODE", 0, 8, A::RW, "centre phase code"},
    {"R_EDGE_PH_CODE", 8, 8, A::RO, "right edge"},
    {"L_EDGE_PH_CODE", 16, 8, A::RO, "left edge"},
};

inline constexpr RegDef kRegs[] = {
    {"MSHC_VER_ID", 0x00, 4, 0x3138302A, A::RO, {}, "version, ASCII \"180*\""},
    {"MSHC_VER_TYPE", 0x04, 4, 0x6C703032, A::RO, {}, "release type, ASCII \"lp02\""},
    {"MSHC_CTRL", 0x08, 1, 0x01, A::RW, kMshcCtrlFields, "host control 3"},
    {"MBIU_CTRL", 0x10, 4, 0x00000001, A::RW, kMbiuCtrlFields, "master bus bursts"},
    {"EMMC_CTRL", 0x2C, 2, 0, A::RW, kEmmcCtrlFields, "eMMC control"},
    {"BOOT_CTRL", 0x2E, 2, 0, A::RW, kBootCtrlFields, "boot control"},
    {"GP_IN", 0x30, 4, 0, A::RO, {}, "user inputs"},
    {"GP_OUT", 0x34, 4, 0, A::RW, {}, "user outputs"},
    {"AT_CTRL", 0x40, 4, 0, A::RW, kAtCtrlFields, "tuning control"},
    {"AT_STAT", 0x44, 4, 0, A::RW, kAtStatFields, "tuning status"},
};

}  // namespace vp::dwcmshc
