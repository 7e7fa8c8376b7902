// Issue side: one command with its CMD23, data and CMD12.
#include "firmware/drivers/sdhci.hpp"
#include "firmware/drivers/sdhci_clock.hpp"
#include "firmware/drivers/sdhci_hw.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kInhibitLimitNs = 10 * kMs;  // Linux: ten tries of 1 ms
constexpr std::uint64_t kSlowestNsPerByte = 1000;    // 26 MHz on one line is 308 ns; rounded up
constexpr std::uint32_t kSdmaBoundary = 7;           // 512 KiB
constexpr std::uint64_t kSdmaBoundaryBytes = std::uint64_t{4096} << kSdmaBoundary;
constexpr std::uint32_t kMaxBlocks = 0xFFFF;
constexpr std::uint32_t kAuto12 = 1, kAuto23 = 2, kAutoSelect = 3;
constexpr std::uint8_t kCmdSetBlockCount = 23, kCmdStop = 12;

std::uint32_t response_flags(Response r) {
  switch (r) {
    case Response::none:
      return 0;
    case Response::r2:
      return 1 | hw::kCmdCrc;
    case Response::r3:
      return 2;
    case Response::r1:
      return 2 | hw::kCmdCrc | hw::kCmdIndexCheck;
    case Response::r1b:
      return 3 | hw::kCmdCrc | hw::kCmdIndexCheck;
    case Response::r1b_unchecked:
      return 3;
  }
  return 0;
}
}  // namespace

bool Sdhci::wait_not_inhibited(std::uint32_t mask) {
  return poll_until([&] { return (read32(hw::kPresentState) & mask) == 0; }, 0, kInhibitLimitNs);
}

DmaKind Sdhci::kind_for(const MmcData& data) const {
  if (config_.dma == DmaKind::pio) return DmaKind::pio;
  const bool sdma = config_.dma == DmaKind::sdma;
  if (sdma && data.segments.size() != 1) return DmaKind::pio;
  const bool reach64 = sdma ? v4_ && addr64_ : format_ != AdmaFormat::bits32;
  if (!reach64)
    for (const Segment& s : data.segments)
      if ((s.address + s.bytes - 1) >> 32) return DmaKind::pio;
  return config_.dma;
}

bool Sdhci::prepare_data(const MmcData& data) {
  std::uint64_t total = 0;
  for (const Segment& s : data.segments) {
    if ((s.address | s.bytes) & 3 || s.bytes == 0) return false;
    total += s.bytes;
  }
  if (total != std::uint64_t{data.block_bytes} * data.blocks || data.blocks == 0 || data.blocks > kMaxBlocks)
    return false;
  kind_ = kind_for(data);
  if (kind_ != config_.dma) ++pio_fallbacks_;
  if (kind_ == DmaKind::adma2) {
    const std::uint32_t n = table_.build(data.segments);
    hal::cost(hal::Cost::descriptor, n);
    return n != 0;
  }
  if (kind_ == DmaKind::sdma) {
    sdma_start_ = data.segments[0].address;
    sdma_end_ = sdma_start_ + data.segments[0].bytes;
    sdma_next_ = sdma_start_;
  }
  pio_.start(data);
  return true;
}

// The CMD23 argument of an automatic CMD23 is the 32-bit block count register: upper bits (reliable write,
// tag, packed) cannot be given. In V3 mode with SDMA that register holds the DMA address.
bool Sdhci::auto_cmd23_usable(const MmcCommand& c) const {
  if (!config_.auto_cmd23 || spec_ < hw::kSpec300 || c.sbc_arg >> 16) return false;
  return v4_ || kind_ != DmaKind::sdma;
}

void Sdhci::set_data_timeout(std::uint32_t ms) {
  const std::uint32_t n = timeout_exponent(tmclk_khz_, ms);
  if (n != timeout_) write8(hw::kTimeoutControl, n);
  timeout_ = n;
}

void Sdhci::start(MmcCommand& c) {
  c.done = false;
  c.error = MmcError::none;
  active_ = &c;
  command_seen_ = data_seen_ = auto23_ = false;
  // The host's own timeout comes first (its exponent rounds up to at most twice the limit).
  const std::uint32_t limit =
      c.timeout_ms > config_.request_timeout_ms ? c.timeout_ms : config_.request_timeout_ms;
  deadline_ns_ = hal::now_ns() + std::uint64_t{limit} * 2 * kMs + kMs;
  if (c.data) deadline_ns_ += std::uint64_t{c.data->block_bytes} * c.data->blocks * kSlowestNsPerByte;
  phase_ = Phase::command;
  if (c.data && !prepare_data(*c.data)) return finish(MmcError::bad_request);
  if (c.data || has_busy(c.response)) set_data_timeout(limit);
  if (c.use_sbc && !(auto23_ = auto_cmd23_usable(c))) {
    if (!wait_not_inhibited(hw::kStateCmdInhibit | hw::kStateDatInhibit)) return finish(MmcError::line_busy);
    write_interrupts(kind_ == DmaKind::pio ? hw::kIntForPio : hw::kIntForDma);
    phase_ = Phase::sbc;
    return write_command(kCmdSetBlockCount, c.sbc_arg, 0, response_flags(Response::r1));
  }
  issue_main();
}

void Sdhci::issue_main() {
  const MmcCommand& c = *active_;
  phase_ = Phase::command;
  const bool uses_dat = c.data || (has_busy(c.response) && c.index != kCmdStop);
  if (!wait_not_inhibited(hw::kStateCmdInhibit | (uses_dat ? hw::kStateDatInhibit : 0)))
    return finish(MmcError::line_busy);
  if (c.data) write_data_registers(*c.data);
  write_command(c.index, c.arg, c.data ? transfer_mode(c) : 0,
                response_flags(c.response) | (c.data ? hw::kCmdData : 0));
}

void Sdhci::write_data_registers(const MmcData& data) {
  write_interrupts(kind_ == DmaKind::pio ? hw::kIntForPio : hw::kIntForDma);
  if (kind_ == DmaKind::adma2) write_dma_address(config_.table_address);
  if (kind_ == DmaKind::sdma) write_dma_address(sdma_start_);
  write16(hw::kBlockSize, kSdmaBoundary << hw::kBoundaryLsb | data.block_bytes);
  write16(hw::kBlockCount, data.blocks);
  if (auto23_) write32(hw::kSdmaAddress, active_->sbc_arg);  // Argument 2
}

// SDMA: offset 0x00 in V3 mode, the ADMA address registers in V4 mode, where the last part written restarts
// it.
void Sdhci::write_dma_address(std::uint64_t address) {
  if (kind_ == DmaKind::sdma && !v4_) return write32(hw::kSdmaAddress, static_cast<std::uint32_t>(address));
  write32(hw::kAdmaLow, static_cast<std::uint32_t>(address));
  if (addr64_) write32(hw::kAdmaHigh, static_cast<std::uint32_t>(address >> 32));
}

std::uint32_t Sdhci::transfer_mode(const MmcCommand& c) {
  std::uint32_t mode = hw::kModeCount;
  if (kind_ != DmaKind::pio) mode |= hw::kModeDma;
  if (c.data->read) mode |= hw::kModeRead;
  if (c.data->blocks > 1 || c.use_sbc || c.stop) mode |= hw::kModeMulti;
  if (auto23_) {
    mode |= (auto_select_ ? kAutoSelect : kAuto23) << hw::kModeAutoLsb;
    if (auto_select_) write_hc2(hc2_ | hw::kHc2Cmd23);
  } else if (c.stop && config_.auto_cmd12) {
    mode |= (auto_select_ ? kAutoSelect : kAuto12) << hw::kModeAutoLsb;
    if (auto_select_) write_hc2(hc2_ & ~hw::kHc2Cmd23);
  }
  return mode;
}

void Sdhci::write_command(std::uint8_t index, std::uint32_t arg, std::uint32_t mode, std::uint32_t flags) {
  write32(hw::kArgument, arg);
  // Commands without data leave the mode register alone unless it would ask for an automatic command.
  if ((flags & hw::kCmdData) || mode_ != mode) write16(hw::kTransferMode, mode);
  mode_ = mode;
  hal::barrier();
  write16(hw::kCommand, std::uint32_t{index} << hw::kCmdIndexLsb | flags);
}

void Sdhci::issue_stop() {
  phase_ = Phase::stop;
  command_seen_ = data_seen_ = false;
  if (!wait_not_inhibited(hw::kStateCmdInhibit)) return finish(MmcError::line_busy);
  write_command(kCmdStop, 0, 0, response_flags(active_->data->read ? Response::r1 : Response::r1b));
}

void Sdhci::finish(MmcError error) {
  MmcCommand& c = *active_;
  c.error = error;
  c.done = true;
  active_ = nullptr;
  phase_ = Phase::idle;
  if (c.listener) c.listener->command_ended(c);
}

// Block size, block count and transfer mode belong to the data that may be moving: they stay as they are, which is safe
// while the mode asks for no automatic command.
void Sdhci::start_beside(MmcCommand& c) {
  c.done = false;
  c.error = MmcError::none;
  const bool automatic = (mode_ >> hw::kModeAutoLsb & kAutoSelect) != 0;
  const bool line_taken = beside_ || (active_ && !command_seen_);
  if (line_taken || c.data || has_busy(c.response) || (active_ && automatic)) return MmcHost::start_beside(c);
  beside_ = &c;
  if (!wait_not_inhibited(hw::kStateCmdInhibit)) return finish_beside(MmcError::line_busy);
  write32(hw::kArgument, c.arg);
  if (automatic) write16(hw::kTransferMode, mode_ = 0);
  hal::barrier();
  write16(hw::kCommand, std::uint32_t{c.index} << hw::kCmdIndexLsb | response_flags(c.response));
}

void Sdhci::finish_beside(MmcError error) {
  MmcCommand& c = *beside_;
  c.error = error;
  c.done = true;
  beside_ = nullptr;
  if (c.listener) c.listener->command_ended(c);
}

void Sdhci::abort_active() {
  if (!active_) return;
  const std::uint32_t index = active_->index;
  const std::uint32_t status = read32(hw::kIntStatus);
  const std::uint32_t state = read32(hw::kPresentState);
  const std::uint64_t adma = config_.dma == DmaKind::adma2 ? hal::read8(at(hw::kAdmaError)) : 0;
  hal::event(hal::Event::driver_error, index, status, ++aborts_, adma << 32 | state);
  if (active_) finish(MmcError::software_timeout);  // the reads may have let the interrupt in
}

// 512 KiB boundary: the host stops there and goes on when the next address is written (SDHCI 4.20 2.2.1).
void Sdhci::sdma_next() {
  sdma_next_ = (sdma_next_ & ~(kSdmaBoundaryBytes - 1)) + kSdmaBoundaryBytes;
  if (sdma_next_ < sdma_end_) write_dma_address(sdma_next_);
}

}  // namespace fw
