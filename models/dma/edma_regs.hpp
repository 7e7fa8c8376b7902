// Register map of the system DMA, as data: the channel controller of a TI EDMA3 (32 channels, one shadow
// region), its parameter RAM, and a linked-list extension of our own. No SystemC in here: the firmware
// includes it. Offsets and bits of the EDMA3 part: AM335x TRM chapter 11; LL_*, TC_ERROR: this project's.
#pragma once

#include <array>

#include "models/core/register_map.hpp"

namespace vp::edma {

using A = Access;

inline constexpr unsigned kChannels = 32;
inline constexpr std::uint32_t kWindowBytes = 0x8000;  ///< decoded area
inline constexpr std::uint32_t kRegisterBytes = 0x2200;
inline constexpr std::uint32_t kParamBase = 0x4000;  ///< parameter RAM
inline constexpr std::uint32_t kSetBytes = 32;

inline constexpr FieldDef kConfigFields[] = {
    {"NUM_DMACH", 0, 3, A::HWInit, "4: 32 channels"},
    {"NUM_PAENTRY", 12, 3, A::HWInit, "parameter sets, 16 << n"},
    {"NUM_EVQUE", 16, 3, A::HWInit, "event queues - 1"},
    {"CHMAP_EXIST", 24, 1, A::HWInit, "channels are mapped to sets by DCHMAP"},
};
inline constexpr FieldDef kMapFields[] = {
    {"PAENTRY", 5, 9, A::RW, "parameter set of the channel"},
};
inline constexpr FieldDef kErrorFields[] = {
    {"QTHRXCD0", 0, 1, A::RO, "queue threshold exceeded; never set here"},
    {"TCCERR", 16, 1, A::RO, "a completion code was still set when it came again"},
};
inline constexpr FieldDef kErrorClearFields[] = {
    {"QTHRXCD0", 0, 1, A::WO, "clear"},
    {"TCCERR", 16, 1, A::WO, "clear"},
};
inline constexpr FieldDef kEvalFields[] = {
    {"EVAL", 0, 1, A::WO, "evaluate the line anew; nothing to do, the lines are levels here"},
};
inline constexpr FieldDef kListFields[] = {
    {"ENABLE", 0, 1, A::RW, "linked-list mode: sets come from memory, the first one is fetched at once"},
    {"BUSY", 31, 1, A::RO, "a set is being fetched"},
};

// One row per channel and array; the names are DCHMAP0 to DCHMAP31 and so on.
#define VP_EDMA_EACH_CHANNEL(X)                                                                            \
  X(0)                                                                                                     \
  X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) \
      X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define VP_EDMA_MAP(n) \
  {"DCHMAP" #n, 0x100 + 4 * (n), 4, (n) << 5, A::RW, kMapFields, "parameter set of channel " #n},
#define VP_EDMA_LIST(n)                                                                              \
  {"LL_CONTROL" #n, 0x2000 + 16 * (n), 4, 0, A::RW, kListFields, "linked-list mode of channel " #n}, \
      {"LL_NEXT" #n, 0x2008 + 16 * (n), 8, 0, A::RW, {}, "next descriptor of channel " #n ", 0: none"},

inline constexpr RegDef kRegs[] = {
    {"PID", 0x000, 4, 0x4001'5300, A::HWInit, {}, "peripheral identification"},
    {"CCCFG", 0x004, 4, 0x0100'0004, A::HWInit, kConfigFields, "configuration"},
    VP_EDMA_EACH_CHANNEL(VP_EDMA_MAP)  //
    {"EMR", 0x300, 4, 0, A::RO, {}, "events missed"},
    {"EMCR", 0x308, 4, 0, A::WO, {}, "clears EMR"},
    {"CCERR", 0x318, 4, 0, A::RO, kErrorFields, "controller errors"},
    {"CCERRCLR", 0x31C, 4, 0, A::WO, kErrorClearFields, "clears CCERR"},
    {"EEVAL", 0x320, 4, 0, A::WO, kEvalFields, "error evaluate"},
    {"ER", 0x1000, 4, 0, A::RO, {}, "events latched from the request lines"},
    {"ECR", 0x1008, 4, 0, A::WO, {}, "clears ER"},
    {"ESR", 0x1010, 4, 0, A::W1S, {}, "events set by software"},
    {"CER", 0x1018, 4, 0, A::RO, {}, "events chained"},
    {"EER", 0x1020, 4, 0, A::RO, {}, "request lines that may start their channel"},
    {"EECR", 0x1028, 4, 0, A::WO, {}, "clears EER"},
    {"EESR", 0x1030, 4, 0, A::WO, {}, "sets EER"},
    {"SER", 0x1038, 4, 0, A::RO, {}, "events stopped by an empty set"},
    {"SECR", 0x1040, 4, 0, A::WO, {}, "clears SER"},
    {"IER", 0x1050, 4, 0, A::RO, {}, "completion codes that interrupt"},
    {"IECR", 0x1058, 4, 0, A::WO, {}, "clears IER"},
    {"IESR", 0x1060, 4, 0, A::WO, {}, "sets IER"},
    {"IPR", 0x1068, 4, 0, A::RO, {}, "completion codes that have come"},
    {"ICR", 0x1070, 4, 0, A::WO, {}, "clears IPR"},
    {"IEVAL", 0x1078, 4, 0, A::WO, kEvalFields, "interrupt evaluate"},
    VP_EDMA_EACH_CHANNEL(VP_EDMA_LIST)  //
    {"TC_ERROR", 0x1F00, 4, 0, A::W1C, {}, "channels whose transfer met a bus error"},
    {"TC_ERROR_ADDRESS", 0x1F08, 8, 0, A::RO, {}, "where the last one was"},
};
#undef VP_EDMA_MAP
#undef VP_EDMA_LIST
#undef VP_EDMA_EACH_CHANNEL

/// A parameter set: eight words, in parameter RAM or at the head of a linked-list descriptor.
enum Word : unsigned { kOpt, kSrc, kABCnt, kDst, kBIdx, kLink, kCIdx, kCCnt, kWords };
using ParamSet = std::array<std::uint32_t, kWords>;

enum Opt : std::uint32_t {
  kOptSam = 1u << 0,     ///< source address constant (FIFO), beats of FWID
  kOptDam = 1u << 1,     ///< destination address constant
  kOptAbSync = 1u << 2,  ///< one event moves a frame (BCNT arrays); else one array
  kOptStatic = 1u << 3,  ///< the set is not updated and not linked
  kOptEarly = 1u << 11,  ///< TCCMODE: completion when the transfer is handed over, not when it is done
  kOptTcInt = 1u << 20,  ///< interrupt when the set is exhausted
  kOptIntermediateInt = 1u << 21,
  kOptTcChain = 1u << 22,  ///< event on channel TCC when the set is exhausted
  kOptIntermediateChain = 1u << 23,
};
inline constexpr unsigned kOptFwidLsb = 8, kOptTccLsb = 12;
inline constexpr std::uint32_t kOptFwidMask = 7u << kOptFwidLsb, kOptTccMask = 63u << kOptTccLsb;
inline constexpr std::uint32_t kNoLink = 0xFFFF;  ///< LINK: the next set is a null set

/// Linked-list mode: a descriptor is a parameter set (LINK ignored) and the 64-bit address of the next one.
inline constexpr std::uint32_t kDescriptorBytes = kSetBytes + 8;

}  // namespace vp::edma
