// Issue side: one command with its CMD23, data and CMD12.
#include "firmware/drivers/dwmmc.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kUs = 1000, kMs = 1'000'000, kSecond = 1'000'000'000;
constexpr std::uint64_t kBusyStepNs = 10 * kUs,
                        kBusyLimitNs = 500 * kMs;                        // what Linux allows before a command
constexpr std::uint64_t kOwnStepNs = 10 * kUs, kOwnLimitNs = 100 * kMs;  // and for a descriptor to come back
constexpr std::uint64_t kSpareNs = 10 * kMs;  // and beyond the hardware's own timeouts
constexpr std::uint32_t kLeastDmaBytes = 16;  // below, PIO is quicker
constexpr std::uint32_t kMaxBlockBytes = 0xFFFF;
// Card clocks of a command that ends without a response: 80 of SEND_INIT, 48, and the 255 of TMOUT.
constexpr std::uint64_t kCommandClocks = 80 + 48 + 0xFF;
constexpr std::uint32_t kSlowestHz = 100'000;  // when the clock is not known
constexpr std::uint8_t kCmdGoIdle = 0, kCmdSetBlockCount = 23, kCmdStop = 12;

std::uint32_t response_flags(Response r) {
  switch (r) {
    case Response::none:
      return 0;
    case Response::r2:
      return dw::kCmdResponse | dw::kCmdLong | dw::kCmdCheckCrc;
    case Response::r3:
    case Response::r1b_unchecked:
      return dw::kCmdResponse;
    case Response::r1:
    case Response::r1b:
      return dw::kCmdResponse | dw::kCmdCheckCrc;
  }
  return 0;
}
}  // namespace

bool DwMmc::wait_not_busy() {
  return poll_until([&] { return (read(dw::kStatus) & dw::kStatusBusy) == 0; }, kBusyStepNs, kBusyLimitNs);
}

void DwMmc::expect_within(std::uint64_t ns) { deadline_ns_ = hal::now_ns() + ns + kSpareNs; }

std::uint64_t DwMmc::limit_ns() const {
  const std::uint32_t ms = active_->timeout_ms;
  return std::uint64_t{ms > config_.request_timeout_ms ? ms : config_.request_timeout_ms} * kMs;
}

/// Twice the time the bytes take on the wire in single data rate: the device may pause between blocks.
std::uint64_t DwMmc::wire_ns(const MmcData& data) const {
  constexpr std::uint32_t kHzPerKhz = 1000;
  const std::uint64_t clocks = std::uint64_t{data.block_bytes} * data.blocks * 8 / lines_;
  return 2 * clocks * kMs / ((card_hz_ ? card_hz_ : kSlowestHz) / kHzPerKhz);
}

/// True when the IDMAC may carry the data: not too small, whole words, addresses it can form.
bool DwMmc::reachable(const MmcData& data) const {
  if (!dma_ || data.block_bytes % 4 || std::uint64_t{data.block_bytes} * data.blocks < kLeastDmaBytes)
    return false;
  const std::uint32_t words = width_ > 4 ? width_ : 4;  // lengths are whole FIFO words
  for (const Segment& s : data.segments) {
    if (s.address % 4 || s.bytes % words) return false;
    if (!wide_ && (s.address + s.bytes - 1) >> 32) return false;
  }
  return true;
}

/// Writes the descriptors. False when the IDMAC has not given one back in time: the ring is made anew, PIO takes over.
bool DwMmc::take_ring(const MmcData& data) {
  const auto n = static_cast<std::uint32_t>(DwRing::needed(data.segments));
  if (poll_until([&] { return ring_.is_free(n); }, kOwnStepNs, kOwnLimitNs)) {
    hal::cost(hal::Cost::descriptor, ring_.build(data.segments));
    return true;
  }
  hal::event(hal::Event::driver_error, active_->index, read(idmac_->status), aborts_, read(dw::kStatus));
  stop_idmac();
  init_idmac();
  return false;
}

bool DwMmc::prepare_data(const MmcData& data) {
  std::uint64_t total = 0;
  for (const Segment& s : data.segments) {
    if ((s.address | s.bytes) & 3 || s.bytes == 0) return false;
    total += s.bytes;
  }
  const std::uint64_t asked = std::uint64_t{data.block_bytes} * data.blocks;
  if (total != asked || total == 0 || total >> 32 || data.block_bytes > kMaxBlockBytes) return false;
  uses_dma_ = reachable(data);
  if (uses_dma_ && DwRing::needed(data.segments) > ring_.entries()) {
    // More descriptors than the ring holds: writing on would overrun ones that are in use.
    hal::event(hal::Event::driver_refusal, active_->index, DwRing::needed(data.segments), ring_.entries());
    hal::event(hal::Event::driver_error, active_->index, DwRing::needed(data.segments), ++ring_overflows_,
               ring_.entries());
    return false;
  }
  if (uses_dma_) uses_dma_ = take_ring(data);
  if (!uses_dma_ && dma_) ++pio_fallbacks_;
  return true;
}

void DwMmc::start(MmcCommand& c) {
  c.done = false;
  c.error = MmcError::none;
  active_ = &c;
  phase_ = Phase::command;
  command_seen_ = data_over_ = moved_ = stop_seen_ = uses_dma_ = polls_busy_ = false;
  deferred_ = MmcError::none;
  pio_data_ = nullptr;
  expect_within(limit_ns());
  if (c.data && !prepare_data(*c.data)) return finish(MmcError::bad_request);
  if (!c.use_sbc) return issue_main();
  phase_ = Phase::sbc;  // no data: the card's busy is looked at before the command that has them
  write_command(kCmdSetBlockCount, c.sbc_arg, response_flags(Response::r1));
}

void DwMmc::issue_main() {
  const MmcCommand& c = *active_;
  phase_ = Phase::command;
  std::uint32_t flags = response_flags(c.response);
  if (c.data) {
    if (!wait_not_busy()) return finish(MmcError::line_busy);
    write_data_registers(*c.data);
    flags |= dw::kCmdData | dw::kCmdWaitData | (c.data->read ? 0 : dw::kCmdWrite);
    if (c.stop && config_.auto_stop) flags |= dw::kCmdAutoStop;
  } else if (has_busy(c.response) && config_.busy_clear && late_registers()) {
    update(dw::kCardthrctl, dw::kThrBusyClear, shadow_.threshold);
  }
  if (c.index == kCmdStop || c.index == kCmdGoIdle) flags |= dw::kCmdStopAbort;
  write_command(c.index, c.arg, flags);
}

void DwMmc::write_data_registers(const MmcData& data) {
  update(dw::kTmout, dw_timeout(limit_ns(), card_hz_, config_.extended_timeout), shadow_.tmout);
  write(dw::kBytcnt, data.block_bytes * data.blocks);
  update(dw::kBlksiz, data.block_bytes, shadow_.blksiz);
  if (late_registers()) {
    const bool fast = timing_ >= CardMode::hs200, hs400 = timing_ >= CardMode::hs400;
    update(dw::kCardthrctl,
           dw_card_threshold(version_, fast, hs400, data.read, data.block_bytes, depth_ * width_),
           shadow_.threshold);
  }
  uses_dma_ ? start_idmac() : start_pio(data);
}

// All before the command: the IDMAC fetches when the command starts, or at once on the poll demand (descriptors are
// owned already). SWR takes its pointer back to DBADDR.
void DwMmc::start_idmac() {
  const MmcData& data = *active_->data;
  update(dw::kFifoth, dw_thresholds(depth_, width_, data.block_bytes).value(), shadow_.fifoth);
  update(dw::kIntmask, dw::kIntForDma, shadow_.intmask);
  if (dma_reset_due_) reset(dw::kCtrlDmaReset);
  dma_reset_due_ = false;
  write(dw::kBmod, dw::kBmodReset);
  update(dw::kCtrl, dw::kCtrlIntEnable | dw::kCtrlDmaEnable | dw::kCtrlUseIdmac, shadow_.ctrl);
  hal::barrier();
  write(dw::kBmod, dw::kBmodEnable | dw::kBmodFixed);
  write(dw::kPldmnd, 1);
}

void DwMmc::start_pio(const MmcData& data) {
  update(dw::kFifoth, dw_default_thresholds(depth_).value(), shadow_.fifoth);
  update(dw::kCtrl, dw::kCtrlIntEnable, shadow_.ctrl);
  dma_reset_due_ = dma_;
  pio_segment_ = 0;
  pio_run_ = 0;
  pio_left_ = std::uint64_t{data.block_bytes} * data.blocks;
  write(dw::kRintsts, dw::kIntRxdr | dw::kIntTxdr);  // what older transfers left
  pio_data_ = &data;
  update(dw::kIntmask, dw::kIntForDma | (data.read ? dw::kIntRxdr : dw::kIntTxdr), shadow_.intmask);
}

// START is not waited for: the host takes the command when the data line lets it, and CMD_DONE tells.
void DwMmc::write_command(std::uint8_t index, std::uint32_t arg, std::uint32_t flags) {
  if (send_init_) flags |= dw::kCmdSendInit;
  send_init_ = false;
  expect_within(kCommandClocks * kSecond / (card_hz_ ? card_hz_ : kSlowestHz));
  write(dw::kCmdarg, arg);
  hal::barrier();
  write(dw::kCmd, dw::kCmdStart | dw::kCmdUseHold | flags | index);
}

void DwMmc::issue_stop() {
  const bool read_data = active_->data->read;
  phase_ = Phase::stop;
  if (!read_data && config_.busy_clear && late_registers())
    update(dw::kCardthrctl, dw::kThrBusyClear, shadow_.threshold);
  write_command(kCmdStop, 0, response_flags(read_data ? Response::r1 : Response::r1b) | dw::kCmdStopAbort);
}

/// For reports: the command on the line, and above it the phase of the request (1 CMD23, 2 command, 3 CMD12, 4 busy).
std::uint32_t DwMmc::who() const {
  const std::uint32_t index = phase_ == Phase::sbc    ? kCmdSetBlockCount
                              : phase_ == Phase::stop ? kCmdStop
                                                      : active_->index;
  return index | static_cast<std::uint32_t>(phase_) << 8;
}

void DwMmc::finish(MmcError error) {
  active_->error = error;
  active_->done = true;
  active_ = nullptr;
  phase_ = Phase::idle;
  if (pio_data_)
    update(dw::kIntmask, dw::kIntForDma, shadow_.intmask);  // a request nobody answers keeps the line up
  pio_data_ = nullptr;
}

void DwMmc::fail(MmcError error, std::uint32_t status, std::uint32_t idmac) {
  if (!tuning_)
    hal::event(hal::Event::driver_error, who(), status, aborts_, idmac);  // bad phases are no errors
  finish(error);
}

/// What the request on the line still waits for.
std::uint32_t DwMmc::missing() const {
  if (phase_ == Phase::busy) return hal::kWaitsBusy;
  const bool data = phase_ == Phase::command && active_->data;
  return (phase_ != Phase::command || !command_seen_ ? hal::kWaitsResponse : 0) |
         (data && !data_over_ ? hal::kWaitsData : 0) | (data && uses_dma_ && !moved_ ? hal::kWaitsDma : 0);
}

// Who waits for what: the command, its phase, and every status register of the host.
void DwMmc::abort_active() {
  if (!active_) return;
  const std::uint32_t id = who(), raw = read(dw::kRintsts), status = read(dw::kStatus);
  const std::uint64_t idmac = dma_ ? read(idmac_->status) : 0;
  hal::event(hal::Event::driver_wait, id, std::uint64_t{raw} << 32 | missing(), idmac, status);
  hal::event(hal::Event::driver_error, id, raw, ++aborts_, idmac << 32 | status);
  if (active_) finish(MmcError::software_timeout);  // the reads may have let the interrupt in
}

void DwMmc::on_deadline() {
  if (!active_ || hal::now_ns() < deadline_ns_) return;
  phase_ == Phase::busy ? poll_busy() : abort_active();
}

}  // namespace fw
