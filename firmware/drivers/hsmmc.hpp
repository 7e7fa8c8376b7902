// Driver of the OMAP-HSMMC-like host (models/hsmmc) with the system DMA, after the register description and the
// habits of Linux's omap_hsmmc: the DMA channel is armed before the command, CMD12 is sent by software, and a data
// command has ended when TC and the DMA's end have both come, in either order. Interrupt driven, one command at a time.
// Does: reset, clock and power, initialisation stream, PIO and DMA (linked sets or linked list), Auto CMD23, software CMD23
// and CMD12, data timeout, line resets, limits in time for every wait. Does not: tuning, DDR, Auto CMD12 (Linux neither).
#pragma once

#include "firmware/drivers/hsmmc_dma.hpp"
#include "firmware/drivers/pio_cursor.hpp"
#include "firmware/mmc/host.hpp"
#include "models/hsmmc/hsmmc_regs.hpp"

namespace fw {

struct HsmmcConfig {
  std::uint64_t base = 0;
  std::uint32_t base_clock_hz = 96'000'000;  ///< functional clock: no register tells it
  std::uint32_t bus_width = 4;               ///< lines the board wires: 1, 4, 8
  bool use_dma = true;
  bool auto_cmd23 = true;
  std::uint32_t request_timeout_ms = 10'000;
  HsmmcDmaConfig dma;
};

class Hsmmc final : public MmcHost {
 public:
  static constexpr std::uint32_t kDataPort = vp::hsmmc::kData;
  /// False when the reset does not end.
  bool init(const HsmmcConfig& config);

  const HostCaps& capabilities() const override { return caps_; }
  void power_on() override;
  std::uint32_t set_clock(std::uint32_t hz) override;
  void set_bus_width(unsigned bits) override;
  void set_timing(CardMode mode) override;
  bool execute_tuning(std::uint8_t) override { return false; }
  void start(MmcCommand& c) override;
  std::uint64_t deadline_ns() const override { return deadline_ns_; }
  void abort_active() override;
  void reset_lines() override;
  void irq() override;
  /// The DMA's two interrupt lines.
  void dma_irq();
  void dma_error_irq();

  const HsmmcDma& dma() const { return dma_; }
  std::uint32_t pio_fallbacks() const { return pio_fallbacks_; }

 private:
  enum class Phase : std::uint8_t { idle, sbc, command, stop };

  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  void write_interrupts(std::uint32_t enabled);
  void write_control(std::uint32_t value);
  bool reset(std::uint32_t which);
  bool wait_not_inhibited(std::uint32_t mask);
  bool initialisation_stream();

  bool prepare_data(const MmcData& data);
  void set_data_timeout(std::uint32_t ms);
  void issue_main();
  void issue_stop();
  void write_command(std::uint8_t index, std::uint32_t arg, std::uint32_t flags);
  void finish(MmcError error);

  void handle(std::uint32_t status);
  bool handle_errors(std::uint32_t status);
  void command_complete();
  void data_finished();
  void read_response(MmcCommand& c);
  void pio_service();

  HsmmcConfig config_;
  HostCaps caps_;
  HsmmcDma dma_;
  std::uint32_t control_ = 0, hctl_ = 0, con_ = 0, interrupts_ = 0;  // shadows of SYSCTL, HCTL, CON, IE
  std::uint32_t clock_hz_ = 0;
  bool stream_due_ = false;

  MmcCommand* active_ = nullptr;
  Phase phase_ = Phase::idle;
  bool command_seen_ = false, data_seen_ = false, dma_used_ = false, auto23_ = false;
  std::uint64_t deadline_ns_ = 0;
  PioCursor pio_;
  std::uint32_t aborts_ = 0, pio_fallbacks_ = 0;
};

}  // namespace fw
