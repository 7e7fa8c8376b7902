// Register map of the OMAP-HSMMC-like host, as data, in OMAP3's layout (OMAP4 and AM335x place the same block 0x100
// higher). No SystemC in here: the firmware includes it. Source: AM335x TRM chapter 18 and Linux omap_hsmmc.
#pragma once

#include "models/core/register_map.hpp"

namespace vp::hsmmc {

using A = Access;

inline constexpr std::uint32_t kWindowBytes = 0x1000;  ///< decoded area

inline constexpr FieldDef kSysConfigFields[] = {
    {"AUTOIDLE", 0, 1, A::RW, "interface clock gating; no effect"},
    {"SOFTRESET", 1, 1, A::RWAC, "resets the whole block"},
    {"ENAWAKEUP", 2, 1, A::RW, "wake-up; no effect"},
    {"SIDLEMODE", 3, 2, A::RW, "idle mode; no effect"},
    {"CLOCKACTIVITY", 8, 2, A::RW, "clocks during idle; no effect"},
};
inline constexpr FieldDef kSysStatusFields[] = {
    {"RESETDONE", 0, 1, A::RO, "the block is out of reset"},
};
inline constexpr FieldDef kConFields[] = {
    {"OD", 0, 1, A::RW, "open drain on CMD"},
    {"INIT", 1, 1, A::RW, "a command written now sends 80 clocks instead of itself"},
    {"DW8", 5, 1, A::RW, "eight data lines"},
    {"CTPL", 11, 1, A::RW, "buffer power on DAT1; no effect"},
    {"CLKEXTFREE", 16, 1, A::RW, "free-running clock; no effect"},
    {"DDR", 19, 1, A::RW, "both edges"},
};
inline constexpr FieldDef kBlkFields[] = {
    {"BLEN", 0, 11, A::RW, "bytes per block, multiple of 4"},
    {"NBLK", 16, 16, A::RW, "blocks; counts down while they move"},
};
inline constexpr FieldDef kCmdFields[] = {
    {"DE", 0, 1, A::RW, "DMA requests instead of buffer interrupts"},
    {"BCE", 1, 1, A::RW, "block count enable"},
    {"ACEN", 2, 2, A::RW, "0 off, 1 Auto CMD12, 2 Auto CMD23"},
    {"DDIR", 4, 1, A::RW, "1 card to host"},
    {"MSBS", 5, 1, A::RW, "multi block"},
    {"RSP_TYPE", 16, 2, A::RW, "0 none, 1 136 bit, 2 48 bit, 3 48 bit with busy"},
    {"CCCE", 19, 1, A::RW, "check the response CRC7"},
    {"CICE", 20, 1, A::RW, "check the response index"},
    {"DP", 21, 1, A::RW, "a data transfer follows"},
    {"CMD_TYPE", 22, 2, A::RW, "0 normal, 3 abort"},
    {"INDX", 24, 6, A::RW, "command index; a write to this byte sends the command"},
};
inline constexpr FieldDef kPstateFields[] = {
    {"CMDI", 0, 1, A::RO, "command line in use"},
    {"DATI", 1, 1, A::RO, "data lines in use"},
    {"DLA", 2, 1, A::RO, "data line active"},
    {"WTA", 8, 1, A::RO, "write transfer runs"},
    {"RTA", 9, 1, A::RO, "read transfer runs"},
    {"BWE", 10, 1, A::RO, "a block may be written to DATA"},
    {"BRE", 11, 1, A::RO, "a block may be read from DATA"},
    {"CINS", 16, 1, A::RO, "card present"},
    {"CSS", 17, 1, A::RO, "card detect is stable"},
    {"CDPL", 18, 1, A::RO, "card detect level"},
    {"WP", 19, 1, A::RO, "1 writable"},
    {"DLEV", 20, 4, A::RO, "DAT[3:0] levels"},
    {"CLEV", 24, 1, A::RO, "CMD level"},
};
inline constexpr FieldDef kHctlFields[] = {
    {"DTW", 1, 1, A::RW, "four data lines"},
    {"HSPE", 2, 1, A::RW, "high speed timing"},
    {"SDBP", 8, 1, A::RW, "bus power"},
    {"SDVS", 9, 3, A::RW, "5: 1.8 V, 6: 3.0 V, 7: 3.3 V"},
    {"IWE", 24, 1, A::RW, "wake-up on card interrupt; no effect"},
};
inline constexpr FieldDef kSysCtlFields[] = {
    {"ICE", 0, 1, A::RW, "internal clock enable"},
    {"ICS", 1, 1, A::RO, "internal clock stable"},
    {"CEN", 2, 1, A::RW, "card clock enable"},
    {"CLKD", 6, 10, A::RW, "card clock = functional clock / CLKD; 0 and 1: undivided"},
    {"DTO", 16, 4, A::RW, "data timeout, card clock x 2^(13+n); 15: none"},
    {"SRA", 24, 1, A::RWAC, "reset of the whole block"},
    {"SRC", 25, 1, A::RWAC, "reset of the command line"},
    {"SRD", 26, 1, A::RWAC, "reset of the data lines"},
};
inline constexpr FieldDef kStatFields[] = {
    {"CC", 0, 1, A::W1C, "command complete"},
    {"TC", 1, 1, A::W1C, "transfer complete"},
    {"BGE", 2, 1, A::W1C, "block gap; never set here"},
    {"BWR", 4, 1, A::W1C, "buffer write ready"},
    {"BRR", 5, 1, A::W1C, "buffer read ready"},
    {"CIRQ", 8, 1, A::RO, "card interrupt; never set here"},
    {"ERR", 15, 1, A::RO, "any of the errors below"},
    {"CTO", 16, 1, A::W1C, "no response in 64 clocks"},
    {"CCRC", 17, 1, A::W1C, "response CRC7"},
    {"CEB", 18, 1, A::W1C, "response end bit"},
    {"CIE", 19, 1, A::W1C, "response index"},
    {"DTO", 20, 1, A::W1C, "data timeout"},
    {"DCRC", 21, 1, A::W1C, "data CRC16 or CRC status"},
    {"DEB", 22, 1, A::W1C, "data end bit"},
    {"ACE", 24, 1, A::W1C, "automatic command error"},
    {"CERR", 28, 1, A::W1C, "a bit of CSRE in R1"},
    {"BADA", 29, 1, A::W1C, "DATA accessed while no block is there or has room"},
};
inline constexpr FieldDef kEnableFields[] = {
    {"NORMAL", 0, 15, A::RW, "positions as in STAT; bit 15 is fixed 0"},
    {"ERRORS", 16, 14, A::RW, "positions as in STAT"},
};
inline constexpr FieldDef kAc12Fields[] = {
    {"ACNE", 0, 1, A::ROC, "Auto CMD12 not executed"},
    {"ACTO", 1, 1, A::ROC, "automatic command timeout"},
    {"ACCE", 2, 1, A::ROC, "automatic command CRC"},
    {"ACEB", 3, 1, A::ROC, "automatic command end bit"},
    {"ACIE", 4, 1, A::ROC, "automatic command index"},
    {"CNI", 7, 1, A::ROC, "command not issued because of an Auto CMD12 error"},
};
inline constexpr FieldDef kCapaFields[] = {
    {"MBL", 16, 2, A::HWInit, "512 << n bytes per block"},
    {"HSS", 21, 1, A::HWInit, "high speed"},
    {"DS", 22, 1, A::HWInit, "DMA"},
    {"VS33", 24, 1, A::HWInit, "3.3 V"},
    {"VS30", 25, 1, A::HWInit, "3.0 V"},
    {"VS18", 26, 1, A::HWInit, "1.8 V"},
};

inline constexpr RegDef kRegs[] = {
    {"SYSCONFIG", 0x010, 4, 0x15, A::RW, kSysConfigFields, "bus interface"},
    {"SYSSTATUS", 0x014, 4, 1, A::RO, kSysStatusFields, "reset status"},
    {"CSRE", 0x024, 4, 0, A::RW, {}, "R1 bits that raise CERR"},
    {"SYSTEST", 0x028, 4, 0, A::RO, {}, "system test; not modelled"},
    {"CON", 0x02C, 4, 0, A::RW, kConFields, "configuration"},
    {"PWCNT", 0x030, 4, 0, A::RW, {}, "power counter; no effect"},
    {"SDMASA", 0x100, 4, 0, A::RW, {}, "argument of Auto CMD23"},
    {"BLK", 0x104, 4, 0, A::RW, kBlkFields, "block length and count"},
    {"ARG", 0x108, 4, 0, A::RW, {}, "command argument"},
    {"CMD", 0x10C, 4, 0, A::RW, kCmdFields, "command and transfer mode"},
    {"RSP10", 0x110, 4, 0, A::ROC, {}, "response bits 31:0"},
    {"RSP32", 0x114, 4, 0, A::ROC, {}, "response bits 63:32"},
    {"RSP54", 0x118, 4, 0, A::ROC, {}, "response bits 95:64"},
    {"RSP76", 0x11C, 4, 0, A::ROC, {}, "response bits 127:96; automatic command response"},
    {"PSTATE", 0x124, 4, 0x000F'0000, A::RO, kPstateFields, "present state"},
    {"HCTL", 0x128, 4, 0, A::RW, kHctlFields, "host control"},
    {"SYSCTL", 0x12C, 4, 0, A::RW, kSysCtlFields, "clock, timeout, resets"},
    {"STAT", 0x130, 4, 0, A::W1C, kStatFields, "interrupt status"},
    {"IE", 0x134, 4, 0, A::RW, kEnableFields, "status enable"},
    {"ISE", 0x138, 4, 0, A::RW, kEnableFields, "signal enable"},
    {"AC12", 0x13C, 4, 0, A::ROC, kAc12Fields, "automatic command error status"},
    {"CAPA", 0x140, 4, 0x0361'0000, A::HWInit, kCapaFields, "capabilities"},
    {"CUR_CAPA", 0x148, 4, 0, A::HWInit, {}, "maximum current; not given"},
    {"REV", 0x1FC, 4, 0x3101'0000, A::HWInit, {}, "revision"},
};

/// DATA is the buffer's port, not storage: it stands outside the table.
inline constexpr std::uint32_t kData = 0x120, kDataBytes = 4;

enum Int : std::uint32_t {
  kIntCc = 1u << 0,
  kIntTc = 1u << 1,
  kIntBwr = 1u << 4,
  kIntBrr = 1u << 5,
  kIntErr = 1u << 15,
  kIntCto = 1u << 16,
  kIntCcrc = 1u << 17,
  kIntCeb = 1u << 18,
  kIntCie = 1u << 19,
  kIntDto = 1u << 20,
  kIntDcrc = 1u << 21,
  kIntDeb = 1u << 22,
  kIntAce = 1u << 24,
  kIntCerr = 1u << 28,
  kIntBada = 1u << 29,
};
inline constexpr std::uint32_t kIntCommandErrors = kIntCto | kIntCcrc | kIntCeb | kIntCie;
inline constexpr std::uint32_t kIntDataErrors = kIntDto | kIntDcrc | kIntDeb;

}  // namespace vp::hsmmc
