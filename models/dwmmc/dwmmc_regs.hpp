// DW-MMC (Synopsys DesignWare Mobile Storage Host) register maps and IDMAC descriptor layout, as data. No SystemC in
// here: the firmware includes it.
//
// The IDMAC block has two layouts: HCON.ADDR_CONFIG = 1 (64-bit addresses) widens the addresses and moves what follows.
// CARDTHRCTL and what lies above exist from version 2.40a on; before, the FIFO window began at 0x100.
// Sources: the public register pages of SoCs with this IP (Cyclone V, Arria 10, Stratix 10) and what public drivers use.
#pragma once

#include <array>

#include "models/core/register_map.hpp"

namespace vp::dwmmc {

using A = Access;

inline constexpr FieldDef kCtrlFields[] = {
    {"CONTROLLER_RESET", 0, 1, A::RWAC, "resets BIU/CIU state machines; clears itself"},
    {"FIFO_RESET", 1, 1, A::RWAC, "empties the FIFO; clears itself"},
    {"DMA_RESET", 2, 1, A::RWAC, "resets the DMA interface; clears itself"},
    {"INT_ENABLE", 4, 1, A::RW, "global interrupt enable"},
    {"DMA_ENABLE", 5, 1, A::RW, "DMA requests enabled"},
    {"READ_WAIT", 6, 1, A::RW, "SDIO read wait"},
    {"SEND_IRQ_RESPONSE", 7, 1, A::RWAC, "send auto IRQ response (CMD40)"},
    {"ABORT_READ_DATA", 8, 1, A::RWAC, "drop a read suspended by a stop; clears itself"},
    {"SEND_CCSD", 9, 1, A::RWAC, "CE-ATA command completion disable"},
    {"SEND_AUTO_STOP_CCSD", 10, 1, A::RWAC, "CE-ATA auto stop"},
    {"CEATA_INT", 11, 1, A::RW, "CE-ATA device interrupts enabled"},
    {"USE_IDMAC", 25, 1, A::RW, "internal DMA controller moves the data"},
};
inline constexpr FieldDef kPwrenFields[] = {{"POWER_ENABLE", 0, 16, A::RW, "power per slot"}};
inline constexpr FieldDef kClkenaFields[] = {
    {"ENABLE", 0, 16, A::RW, "card clock per slot"},
    {"LOW_POWER", 16, 16, A::RW, "stop the clock while the slot is idle"},
};
inline constexpr FieldDef kTmoutFields[] = {
    {"RESPONSE", 0, 8, A::RW, "response timeout, card clocks"},
    {"DATA", 8, 24, A::RW, "data timeout, card clocks; see data_timeout_clocks()"},
};
inline constexpr FieldDef kCtypeFields[] = {
    {"WIDTH_4", 0, 16, A::RW, "4-bit bus per slot"},
    {"WIDTH_8", 16, 16, A::RW, "8-bit bus per slot; wins over WIDTH_4"},
};
inline constexpr FieldDef kBlksizFields[] = {{"BLOCK_SIZE", 0, 16, A::RW, "bytes per block"}};
inline constexpr FieldDef kCmdFields[] = {
    {"INDEX", 0, 6, A::RW, "command index"},
    {"RESPONSE", 6, 1, A::RW, "a response is expected"},
    {"LONG_RESPONSE", 7, 1, A::RW, "136-bit response"},
    {"CHECK_CRC", 8, 1, A::RW, "check the response CRC7"},
    {"DATA", 9, 1, A::RW, "a data transfer follows"},
    {"WRITE", 10, 1, A::RW, "1 host to card"},
    {"STREAM", 11, 1, A::RW, "stream transfer (MMC before 4.3)"},
    {"AUTO_STOP", 12, 1, A::RW, "send CMD12 after the last block"},
    {"WAIT_DATA", 13, 1, A::RW, "wait for the previous data transfer"},
    {"STOP_ABORT", 14, 1, A::RW, "this command stops or aborts a data transfer"},
    {"SEND_INIT", 15, 1, A::RW, "80 clocks before the command"},
    {"CARD", 16, 5, A::RW, "slot number"},
    {"UPDATE_CLOCK", 21, 1, A::RW, "load the clock registers only; nothing on the bus, no CMD_DONE"},
    {"CEATA_READ", 22, 1, A::RW, "CE-ATA read"},
    {"CCS_EXPECTED", 23, 1, A::RW, "CE-ATA command completion signal expected"},
    {"BOOT_ENABLE", 24, 1, A::RW, "start boot mode"},
    {"BOOT_ACK", 25, 1, A::RW, "boot acknowledge expected"},
    {"BOOT_DISABLE", 26, 1, A::RW, "end boot mode"},
    {"BOOT_MODE", 27, 1, A::RW, "0 mandatory, 1 alternate"},
    {"VOLTAGE_SWITCH", 28, 1, A::RW, "voltage switch (CMD11)"},
    {"USE_HOLD", 29, 1, A::RW, "hold register in the output path"},
    {"START", 31, 1, A::RWAC, "start; hardware clears it when the card interface unit has taken the command"},
};
inline constexpr FieldDef kIntFields[] = {
    {"CARD_DETECT", 0, 1, A::W1C, "card inserted or removed"},
    {"RESPONSE_ERROR", 1, 1, A::W1C, "transmission bit, index or end bit of a response is wrong"},
    {"CMD_DONE", 2, 1, A::W1C, "command done, good or bad"},
    {"DATA_OVER", 3, 1, A::W1C, "data transfer over, good or bad (DTO)"},
    {"TXDR", 4, 1, A::W1C, "FIFO at or below the transmit watermark"},
    {"RXDR", 5, 1, A::W1C, "FIFO above the receive watermark"},
    {"RESPONSE_CRC", 6, 1, A::W1C, "response CRC7"},
    {"DATA_CRC", 7, 1, A::W1C, "data CRC16, or a negative CRC status of a write"},
    {"RESPONSE_TIMEOUT", 8, 1, A::W1C, "no response (RTO)"},
    {"DATA_READ_TIMEOUT", 9, 1, A::W1C, "no read data in time (DRTO)"},
    {"HOST_TIMEOUT", 10, 1, A::W1C, "card clock stopped for the data timeout: FIFO full or empty (HTO)"},
    {"FIFO_RUN", 11, 1, A::W1C, "FIFO overrun or underrun by the host (FRUN)"},
    {"HARDWARE_LOCKED", 12, 1, A::W1C, "register written while a command waits to be taken (HLE)"},
    {"START_BIT", 13, 1, A::W1C, "start bit error (SBE), or busy clear (BCI) with CARDTHRCTL.BUSY_CLEAR"},
    {"AUTO_CMD_DONE", 14, 1, A::W1C, "auto stop sent (ACD)"},
    {"END_BIT", 15, 1, A::W1C, "end bit of read data wrong, or no CRC status of a write (EBE)"},
    {"SDIO", 16, 16, A::W1C, "SDIO interrupt per slot"},
};
inline constexpr FieldDef kIntMaskFields[] = {{"BITS", 0, 32, A::RW, "same positions as RINTSTS"}};
inline constexpr FieldDef kStatusFields[] = {
    {"RX_WATERMARK", 0, 1, A::RO, "FIFO above the receive watermark"},
    {"TX_WATERMARK", 1, 1, A::RO, "FIFO at or below the transmit watermark"},
    {"FIFO_EMPTY", 2, 1, A::RO, "FIFO empty"},
    {"FIFO_FULL", 3, 1, A::RO, "FIFO full"},
    {"COMMAND_FSM", 4, 4, A::RO, "0 idle, 4 send command, 7 receive response, 14 wait"},
    {"DATA_3", 8, 1, A::RO, "level of DAT3: a card is present"},
    {"DATA_BUSY", 9, 1, A::RO, "DAT0 is low"},
    {"MC_BUSY", 10, 1, A::RO, "data transmit or receive state machine busy"},
    {"RESPONSE_INDEX", 11, 6, A::RO, "index of the last response"},
    {"FIFO_COUNT", 17, 13, A::RO, "filled words"},
    {"DMA_ACK", 30, 1, A::RO, "DMA acknowledge"},
    {"DMA_REQ", 31, 1, A::RO, "DMA request"},
};
inline constexpr FieldDef kFifothFields[] = {
    {"TX_WMARK", 0, 12, A::RW, "TXDR and DMA request at or below, words"},
    {"RX_WMARK", 16, 12, A::RW, "RXDR and DMA request above, words"},
    {"MSIZE", 28, 3, A::RW, "beats of one DMA burst: 1, 4, 8, 16, 32, 64, 128, 256"},
};
inline constexpr FieldDef kDebnceFields[] = {{"COUNT", 0, 24, A::RW, "debounce, host clocks"}};
inline constexpr FieldDef kHconFields[] = {
    {"CARD_TYPE", 0, 1, A::HWInit, "0 MMC only, 1 SD and MMC"},
    {"NUM_CARDS", 1, 5, A::HWInit, "slots - 1"},
    {"BUS_TYPE", 6, 1, A::HWInit, "0 APB, 1 AHB"},
    {"DATA_WIDTH", 7, 3, A::HWInit, "H_DATA_WIDTH: 0 16 bit, 1 32 bit, 2 64 bit"},
    {"ADDRESS_WIDTH", 10, 6, A::HWInit, "register address bits - 1"},
    {"DMA_INTERFACE", 16, 2, A::HWInit, "0 IDMAC, 1 DW-DMA, 2 generic, 3 none"},
    {"GE_DMA_WIDTH", 18, 3, A::HWInit, "generic DMA data width"},
    {"FIFO_RAM_INSIDE", 21, 1, A::HWInit, "FIFO RAM inside"},
    {"HOLD_REGISTER", 22, 1, A::HWInit, "hold register implemented"},
    {"FALSE_PATH", 23, 1, A::HWInit, "clock false paths set"},
    {"CLOCK_DIVIDERS", 24, 2, A::HWInit, "dividers - 1"},
    {"AREA_OPTIMISED", 26, 1, A::HWInit, "area optimised"},
    {"ADDR_CONFIG", 27, 1, A::HWInit, "1 64-bit IDMAC: 32-byte descriptors, the other register layout"},
};
inline constexpr FieldDef kUhsFields[] = {
    {"VOLTAGE_1V8", 0, 16, A::RW, "1.8 V signalling per slot"},
    {"DDR", 16, 16, A::RW, "double data rate per slot"},
};
inline constexpr FieldDef kRstFields[] = {{"CARD_RESET_N", 0, 16, A::RW, "per slot, 1: not in reset"}};
inline constexpr FieldDef kBmodFields[] = {
    {"SWR", 0, 1, A::RWAC, "IDMAC reset, clears itself after a clock"},
    {"FB", 1, 1, A::RW, "fixed bursts: SINGLE, INCR4, INCR8, INCR16; 0: INCR of undefined length"},
    {"DSL", 2, 5, A::RW, "descriptor skip length, descriptors, in the dual-buffer structure"},
    {"DE", 7, 1, A::RW, "IDMAC enable"},
    {"PBL", 8, 3, A::RO, "burst length, a mirror of FIFOTH.MSIZE"},
};
inline constexpr FieldDef kIdstsFields[] = {
    {"TI", 0, 1, A::W1C, "transmit descriptor done"},
    {"RI", 1, 1, A::W1C, "receive descriptor done"},
    {"FBE", 2, 1, A::W1C, "fatal bus error"},
    {"DU", 4, 1, A::W1C, "descriptor unavailable: OWN was 0"},
    {"CES", 5, 1, A::W1C, "card error summary"},
    {"NIS", 8, 1, A::W1C, "normal summary: TI or RI, enabled ones"},
    {"AIS", 9, 1, A::W1C, "abnormal summary: FBE, DU or CES, enabled ones"},
    {"EB", 10, 3, A::RO, "bus error: 1 while transmitting, 2 while receiving"},
    {"FSM", 13, 4, A::RO, "see Fsm"},
};
inline constexpr FieldDef kIdintenFields[] = {
    {"TI", 0, 1, A::RW, "transmit interrupt"},  {"RI", 1, 1, A::RW, "receive interrupt"},
    {"FBE", 2, 1, A::RW, "fatal bus error"},    {"DU", 4, 1, A::RW, "descriptor unavailable"},
    {"CES", 5, 1, A::RW, "card error summary"}, {"NI", 8, 1, A::RW, "normal summary"},
    {"AI", 9, 1, A::RW, "abnormal summary"},
};
inline constexpr FieldDef kCardThrFields[] = {
    {"READ_ENABLE", 0, 1, A::RW, "a read block starts only with room for the threshold"},
    {"BUSY_CLEAR", 1, 1, A::RW, "busy clear interrupt enable"},
    {"WRITE_ENABLE", 2, 1, A::RW, "a write block starts only with the threshold in the FIFO (from 2.80a)"},
    {"THRESHOLD", 16, 16, A::RW, "bytes"},
};
inline constexpr FieldDef kUhsExtFields[] = {
    {"VOLTAGE_1V2", 0, 16, A::RW, "1.2 V signalling per slot"},
    {"SAMPLE_PHASE", 16, 7, A::RW,
     "sampling clock phase (a choice: SoCs put it here or in a register of their own)"},
    {"DRIVE_PHASE", 23, 7, A::RW, "driving clock phase"},
    {"CLOCK_MUX", 30, 2, A::RW, "external clock"},
};
inline constexpr FieldDef kEmmcDdrFields[] = {
    {"HALF_START_BIT", 0, 16, A::RW, "start bit shorter than a clock, per slot"},
    {"HS400", 31, 1, A::RW, "HS400 mode"},
};
inline constexpr FieldDef kShiftFields[] = {{"PHASE_SHIFT", 0, 32, A::RW, "phase shift, 2 bits per slot"}};

inline constexpr auto kCommonRegs = std::to_array<RegDef>({
    {"CTRL", 0x000, 4, 0, A::RW, kCtrlFields, "control"},
    {"PWREN", 0x004, 4, 0, A::RW, kPwrenFields, "power enable"},
    {"CLKDIV", 0x008, 4, 0, A::RW, {}, "four dividers of 8 bits: f = ciu clock / 2n, 0 bypass"},
    {"CLKSRC", 0x00C, 4, 0, A::RW, {}, "divider of each slot, 2 bits per slot"},
    {"CLKENA", 0x010, 4, 0, A::RW, kClkenaFields, "clock enable"},
    {"TMOUT", 0x014, 4, 0xFFFFFF40, A::RW, kTmoutFields, "timeouts"},
    {"CTYPE", 0x018, 4, 0, A::RW, kCtypeFields, "bus width"},
    {"BLKSIZ", 0x01C, 4, 0x200, A::RW, kBlksizFields, "block size"},
    {"BYTCNT", 0x020, 4, 0x200, A::RW, {}, "bytes of the transfer, 0: until stopped"},
    {"INTMASK", 0x024, 4, 0, A::RW, kIntMaskFields, "interrupt mask, 1: enabled"},
    {"CMDARG", 0x028, 4, 0, A::RW, {}, "command argument"},
    {"CMD", 0x02C, 4, 0x20000000, A::RW, kCmdFields, "command"},
    {"RESP0", 0x030, 4, 0, A::RO, {}, "response; R2 bits 31:0"},
    {"RESP1", 0x034, 4, 0, A::RO, {}, "R2 bits 63:32; response of the auto stop"},
    {"RESP2", 0x038, 4, 0, A::RO, {}, "R2 bits 95:64"},
    {"RESP3", 0x03C, 4, 0, A::RO, {}, "R2 bits 127:96"},
    {"MINTSTS", 0x040, 4, 0, A::RO, {}, "RINTSTS and INTMASK"},
    {"RINTSTS", 0x044, 4, 0, A::W1C, kIntFields, "raw interrupt status"},
    {"STATUS", 0x048, 4, 0x106, A::RO, kStatusFields, "status"},
    {"FIFOTH", 0x04C, 4, 0x03FF0000, A::RW, kFifothFields, "FIFO thresholds; RX_WMARK resets to depth - 1"},
    {"CDETECT", 0x050, 4, 0, A::RO, {}, "card detect, 0: card present"},
    {"WRTPRT", 0x054, 4, 0, A::RO, {}, "write protect"},
    {"GPIO", 0x058, 4, 0, A::RW, {}, "general purpose lines"},
    {"TCBCNT", 0x05C, 4, 0, A::RO, {}, "bytes moved on the card side"},
    {"TBBCNT", 0x060, 4, 0, A::RO, {}, "bytes moved between host and FIFO"},
    {"DEBNCE", 0x064, 4, 0xFFFFFF, A::RW, kDebnceFields, "debounce"},
    {"USRID", 0x068, 4, 0, A::HWInit, {}, "user id"},
    {"VERID", 0x06C, 4, 0x5342280A, A::HWInit, {}, "version in bits 15:0, 0x280A = 2.80a"},
    {"HCON", 0x070, 4, 0x00C43101, A::HWInit, kHconFields, "hardware configuration"},
    {"UHS_REG", 0x074, 4, 0, A::RW, kUhsFields, "voltage and double data rate"},
    {"RST_N", 0x078, 4, 1, A::RW, kRstFields, "card reset"},
    {"BMOD", 0x080, 4, 0, A::RW, kBmodFields, "bus mode (IDMAC)"},
    {"PLDMND", 0x084, 4, 0, A::WO, {}, "poll demand: resume a suspended IDMAC"},
});
inline constexpr auto kIdmac32Regs = std::to_array<RegDef>({
    {"DBADDR", 0x088, 4, 0, A::RW, {}, "descriptor list, bits 1:0 ignored"},
    {"IDSTS", 0x08C, 4, 0, A::W1C, kIdstsFields, "IDMAC status"},
    {"IDINTEN", 0x090, 4, 0, A::RW, kIdintenFields, "IDMAC interrupt enable"},
    {"DSCADDR", 0x094, 4, 0, A::RO, {}, "descriptor in use"},
    {"BUFADDR", 0x098, 4, 0, A::RO, {}, "data address in use"},
});
inline constexpr auto kIdmac64Regs = std::to_array<RegDef>({
    {"DBADDRL", 0x088, 4, 0, A::RW, {}, "descriptor list 31:0, bits 1:0 ignored"},
    {"DBADDRU", 0x08C, 4, 0, A::RW, {}, "descriptor list 63:32"},
    {"IDSTS64", 0x090, 4, 0, A::W1C, kIdstsFields, "IDMAC status"},
    {"IDINTEN64", 0x094, 4, 0, A::RW, kIdintenFields, "IDMAC interrupt enable"},
    {"DSCADDRL", 0x098, 4, 0, A::RO, {}, "descriptor in use 31:0"},
    {"DSCADDRU", 0x09C, 4, 0, A::RO, {}, "descriptor in use 63:32"},
    {"BUFADDRL", 0x0A0, 4, 0, A::RO, {}, "data address in use 31:0"},
    {"BUFADDRU", 0x0A4, 4, 0, A::RO, {}, "data address in use 63:32"},
});
/// From version 2.40a on; before, the FIFO window is here.
inline constexpr auto kLateRegs = std::to_array<RegDef>({
    {"CARDTHRCTL", 0x100, 4, 0, A::RW, kCardThrFields, "card threshold control"},
    {"BACK_END_POWER", 0x104, 4, 0, A::RW, {}, "back-end power per slot"},
    {"UHS_REG_EXT", 0x108, 4, 0, A::RW, kUhsExtFields, "UHS extension: clock phases"},
    {"EMMC_DDR_REG", 0x10C, 4, 0, A::RW, kEmmcDdrFields, "eMMC DDR control"},
    {"ENABLE_SHIFT", 0x110, 4, 0, A::RW, kShiftFields, "phase shift enable"},
});

template <std::size_t N, std::size_t M>
consteval std::array<RegDef, N + M> join(const std::array<RegDef, N>& a, const std::array<RegDef, M>& b) {
  std::array<RegDef, N + M> all{};
  for (std::size_t i = 0; i < N; ++i) all[i] = a[i];
  for (std::size_t i = 0; i < M; ++i) all[N + i] = b[i];
  return all;
}

inline constexpr auto kRegs32 =
    join(join(kCommonRegs, kIdmac32Regs), kLateRegs);  ///< 32-bit IDMAC, 2.40a and later
inline constexpr auto kRegs64 = join(join(kCommonRegs, kIdmac64Regs), kLateRegs);  ///< 64-bit IDMAC
inline constexpr auto kRegs32Old = join(kCommonRegs, kIdmac32Regs);                ///< before 2.40a

inline constexpr std::uint32_t kVersion240 = 0x240A;  ///< CARDTHRCTL from here; FIFO window at 0x200
inline constexpr std::uint32_t kVersion280 = 0x280A;  ///< write threshold and HS400 from here

constexpr std::uint32_t version_of(std::uint32_t verid) { return verid & 0xFFFF; }
constexpr bool has_address64(std::uint32_t hcon) { return hcon >> 27 & 1; }

/// The map of an instance by its own HCON and VERID. 64-bit addresses came after 2.40a.
constexpr RegisterMap register_map(std::uint32_t hcon, std::uint32_t verid) {
  if (has_address64(hcon)) return kRegs64;
  return version_of(verid) < kVersion240 ? RegisterMap(kRegs32Old) : RegisterMap(kRegs32);
}
/// Where the FIFO window begins; every address from there to the end of the block is the FIFO.
constexpr std::uint32_t data_offset(std::uint32_t verid) {
  return version_of(verid) < kVersion240 ? 0x100 : 0x200;
}
inline constexpr std::uint32_t kWindowBytes = 0x1000;

/// Offsets of the IDMAC registers in one layout.
struct IdmacOffsets {
  std::uint16_t base_low, base_high, status, enable, descriptor_low, descriptor_high, buffer_low, buffer_high;
  bool wide;  ///< *_high exist
};
inline constexpr IdmacOffsets kIdmac32{0x088, 0, 0x08C, 0x090, 0x094, 0, 0x098, 0, false};
inline constexpr IdmacOffsets kIdmac64{0x088, 0x08C, 0x090, 0x094, 0x098, 0x09C, 0x0A0, 0x0A4, true};
constexpr const IdmacOffsets& idmac_offsets(std::uint32_t hcon) {
  return has_address64(hcon) ? kIdmac64 : kIdmac32;
}

/// Offset of a register that is the same in every layout (or exists in `kRegs64` only once).
consteval std::uint16_t reg(std::string_view name) { return find_register(kRegs64, name)->offset; }
/// Mask of a field of such a register.
consteval std::uint32_t mask(std::string_view name, std::string_view field) {
  return static_cast<std::uint32_t>(find_field(*find_register(kRegs64, name), field)->mask());
}
consteval unsigned lsb(std::string_view name, std::string_view field) {
  return find_field(*find_register(kRegs64, name), field)->lsb;
}

/// RINTSTS and INTMASK bits.
enum Int : std::uint32_t {
  kIntCardDetect = 1u << 0,
  kIntResponseError = 1u << 1,
  kIntCommandDone = 1u << 2,
  kIntDataOver = 1u << 3,
  kIntTxdr = 1u << 4,
  kIntRxdr = 1u << 5,
  kIntResponseCrc = 1u << 6,
  kIntDataCrc = 1u << 7,
  kIntResponseTimeout = 1u << 8,
  kIntDataReadTimeout = 1u << 9,
  kIntHostTimeout = 1u << 10,
  kIntFifoRun = 1u << 11,
  kIntHardwareLocked = 1u << 12,
  kIntStartBit = 1u << 13,
  kIntBusyClear = 1u << 13,
  kIntAutoCommandDone = 1u << 14,
  kIntEndBit = 1u << 15,
};
inline constexpr std::uint32_t kIntCommandErrors = kIntResponseError | kIntResponseCrc | kIntResponseTimeout;
inline constexpr std::uint32_t kIntDataErrors =
    kIntDataCrc | kIntDataReadTimeout | kIntHostTimeout | kIntFifoRun | kIntStartBit | kIntEndBit;

/// IDSTS bits; IDINTEN has the same positions (NI at NIS, AI at AIS).
enum IdmacInt : std::uint32_t {
  kIdTransmit = 1u << 0,
  kIdReceive = 1u << 1,
  kIdFatalBusError = 1u << 2,
  kIdUnavailable = 1u << 4,
  kIdCardError = 1u << 5,
  kIdNormal = 1u << 8,
  kIdAbnormal = 1u << 9,
};
inline constexpr unsigned kIdEbShift = 10, kIdFsmShift = 13;
inline constexpr std::uint32_t kIdEbTransmit = 1, kIdEbReceive = 2;  ///< IDSTS.EB
/// IDSTS.FSM.
enum class Fsm : std::uint32_t {
  idle = 0,
  suspend = 1,
  descriptor_read = 2,
  descriptor_check = 3,
  read_request_wait = 4,
  write_request_wait = 5,
  read = 6,
  write = 7,
  descriptor_close = 8,
};

/// Descriptor word 0.
enum Des0 : std::uint32_t {
  kDesOwn = 1u << 31,
  kDesCardError = 1u << 30,
  kDesEndOfRing = 1u << 5,
  kDesChained = 1u << 4,
  kDesFirst = 1u << 3,
  kDesLast = 1u << 2,
  kDesNoInterrupt = 1u << 1,
};
inline constexpr std::uint32_t kDes32Bytes = 16;  ///< DES0, sizes, buffer 1, buffer 2 or next
inline constexpr std::uint32_t kDes64Bytes = 32;  ///< DES0, -, sizes, -, buffer 1 (2), buffer 2 or next (2)
inline constexpr unsigned kDesSize2Shift = 13;    ///< of buffer 2's size in the size word
inline constexpr std::uint32_t kDesSizeMask = 0x1FFF;  ///< 13 bits, 0..8191
inline constexpr std::uint32_t kDesRuleBytes =
    4096;  ///< drivers keep a chained descriptor's data within this

/// Word numbers within a descriptor.
struct DesLayout {
  unsigned words, sizes, buffer1, buffer2;
};
inline constexpr DesLayout kDes32{4, 1, 2, 3};
inline constexpr DesLayout kDes64{8, 2, 4, 6};

/// Beats of a burst by FIFOTH.MSIZE (or BMOD.PBL).
constexpr std::uint32_t msize_beats(std::uint32_t code) { return code == 0 ? 1 : 2u << (code & 7); }
/// FIFO word in bytes by HCON.DATA_WIDTH.
constexpr std::uint32_t data_width_bytes(std::uint32_t hcon) { return 2u << (hcon >> 7 & 7); }

/// Data timeout in card clocks. `extended`: bits 10:8 are a multiplier less one on bits 31:11 (late versions in Exynos and
/// ARTPEC SoCs).
constexpr std::uint64_t data_timeout_clocks(std::uint32_t tmout, bool extended) {
  const std::uint64_t field = tmout >> 8;
  return extended ? ((field & 7) + 1) * (field & ~std::uint64_t{7}) : field;
}

}  // namespace vp::dwmmc
