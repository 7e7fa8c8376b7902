// Tells the span recorder of the guest's block requests. The bare-metal firmware marks its requests itself; the guest's
// driver is not ours, so requests are recognised where they reach the hardware: the write that starts a data command or
// rings a doorbell begins one, the write that acknowledges its completion ends it. What the guest did before the one and
// after the other is its own and not seen here. Reads registers the guest wrote and its task list; changes nothing.
// On DW-MMC the acknowledges of everything the driver waits for end it: DATA_OVER, the IDMAC, and the CMD12 that Linux
// sends after a transfer without CMD23.
#pragma once

#include <array>
#include <cstdint>

#include "models/core/spans.hpp"
#include "platform/linux/virtqueue.hpp"

namespace vp::guest {

class RequestWatch {
 public:
  /// `queue_at`: offset of the queue engine's registers; 0: none. `idmac_status`: DW-MMC, offset of IDSTS; 0: an SDHCI.
  RequestWatch(SpanRecorder& spans, std::uint32_t queue_at, GuestPointer memory,
               std::uint32_t idmac_status = 0)
      : spans_(spans), queue_at_(queue_at), idmac_status_(idmac_status), memory_(std::move(memory)) {}

  /// A register write of the guest, before it takes effect.
  void write(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, sc_time now);

 private:
  void write_sdhci(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, sc_time now);
  void write_dwmmc(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value, sc_time now);
  void dwmmc_command(std::uint32_t command, sc_time now);
  std::uint64_t shadow(std::uint32_t offset, unsigned bytes) const;
  void command(std::uint16_t command, sc_time now);
  void doorbell(std::uint32_t tags, sc_time now);
  std::uint64_t task_word(unsigned tag) const;
  void begin(unsigned tag, bool is_write, std::uint64_t lba, std::uint32_t bytes, sc_time now);
  void end(unsigned tag, sc_time now);

  SpanRecorder& spans_;
  std::uint32_t queue_at_, idmac_status_;
  std::uint32_t dwmmc_waits_ = 0;  // for which acknowledges
  unsigned dwmmc_last_ = 0;        // command index
  GuestPointer memory_;
  std::array<std::uint8_t, 0x300> written_{};
  std::uint64_t open_ = 0;  // by tag
};

}  // namespace vp::guest
