// CQHCI register map of a DWC MSHC (found through the SDHCI's VENDOR2_POINTER; offsets are relative to it), and the
// layout of its descriptors, as data. No SystemC in here: the firmware includes it. Source: JESD84-B51 annex B.
#pragma once

#include "models/core/register_map.hpp"

namespace vp::cqhci {

using A = Access;

inline constexpr FieldDef kVersionFields[] = {
    {"SUFFIX", 0, 4, A::HWInit, "version suffix, BCD"},
    {"MINOR", 4, 4, A::HWInit, "minor version, BCD"},
    {"MAJOR", 8, 4, A::HWInit, "major version, BCD"},
};
inline constexpr FieldDef kCapFields[] = {
    {"ITCFVAL", 0, 10, A::HWInit, "timer clock frequency, in units of ITCFMUL"},
    {"ITCFMUL", 12, 4, A::HWInit, "unit: 0 1 kHz, 1 10 kHz, 2 100 kHz, 3 1 MHz, 4 10 MHz"},
    {"CRYPTO", 28, 1, A::HWInit, "inline encryption present"},
};
inline constexpr FieldDef kCfgFields[] = {
    {"CQ_EN", 0, 1, A::RW, "command queueing enable; 0 clears the doorbells"},
    {"CRYPTO_EN", 1, 1, A::RW, "crypto general enable"},
    {"TASK_DESC_128", 8, 1, A::RW, "task descriptor size: 0 64 bit, 1 128 bit"},
    {"DCMD_EN", 12, 1, A::RW, "slot 31 holds direct commands"},
};
inline constexpr FieldDef kCtlFields[] = {
    {"HALT", 0, 1, A::RW, "write: halt request or resume; read: halted"},
    {"CLEAR_ALL_TASKS", 8, 1, A::RWAC, "drop every task; only while halted"},
};
inline constexpr FieldDef kIsFields[] = {
    {"HAC", 0, 1, A::W1C, "halt complete"},           {"TCC", 1, 1, A::W1C, "task complete"},
    {"RED", 2, 1, A::W1C, "response error detected"}, {"TCL", 3, 1, A::W1C, "task cleared"},
    {"GCE", 4, 1, A::W1C, "general crypto error"},    {"ICCE", 5, 1, A::W1C, "invalid crypto configuration"},
};
inline constexpr FieldDef kIsEnableFields[] = {
    {"BITS", 0, 6, A::RW, "same positions as CQIS"},
};
inline constexpr FieldDef kIcFields[] = {
    {"TIMEOUT", 0, 7, A::RW, "timer value, x 1024 timer clocks; 0: no timer"},
    {"TIMEOUT_WE", 7, 1, A::WO, "write enable of TIMEOUT"},
    {"COUNTER", 8, 5, A::RW, "completions of INT = 0 tasks that make an interrupt; 0: no counter"},
    {"COUNTER_WE", 15, 1, A::WO, "write enable of COUNTER"},
    {"RESET", 16, 1, A::WO, "resets counter and timer"},
    {"STATUS", 20, 1, A::RO, "completions have been counted since the last reset"},
    {"ENABLE", 31, 1, A::RW, "coalescing enable"},
};
inline constexpr FieldDef kSsc1Fields[] = {
    {"CIT", 0, 16, A::RW, "timer clocks from an answer without ready tasks to the next status query"},
    {"CBC", 16, 4, A::RW, "query in the last n-th block of a transfer; 0: only while DAT is idle"},
};
inline constexpr FieldDef kSsc2Fields[] = {
    {"RCA", 0, 16, A::RW, "RCA of the status queries"},
};
inline constexpr FieldDef kTerriFields[] = {
    {"RESPONSE_INDEX", 0, 6, A::RO, "command whose response had the error"},
    {"RESPONSE_TASK", 8, 5, A::RO, "its task"},
    {"RESPONSE_VALID", 15, 1, A::RO, "the response part is valid"},
    {"DATA_INDEX", 16, 6, A::RO, "command whose data had the error"},
    {"DATA_TASK", 24, 5, A::RO, "its task"},
    {"DATA_VALID", 31, 1, A::RO, "the data part is valid"},
};
inline constexpr FieldDef kCriFields[] = {
    {"INDEX", 0, 6, A::RO, "index of the last response"},
};

inline constexpr RegDef kRegs[] = {
    {"CQVER", 0x00, 4, 0x00000510, A::HWInit, kVersionFields, "version 5.10"},
    {"CQCAP", 0x04, 4, 0x00003018, A::HWInit, kCapFields, "capabilities"},
    {"CQCFG", 0x08, 4, 0, A::RW, kCfgFields, "configuration"},
    {"CQCTL", 0x0C, 4, 0, A::RW, kCtlFields, "control"},
    {"CQIS", 0x10, 4, 0, A::W1C, kIsFields, "interrupt status"},
    {"CQISTE", 0x14, 4, 0, A::RW, kIsEnableFields, "interrupt status enable"},
    {"CQISGE", 0x18, 4, 0, A::RW, kIsEnableFields, "interrupt signal enable"},
    {"CQIC", 0x1C, 4, 0, A::RW, kIcFields, "interrupt coalescing"},
    {"CQTDLBA",
     0x20,
     4,
     0,
     A::RW,
     {},
     "task descriptor list base 31:0; 1 KiB aligned, bits 9:0 are not used"},
    {"CQTDLBAU", 0x24, 4, 0, A::RW, {}, "task descriptor list base 63:32"},
    {"CQTDBR", 0x28, 4, 0, A::W1S, {}, "doorbell, one bit per slot"},
    {"CQTCN", 0x2C, 4, 0, A::W1C, {}, "task completion notification"},
    {"CQDQS", 0x30, 4, 0, A::RO, {}, "device queue status: the last QSR"},
    {"CQDPT", 0x34, 4, 0, A::RO, {}, "device pending tasks: queued and not yet complete"},
    {"CQTCLR", 0x38, 4, 0, A::W1S, {}, "task clear; only while halted"},
    {"CQTDPE", 0x3C, 4, 0, A::RO, {}, "task descriptor processing errors"},
    {"CQSSC1", 0x40, 4, 0x00011000, A::RW, kSsc1Fields, "send status configuration 1"},
    {"CQSSC2", 0x44, 4, 0, A::RW, kSsc2Fields, "send status configuration 2"},
    {"CQCRDCT", 0x48, 4, 0, A::RO, {}, "response of the last direct command"},
    {"CQRMEM", 0x50, 4, 0xFDF9A080, A::RW, {}, "R1 bits that are errors"},
    {"CQTERRI", 0x54, 4, 0, A::RO, kTerriFields, "task error information"},
    {"CQCRI", 0x58, 4, 0, A::RO, kCriFields, "command response index"},
    {"CQCRA", 0x5C, 4, 0, A::RO, {}, "command response argument"},
    {"CCAP", 0x100, 4, 0, A::HWInit, {}, "crypto capability"},
};
inline constexpr std::uint32_t kWindowBytes = 0x104;

/// CQIS, CQISTE and CQISGE bits.
enum Is : std::uint32_t {
  kIsHac = 1u << 0,
  kIsTcc = 1u << 1,
  kIsRed = 1u << 2,
  kIsTcl = 1u << 3,
  kIsGce = 1u << 4,
  kIsIcce = 1u << 5,
  kIsAll = 0x3F,
};

inline constexpr unsigned kSlots = 32;
inline constexpr unsigned kDcmdSlot = 31;
inline constexpr std::uint64_t kListAlign = 1024;  ///< bytes

// --- task descriptor, 64-bit word 0 (JESD84-B51 B.2.1) ---
enum Task : std::uint64_t {
  kTaskValid = 1u << 0,
  kTaskEnd = 1u << 1,
  kTaskInt = 1u << 2,
  kTaskActMask = 7u << 3,
  kTaskActTask = 5u << 3,
  kTaskForced = 1u << 6,
  kTaskTag = 1u << 11,
  kTaskRead = 1u << 12,
  kTaskPriority = 1u << 13,
  kTaskQbr = 1u << 14,
  kTaskReliable = 1u << 15,
};
inline constexpr unsigned kTaskContextLsb = 7;   ///< 4 bits
inline constexpr unsigned kTaskBlocksLsb = 16;   ///< 16 bits
inline constexpr unsigned kTaskAddressLsb = 32;  ///< 32 bits
// Direct command: VALID, END, INT, ACT and QBR as above.
inline constexpr unsigned kDcmdIndexLsb = 16;           ///< 6 bits
inline constexpr std::uint64_t kDcmdTiming = 1u << 22;  ///< 1: may be sent while data move
inline constexpr unsigned kDcmdResponseLsb = 23;        ///< 2 bits: 0 none, 2 R1, 3 R1b
inline constexpr unsigned kDcmdArgumentLsb = 32;
// 128-bit task descriptor, word 1: data unit number 31:0, crypto key slot, crypto enable; all else reserved, 0.
inline constexpr unsigned kCryptoSlotLsb = 32;  ///< 8 bits
inline constexpr std::uint64_t kCryptoEnable = std::uint64_t{1} << 47;
inline constexpr std::uint64_t kTaskUpperDefined = 0x0000'80FF'FFFF'FFFF;

inline constexpr std::uint32_t kTask64Bytes = 8, kTask128Bytes = 16;

// --- transfer and link descriptors: attribute bits as in ADMA2, address from byte 4 ---
enum Transfer : std::uint32_t {
  kTransferValid = 1u << 0,
  kTransferEnd = 1u << 1,
  kTransferInt = 1u << 2,
  kTransferActMask = 7u << 3,
  kTransferActNop = 0u << 3,
  kTransferActTran = 4u << 3,
  kTransferActLink = 6u << 3,
};
inline constexpr unsigned kTransferLengthLsb = 16;  ///< 16 bits, 0 = 65536
inline constexpr std::uint32_t kLink32Bytes = 8, kLink64Bytes = 16;
inline constexpr std::uint32_t kTransfer32Bytes = 8, kTransfer64Bytes = 16, kTransfer64ShortBytes = 12;

}  // namespace vp::cqhci
