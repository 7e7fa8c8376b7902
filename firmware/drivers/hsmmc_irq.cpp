// Interrupt side of the HSMMC driver: status, responses, the DMA's end, PIO.
#include <cstring>

#include "firmware/drivers/hsmmc.hpp"
#include "firmware/drivers/hsmmc_hw.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr unsigned kMaxPasses = 16;
}

void Hsmmc::irq() {
  for (unsigned pass = 0; pass < kMaxPasses; ++pass) {
    const std::uint32_t status = read(hs::kStat) & (interrupts_ | hs::kIntErr);
    if (status == 0) return;
    hal::cost(hal::Cost::irq_handler);
    write(hs::kStat, status);
    handle(status);
  }
}

void Hsmmc::handle(std::uint32_t status) {
  if (active_ && (status & hs::kErrors) && handle_errors(status)) return;
  if (active_ && (status & hs::kIntCc)) command_complete();
  if (active_ && (status & (hs::kIntBrr | hs::kIntBwr))) pio_service();
  if (active_ && (status & hs::kIntTc) && phase_ != Phase::sbc) {
    data_seen_ = true;
    if (command_seen_) data_finished();
  }
}

/// True when the command has ended.
bool Hsmmc::handle_errors(std::uint32_t status) {
  MmcError error = MmcError::none;
  if (status & hs::kIntCto)
    error = MmcError::command_timeout;
  else if (status & hs::kIntCommandErrors)
    error = MmcError::command_crc;
  else if (status & hs::kIntAce)
    error = MmcError::auto_command;
  else if (status & (hs::kIntDcrc | hs::kIntDeb))
    error = MmcError::data_crc;
  else if ((status & hs::kIntDto) && !(status & hs::kIntTc))
    error = MmcError::data_timeout;
  else if (status & hs::kIntBada)
    error = MmcError::adma;
  if (error == MmcError::none) return false;
  const std::uint32_t extra = status & hs::kIntAce ? read(hs::kAc12) : 0;
  hal::event(hal::Event::driver_error, active_->index, status, aborts_, extra);
  finish(error);
  return true;
}

/// R2 comes whole, its CRC byte included; the card layer expects that byte as 0.
void Hsmmc::read_response(MmcCommand& c) {
  if (c.response == Response::none) return;
  if (c.response != Response::r2) {
    c.resp[0] = read(hs::kRsp10);
    return;
  }
  for (unsigned i = 0; i < 4; ++i) c.resp[i] = read(hs::kRsp10 + 4 * (3 - i));
  c.resp[3] &= ~0xFFu;
}

void Hsmmc::command_complete() {
  if (phase_ == Phase::sbc) return issue_main();
  command_seen_ = true;
  const bool busy = phase_ == Phase::stop ? !active_->data->read : has_busy(active_->response);
  const bool data = phase_ == Phase::command && active_->data;
  if (phase_ == Phase::command) read_response(*active_);
  if (!data && !busy) {
    // The stop of a read: TC came before it, the DMA may still be writing memory.
    if (phase_ == Phase::stop && dma_used_ && !dma_.done()) return;
    return finish(MmcError::none);
  }
  if (data_seen_) data_finished();  // TC may be seen first
}

/// TC has come for the phase under way. A data command also waits for the DMA.
void Hsmmc::data_finished() {
  if (phase_ == Phase::command && active_->data) {
    if (!dma_used_ && pio_.blocks_left()) pio_service();
    if (!dma_used_ && pio_.blocks_left()) return finish(MmcError::data_timeout);
    if (active_->stop) return issue_stop();
  }
  if (active_->data && dma_used_ && !dma_.done()) return;
  finish(MmcError::none);
}

void Hsmmc::dma_irq() {
  dma_.irq();
  if (!active_ || !dma_used_ || !dma_.done()) return;
  const bool needs_tc = phase_ != Phase::stop || !active_->data->read;  // a read's CMD12 has no busy
  if (command_seen_ && (data_seen_ || !needs_tc) && !(phase_ == Phase::command && active_->stop))
    finish(MmcError::none);
}

void Hsmmc::dma_error_irq() {
  dma_.error_irq();
  if (!active_ || !dma_used_ || !dma_.failed()) return;
  hal::event(hal::Event::driver_error, active_->index, 0, aborts_, 0);
  finish(MmcError::adma);
}

void Hsmmc::pio_service() {
  if (!active_->data || dma_used_) return;
  const std::uint32_t ready = active_->data->read ? hs::kBre : hs::kBwe;
  while (pio_.blocks_left() && (read(hs::kPstate) & ready))
    pio_.block(
        *active_->data, [&] { return read(hs::kDataPort); },
        [&](std::uint32_t word) { write(hs::kDataPort, word); });
}

}  // namespace fw
