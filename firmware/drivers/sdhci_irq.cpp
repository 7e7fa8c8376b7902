// Interrupt side: status, responses, PIO.
#include <cstring>

#include "firmware/drivers/sdhci.hpp"
#include "firmware/drivers/sdhci_hw.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr unsigned kMaxPasses = 16;
constexpr std::uint32_t kAllOnes = 0xFFFF'FFFF;
}  // namespace

void Sdhci::irq() {
  for (unsigned pass = 0; pass < kMaxPasses; ++pass) {
    const std::uint32_t status = read32(hw::kIntStatus);
    if (status == 0 || status == kAllOnes) return;
    hal::cost(hal::Cost::irq_handler);
    write32(hw::kIntStatus, status);
    cqe_ ? cqe_->cqe_irq(status) : handle(status);
  }
}

void Sdhci::handle(std::uint32_t status) {
  if (tuning_) {
    if (status & hw::kIntBufferReadReady) tuning_ready_ = true;
    return;
  }
  if (beside_) return handle_beside(status);
  handle_active(status);
}

/// A listener may start the next command when this one ends: what is left of `status` is not for that one.
void Sdhci::handle_active(std::uint32_t status) {
  MmcCommand* const c = active_;
  if (!c || ((status >> 16) && handle_errors(status))) return;
  if (status & hw::kIntCommandComplete) command_complete();
  if (active_ == c && (status & (hw::kIntBufferReadReady | hw::kIntBufferWriteReady))) pio_service();
  if (active_ == c && (status & hw::kIntDma) && kind_ == DmaKind::sdma &&
      !(status & hw::kIntTransferComplete))
    sdma_next();
  if (active_ == c && (status & hw::kIntTransferComplete)) transfer_complete();
}

/// Command bits belong to the command beside, all others to the data. The data first: when both ended, the next command
/// with data can follow at once.
void Sdhci::handle_beside(std::uint32_t status) {
  constexpr std::uint32_t kCommandBits = hw::kIntCommandErrors | hw::kIntCommandComplete;
  handle_active(status & ~kCommandBits);
  if (!beside_) return;  // a data error's recovery cannot run here; only a reset forgets the command
  if (status & hw::kIntCommandErrors) {
    const bool timeout = (status & hw::kIntCommandTimeout) && !(status & hw::kIntCommandCrc);
    hal::event(hal::Event::driver_error, beside_->index, status, aborts_);
    finish_beside(timeout ? MmcError::command_timeout : MmcError::command_crc);
  } else if (status & hw::kIntCommandComplete) {
    read_response(*beside_);
    finish_beside(MmcError::none);
  }
}

/// True when the command has ended.
bool Sdhci::handle_errors(std::uint32_t status) {
  MmcError error = MmcError::none;
  if (status & hw::kIntCommandErrors) {
    const bool timeout = (status & hw::kIntCommandTimeout) && !(status & hw::kIntCommandCrc);
    error = timeout ? MmcError::command_timeout : MmcError::command_crc;
  } else if (status & hw::kIntAutoCmd) {
    error = MmcError::auto_command;
  } else if (status & hw::kIntAdma) {
    error = MmcError::adma;
  } else if (status & (hw::kIntDataCrc | hw::kIntDataEndBit)) {
    error = MmcError::data_crc;
  } else if ((status & hw::kIntDataTimeout) && !(status & hw::kIntTransferComplete)) {
    error =
        MmcError::data_timeout;  // with Transfer Complete the transfer wins (SDHCI 4.20 table of priorities)
  }
  if (error == MmcError::none) return false;
  const std::uint32_t extra = (status & hw::kIntAutoCmd) ? read16(hw::kAutoCmdError)
                              : (status & hw::kIntAdma)  ? hal::read8(at(hw::kAdmaError))
                                                         : 0;
  hal::event(hal::Event::driver_error, active_->index, status, aborts_, extra);
  finish(error);
  return true;
}

void Sdhci::read_response(MmcCommand& c) {
  if (c.response == Response::none) return;
  if (c.response != Response::r2) {
    c.resp[0] = read32(hw::kResponse0);
    return;
  }
  std::uint32_t raw[4];
  for (unsigned i = 0; i < 4; ++i) raw[i] = read32(hw::kResponse0 + 4 * i);
  // Card bits 127:8 sit in 119:0 (SDHCI 4.20 2.2.9); the CRC byte is not there and reads as 0.
  for (unsigned i = 0; i < 4; ++i) c.resp[i] = raw[3 - i] << 8 | (i < 3 ? raw[2 - i] >> 24 : 0);
}

void Sdhci::command_complete() {
  if (phase_ == Phase::sbc) return issue_main();
  command_seen_ = true;
  const bool busy = phase_ == Phase::stop ? !active_->data->read : has_busy(active_->response);
  const bool data = phase_ == Phase::command && active_->data;
  if (phase_ == Phase::command) read_response(*active_);
  if (!data && !busy) return finish(MmcError::none);
  if (MmcCommand* const c = active_; data && c->listener) {
    c->listener->command_answered(*c);
    if (active_ != c) return;
  }
  if (data_seen_) data_finished();  // Transfer Complete may be seen first
}

void Sdhci::transfer_complete() {
  if (phase_ == Phase::sbc) return;
  data_seen_ = true;
  if (command_seen_) data_finished();
}

void Sdhci::data_finished() {
  if (phase_ == Phase::command && active_->data) {
    if (kind_ == DmaKind::pio && pio_.blocks_left()) pio_service();
    if (kind_ == DmaKind::pio && pio_.blocks_left()) return finish(MmcError::data_timeout);
    if (active_->stop && !config_.auto_cmd12) return issue_stop();
  }
  finish(MmcError::none);
}

// SDHCI 4.20 3.7.2.1: one whole block per ready bit.
void Sdhci::pio_service() {
  if (!active_->data || kind_ != DmaKind::pio) return;
  const std::uint32_t ready = active_->data->read ? hw::kStateReadReady : hw::kStateWriteReady;
  while (pio_.blocks_left() && (read32(hw::kPresentState) & ready))
    pio_.block(
        *active_->data, [&] { return read32(hw::kBufferPort); },
        [&](std::uint32_t word) { write32(hw::kBufferPort, word); });
}

}  // namespace fw
