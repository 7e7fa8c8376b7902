#include "firmware/drivers/hsmmc.hpp"

#include "firmware/drivers/hsmmc_hw.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kResetStepNs = 1'000, kResetLimitNs = 100 * kMs;
constexpr std::uint64_t kClockStepNs = 10'000, kClockLimitNs = 150 * kMs;
constexpr std::uint64_t kStreamStepNs = 50'000, kStreamLimitNs = 10 * kMs;  // 80 clocks at 400 kHz are 200 us
constexpr std::uint64_t kInhibitLimitNs = 10 * kMs;
constexpr std::uint64_t kPowerSettleNs = kMs;
constexpr std::uint64_t kSlowestNsPerByte = 1000;
constexpr std::uint32_t kMaxDivider = 1023, kMaxBlocks = 0xFFFF, kLongestDto = 14;
constexpr std::uint32_t kVolt3V3 = 7, kVolt3V0 = 6, kVolt1V8 = 5;
constexpr std::uint32_t kOcr3V3 = 0x0030'0000, kOcr3V0 = 0x0006'0000, kOcr1V8 = 0x0000'0080;
constexpr std::uint32_t kAcenCmd23 = 2;
constexpr std::uint8_t kCmdSetBlockCount = 23, kCmdStop = 12;

std::uint32_t response_flags(Response r) {
  switch (r) {
    case Response::none:
      return 0;
    case Response::r2:
      return 1u << hs::kCmdRspLsb | hs::kCmdCcce;
    case Response::r3:
      return 2u << hs::kCmdRspLsb;
    case Response::r1:
      return 2u << hs::kCmdRspLsb | hs::kCmdCcce | hs::kCmdCice;
    case Response::r1b:
      return 3u << hs::kCmdRspLsb | hs::kCmdCcce | hs::kCmdCice;
    case Response::r1b_unchecked:
      return 3u << hs::kCmdRspLsb;
  }
  return 0;
}
}  // namespace

std::uint32_t Hsmmc::read(std::uint32_t offset) const { return hal::read32(config_.base + offset); }
void Hsmmc::write(std::uint32_t offset, std::uint32_t value) { hal::write32(config_.base + offset, value); }

void Hsmmc::write_interrupts(std::uint32_t enabled) {
  if (enabled == interrupts_) return;
  write(hs::kIe, enabled);
  write(hs::kIse, enabled);
  interrupts_ = enabled;
}

void Hsmmc::write_control(std::uint32_t value) {
  if (value != control_) write(hs::kSysCtl, value);
  control_ = value;
}

bool Hsmmc::reset(std::uint32_t which) {
  write(hs::kSysCtl, control_ | which);
  return poll_until([&] { return (read(hs::kSysCtl) & which) == 0; }, kResetStepNs, kResetLimitNs);
}

bool Hsmmc::init(const HsmmcConfig& config) {
  *this = Hsmmc{};
  config_ = config;
  write(hs::kSysConfig, hs::kSoftReset);
  if (!poll_until([&] { return (read(hs::kSysStatus) & hs::kResetDone) != 0; }, kResetStepNs, kResetLimitNs))
    return false;
  const std::uint32_t capa = read(hs::kCapa);
  caps_.width8 = config_.bus_width == 8;
  caps_.width4 = config_.bus_width != 1;
  caps_.high_speed = capa & hs::kCapaHss;
  caps_.max_clock_hz = config_.base_clock_hz;
  if (capa & hs::kCapaVs33) caps_.ocr |= kOcr3V3;
  if (capa & hs::kCapaVs30) caps_.ocr |= kOcr3V0;
  if (capa & hs::kCapaVs18) caps_.ocr |= kOcr1V8;
  if (config_.use_dma) dma_.init(config_.dma);
  write_interrupts(hs::kIntForDma);
  return true;
}

void Hsmmc::power_on() {
  const std::uint32_t volt = caps_.ocr & kOcr3V3 ? kVolt3V3 : caps_.ocr & kOcr3V0 ? kVolt3V0 : kVolt1V8;
  hctl_ = (hctl_ & (hs::kDtw | hs::kHspe)) | volt << hs::kSdvsLsb;
  write(hs::kHctl, hctl_);
  write(hs::kHctl, hctl_ |= hs::kSdbp);
  hal::delay_ns(kPowerSettleNs);
  stream_due_ = true;
}

// The divider's smallest value that does not exceed the wish; the clock stands still while it changes.
std::uint32_t Hsmmc::set_clock(std::uint32_t hz) {
  const std::uint32_t dto = control_ & hs::kDtoMask;
  write_control(dto | (control_ & hs::kIce));
  clock_hz_ = 0;
  if (hz == 0) return 0;
  std::uint32_t divider = (config_.base_clock_hz + hz - 1) / hz;
  if (divider > kMaxDivider) divider = kMaxDivider;
  write_control(dto | hs::kIce | divider << hs::kClkdLsb);
  if (!poll_until([&] { return (read(hs::kSysCtl) & hs::kIcs) != 0; }, kClockStepNs, kClockLimitNs)) return 0;
  write_control(control_ | hs::kCen);
  clock_hz_ = config_.base_clock_hz / divider;
  if (stream_due_ && !initialisation_stream()) return 0;
  return clock_hz_;
}

// AM335x TRM 18.3.3.1.1: before the first command, 80 clocks with CMD high.
bool Hsmmc::initialisation_stream() {
  stream_due_ = false;
  write_interrupts(0);
  write(hs::kIe, hs::kIntCc);
  write(hs::kCon, con_ | hs::kConInit);
  write(hs::kCmd, 0);
  const bool good =
      poll_until([&] { return (read(hs::kStat) & hs::kIntCc) != 0; }, kStreamStepNs, kStreamLimitNs);
  write(hs::kCon, con_);
  write(hs::kStat, ~0u);
  write_interrupts(hs::kIntForDma);
  return good;
}

void Hsmmc::set_bus_width(unsigned bits) {
  con_ = bits == 8 ? con_ | hs::kConDw8 : con_ & ~hs::kConDw8;
  hctl_ = bits == 4 ? hctl_ | hs::kDtw : hctl_ & ~hs::kDtw;
  write(hs::kCon, con_);
  write(hs::kHctl, hctl_);
}

void Hsmmc::set_timing(CardMode mode) {
  hctl_ = mode == CardMode::legacy ? hctl_ & ~hs::kHspe : hctl_ | hs::kHspe;
  write(hs::kHctl, hctl_);
}

void Hsmmc::reset_lines() {
  reset(hs::kSrc);
  reset(hs::kSrd);
  if (config_.use_dma) dma_.stop();
  write(hs::kStat, ~0u);
  active_ = nullptr;
  phase_ = Phase::idle;
}

// --- issue side ---

bool Hsmmc::wait_not_inhibited(std::uint32_t mask) {
  return poll_until([&] { return (read(hs::kPstate) & mask) == 0; }, 0, kInhibitLimitNs);
}

bool Hsmmc::prepare_data(const MmcData& data) {
  std::uint64_t total = 0;
  for (const Segment& s : data.segments) {
    if ((s.address | s.bytes) & 3 || s.bytes == 0) return false;
    total += s.bytes;
  }
  if (data.blocks == 0 || data.blocks > kMaxBlocks || data.block_bytes % 4 ||
      total != std::uint64_t{data.block_bytes} * data.blocks)
    return false;
  dma_used_ = config_.use_dma && dma_.start(data);
  if (config_.use_dma && !dma_used_) ++pio_fallbacks_;
  pio_.start(data);
  return true;
}

/// DTO counts card clocks, 2^(13 + n).
void Hsmmc::set_data_timeout(std::uint32_t ms) {
  std::uint32_t n = 0;
  const std::uint64_t wanted = std::uint64_t{ms} * (clock_hz_ / 1000);
  while (n < kLongestDto && (std::uint64_t{1} << (13 + n)) < wanted) ++n;
  write_control((control_ & ~hs::kDtoMask) | n << hs::kDtoLsb);
}

void Hsmmc::start(MmcCommand& c) {
  c.done = false;
  c.error = MmcError::none;
  active_ = &c;
  command_seen_ = data_seen_ = auto23_ = dma_used_ = false;
  const std::uint32_t limit =
      c.timeout_ms > config_.request_timeout_ms ? c.timeout_ms : config_.request_timeout_ms;
  deadline_ns_ = hal::now_ns() + std::uint64_t{limit} * 2 * kMs + kMs;
  if (c.data) deadline_ns_ += std::uint64_t{c.data->block_bytes} * c.data->blocks * kSlowestNsPerByte;
  phase_ = Phase::command;
  if (c.data && !prepare_data(*c.data)) return finish(MmcError::bad_request);
  if (c.data || has_busy(c.response)) set_data_timeout(limit);
  if (c.use_sbc && !(auto23_ = config_.auto_cmd23)) {
    if (!wait_not_inhibited(hs::kCmdi | hs::kDati)) return finish(MmcError::line_busy);
    phase_ = Phase::sbc;
    return write_command(kCmdSetBlockCount, c.sbc_arg, response_flags(Response::r1));
  }
  issue_main();
}

void Hsmmc::issue_main() {
  const MmcCommand& c = *active_;
  phase_ = Phase::command;
  const bool uses_dat = c.data || (has_busy(c.response) && c.index != kCmdStop);
  if (!wait_not_inhibited(hs::kCmdi | (uses_dat ? hs::kDati : 0))) return finish(MmcError::line_busy);
  std::uint32_t flags = response_flags(c.response);
  if (c.data) {
    write_interrupts(dma_used_ ? hs::kIntForDma : hs::kIntForPio);
    write(hs::kBlk, c.data->blocks << hs::kBlkCountLsb | c.data->block_bytes);
    if (auto23_) write(hs::kSdmasa, c.sbc_arg);
    flags |= hs::kCmdDp | (c.data->read ? hs::kCmdDdir : 0) | (dma_used_ ? hs::kCmdDe : 0) |
             (auto23_ ? kAcenCmd23 << hs::kCmdAcenLsb : 0);
    if (c.data->blocks > 1 || c.use_sbc || c.stop) flags |= hs::kCmdMsbs | hs::kCmdBce;
  }
  if (c.index == kCmdStop) flags |= hs::kCmdAbort;
  write_command(c.index, c.arg, flags);
}

void Hsmmc::issue_stop() {
  phase_ = Phase::stop;
  command_seen_ = data_seen_ = false;
  if (!wait_not_inhibited(hs::kCmdi)) return finish(MmcError::line_busy);
  write_command(kCmdStop, 0,
                response_flags(active_->data->read ? Response::r1 : Response::r1b) | hs::kCmdAbort);
}

void Hsmmc::write_command(std::uint8_t index, std::uint32_t arg, std::uint32_t flags) {
  write(hs::kArg, arg);
  hal::barrier();
  write(hs::kCmd, std::uint32_t{index} << hs::kCmdIndexLsb | flags);
}

void Hsmmc::finish(MmcError error) {
  if (error != MmcError::none && dma_used_) dma_.stop();
  active_->error = error;
  active_->done = true;
  active_ = nullptr;
  phase_ = Phase::idle;
}

void Hsmmc::abort_active() {
  if (!active_) return;
  const std::uint32_t index = active_->index, status = read(hs::kStat), state = read(hs::kPstate);
  hal::event(hal::Event::driver_error, index, status, ++aborts_, state);
  if (active_) finish(MmcError::software_timeout);  // the reads may have let the interrupt in
}

}  // namespace fw
