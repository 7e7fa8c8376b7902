// Interrupt side: status, responses, busy.
#include "firmware/drivers/dwmmc.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kBusyStartClocks =
    2;  // JESD84-B51 6.15: busy begins at most two clocks after the response
constexpr std::uint64_t kFirstPollNs = 32'000, kLastPollNs = 32'768'000;  // Linux: doubling from 32 us
}  // namespace

// One pass, as Linux does: what comes meanwhile keeps the line up.
void DwMmc::irq() {
  const std::uint32_t status = read(dw::kMintsts);
  if (status == dw::kAll) return;
  hal::cost(hal::Cost::irq_handler);
  if (status) write(dw::kRintsts, status);
  const std::uint32_t idmac = idmac_may_tell(status) ? take_idmac_status() : 0;
  if (active_) handle(status, idmac);
}

/// While data move by IDMAC, and when the line is up for nothing else.
bool DwMmc::idmac_may_tell(std::uint32_t status) const {
  return dma_ && (status == 0 || (phase_ == Phase::command && uses_dma_));
}

std::uint32_t DwMmc::take_idmac_status() {
  const std::uint32_t status = read(idmac_->status) & dw::kIdmacForDriver;
  const std::uint32_t causes = status & ~(dw::kIdNormal | dw::kIdAbnormal);
  if (!causes) return 0;
  write(idmac_->status, causes);  // first the causes, then the summaries that follow from them
  write(idmac_->status, dw::kIdNormal | dw::kIdAbnormal);
  return causes;
}

void DwMmc::handle(std::uint32_t status, std::uint32_t idmac) {
  if (idmac & (dw::kIdTransmit | dw::kIdReceive)) moved_ = true;
  if (phase_ == Phase::command && (status & dw::kIntDataOver)) data_over_ = true;
  if (phase_ == Phase::command && (status & dw::kIntAutoCommandDone)) stop_seen_ = true;
  if (handle_errors(status, idmac)) return;
  if (phase_ == Phase::busy) {
    if (!polls_busy_ && (status & dw::kIntBusyClear)) finish(MmcError::none);
    return;
  }
  if (status & dw::kIntCommandDone) command_done(status);
  if (!active_ || phase_ != Phase::command || !active_->data) return;
  if (pio_data_ && (status & (dw::kIntRxdr | dw::kIntTxdr | dw::kIntDataOver))) pio_service();
  check_finished();
}

/// True when the command has ended.
bool DwMmc::handle_errors(std::uint32_t status, std::uint32_t idmac) {
  if (status & dw::kIntHardwareLocked) return fail(MmcError::line_busy, status, idmac), true;
  if ((status & dw::kIntCommandErrors) && command_error(status)) return true;
  if (phase_ != Phase::command || !active_->data) return false;
  MmcError error = MmcError::none;
  if (status & (dw::kIntDataCrc | dw::kIntEndBit | dw::kIntStartBit))
    error = MmcError::data_crc;
  else if (status & dw::kIntDataReadTimeout)
    error = MmcError::data_timeout;
  else if ((status & (dw::kIntFifoRun | dw::kIntHostTimeout)) || (idmac & dw::kIdFatalBusError) ||
           ((idmac & dw::kIdUnavailable) && !moved_))
    error = MmcError::adma;
  if (error == MmcError::none) return false;
  fail(deferred_ != MmcError::none ? deferred_ : error, status, idmac);
  return true;
}

/// After a bad response the data of a read come all the same (a late bit is no refusal). They are let in: a command
/// written before their end leaves the host confused, as tuning of some cards showed on RK3288.
bool DwMmc::command_error(std::uint32_t status) {
  const bool timeout = (status & dw::kIntResponseTimeout) != 0;
  MmcError error = timeout ? MmcError::command_timeout : MmcError::command_crc;
  if (phase_ == Phase::command && command_seen_ && active_->data) error = MmcError::auto_command;
  const bool data_follow = phase_ == Phase::command && !command_seen_ && active_->data && active_->data->read;
  if (timeout || !data_follow) return fail(error, status, 0), true;
  deferred_ = error;
  return false;
}

void DwMmc::read_response(MmcCommand& c) {
  if (c.response == Response::none) return;
  if (c.response != Response::r2) {
    c.resp[0] = read(dw::kResp0);
    return;
  }
  for (std::uint32_t i = 0; i < 4; ++i) c.resp[i] = read(dw::kResp0 + 4 * (3 - i));
}

void DwMmc::command_done(std::uint32_t status) {
  if (phase_ == Phase::sbc) return issue_main();
  if (phase_ == Phase::stop) return active_->data->read ? finish(MmcError::none) : enter_busy(status);
  command_seen_ = true;
  read_response(*active_);
  if (active_->data) return expect_within(limit_ns() + wire_ns(*active_->data));
  has_busy(active_->response) ? enter_busy(status) : finish(MmcError::none);
}

/// True when DAT0 is high and busy can no longer begin.
bool DwMmc::line_is_free() {
  if (read(dw::kStatus) & dw::kStatusBusy) return false;
  if (card_hz_) hal::delay_ns(kBusyStartClocks * kSecond / card_hz_ + 1);
  return (read(dw::kStatus) & dw::kStatusBusy) == 0;
}

void DwMmc::enter_busy(std::uint32_t status) {
  phase_ = Phase::busy;
  polls_busy_ = !(shadow_.threshold & dw::kThrBusyClear);
  expect_within(limit_ns());
  if (polls_busy_) {  // from the waiting side, not from here: a handler must not wait for a card
    busy_end_ns_ = deadline_ns_;
    poll_step_ns_ = kFirstPollNs;
    deadline_ns_ = hal::now_ns();
    return;
  }
  if (!(status & dw::kIntBusyClear)) {
    if (!line_is_free()) return;
    write(dw::kRintsts, dw::kIntBusyClear);  // it may have come since; the bit means something else for data
  }
  if (active_) finish(MmcError::none);
}

// Busy by polling, and the last look before the watchdog when the interrupt never came.
void DwMmc::poll_busy() {
  const bool free = line_is_free();
  if (!active_) return;
  if (free) return finish(MmcError::none);
  const std::uint64_t now = hal::now_ns();
  if (!polls_busy_ || now >= busy_end_ns_) return abort_active();
  deadline_ns_ = now + poll_step_ns_;
  if (poll_step_ns_ < kLastPollNs) poll_step_ns_ *= 2;
}

void DwMmc::check_finished() {
  if (!data_over_) return;
  if (deferred_ != MmcError::none) return fail(deferred_, dw::kIntResponseCrc, 0);
  if (!command_seen_ || (uses_dma_ && !moved_)) return;
  if (!uses_dma_ && pio_left_) return fail(MmcError::data_timeout, dw::kIntDataOver, 0);
  if (active_->stop) {
    if (!config_.auto_stop) return issue_stop();
    if (!stop_seen_) return;
  }
  finish(MmcError::none);
}

}  // namespace fw
