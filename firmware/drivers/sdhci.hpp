// SDHCI host driver for a DWC MSHC (SDHCI 4.20), written against the register description alone.
// Does: reset, V3 and V4 modes, clock and power, timings of the DWC eMMC flavour, ADMA2 (8, 12 and 16-byte
// descriptors, split at 128 MiB), SDMA with boundary restart, PIO, Auto CMD23 / Auto CMD12 / software CMD23
// and CMD12, tuning, timeouts, line resets. Interrupt driven throughout; one command with its data at a time, and beside
// its data one command without (SDHCI 4.20 3.7.1.1: only Command Inhibit (CMD) keeps that back).
// Command queueing is cqhci.hpp; here are only the SDHCI registers it needs set (sdhci_cqe.cpp).
// Does not: SD cards, preset values, ADMA3, suspend/resume.
//
// Register economy: HOST_CONTROL1/2, CLOCK, TIMEOUT and the interrupt enables are shadowed and written on
// change only; an ADMA2 read with Auto CMD23 costs one PRESENT_STATE read and eight writes. DMA that cannot
// reach a buffer (SDMA in V3 mode or 8-byte descriptors above 4 GiB) falls back to PIO for that request.
#pragma once

#include "firmware/drivers/pio_cursor.hpp"
#include "firmware/drivers/sdhci_adma.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

enum class DmaKind : std::uint32_t { pio, sdma, adma2 };
enum class V4Policy : std::uint32_t { never, when_capable, always };

struct SdhciConfig {
  std::uint64_t base = 0;
  std::uint32_t base_clock_hz = 0;  ///< 0: from the capabilities; also 0 there: the SoC's clock, undivided
  std::uint32_t bus_width = 0;      ///< lines the board wires: 1, 4, 8; 0: as the capabilities say
  V4Policy v4 = V4Policy::when_capable;
  DmaKind dma = DmaKind::adma2;
  bool auto_cmd23 = true;
  bool auto_cmd12 = true;  ///< for open-ended transfers
  bool split_128m = true;
  std::uint32_t request_timeout_ms = 10'000;  ///< data and busy limit for the TIMEOUT register
  std::uint32_t tuning_loops = 40;            ///< JESD84-B51 6.6.5.2: at most 40; some DWC parts want 128
  std::uint64_t table_address = 0;            ///< descriptor table, 8-byte aligned
  std::uint32_t table_bytes = 0;
};

/// Gets the host's interrupts while command queueing is on.
class CqeHandler {
 public:
  /// `status`: interrupt status, already acknowledged.
  virtual void cqe_irq(std::uint32_t status) = 0;

 protected:
  ~CqeHandler() = default;
};

class Sdhci final : public MmcHost {
 public:
  /// Resets the host and reads what it is. False when the reset does not end or DMA tables are out of reach.
  bool init(const SdhciConfig& config);

  const HostCaps& capabilities() const override { return caps_; }
  void power_on() override;
  std::uint32_t set_clock(std::uint32_t hz) override;
  void set_bus_width(unsigned bits) override;
  void set_timing(CardMode mode) override;
  bool execute_tuning(std::uint8_t opcode) override;
  void start(MmcCommand& c) override;
  std::uint64_t deadline_ns() const override { return deadline_ns_; }
  void abort_active() override;
  void reset_lines() override;
  bool tells_listener() const override { return true; }
  bool can_run_beside() const override { return true; }
  void start_beside(MmcCommand& c) override;
  void irq() override;

  /// Address of the CQHCI registers (vendor area 2); 0 when the host has none.
  std::uint64_t cqe_base() const;
  /// Sets the registers the queue engine shares and gives it the interrupts; no command may be active.
  void cqe_enter(CqeHandler& handler);
  /// Back to one command at a time. The engine must be halted, or the lines reset next.
  void cqe_leave();
  std::uint8_t adma_error() const;

  bool v4() const { return v4_; }
  bool addressing_64() const { return addr64_; }
  AdmaFormat adma_format() const { return format_; }
  DmaKind dma() const { return config_.dma; }
  std::uint32_t pio_fallbacks() const { return pio_fallbacks_; }

 private:
  enum class Phase : std::uint8_t { idle, sbc, command, stop };

  // registers
  std::uint64_t at(std::uint32_t offset) const { return config_.base + offset; }
  std::uint32_t read32(std::uint32_t o) const;
  void write32(std::uint32_t o, std::uint32_t v);
  std::uint16_t read16(std::uint32_t o) const;
  void write16(std::uint32_t o, std::uint32_t v);
  void write8(std::uint32_t o, std::uint32_t v);
  void write_hc1(std::uint32_t v);
  void write_hc2(std::uint32_t v);
  void write_interrupts(std::uint32_t enabled);
  bool reset(std::uint32_t which);

  // set-up (sdhci.cpp)
  void read_capabilities();
  void choose_addressing();
  bool choose_dma();
  bool wait_clock_stable();
  void write_emmc_ctrl(CardMode mode);

  // requests (sdhci_request.cpp)
  bool wait_not_inhibited(std::uint32_t mask);
  bool prepare_data(const MmcData& data);
  DmaKind kind_for(const MmcData& data) const;
  bool auto_cmd23_usable(const MmcCommand& c) const;
  void set_data_timeout(std::uint32_t ms);
  void issue_main();
  void write_data_registers(const MmcData& data);
  void write_dma_address(std::uint64_t address);
  std::uint32_t transfer_mode(const MmcCommand& c);
  void write_command(std::uint8_t index, std::uint32_t arg, std::uint32_t mode, std::uint32_t flags);
  void issue_stop();
  void finish(MmcError error);
  void finish_beside(MmcError error);

  // interrupt side (sdhci_irq.cpp)
  void handle(std::uint32_t status);
  void handle_active(std::uint32_t status);
  bool handle_errors(std::uint32_t status);
  void handle_beside(std::uint32_t status);
  void command_complete();
  void transfer_complete();
  void data_finished();
  void read_response(MmcCommand& c);
  void sdma_next();
  void pio_service();

  // command queueing (sdhci_cqe.cpp)
  void drain_buffer();
  void acknowledge_all();

  // tuning (sdhci_tuning.cpp)
  bool tuning_step(std::uint8_t opcode, std::uint32_t block_bytes);
  bool tuning_loop(std::uint8_t opcode, std::uint32_t block_bytes);

  SdhciConfig config_;
  HostCaps caps_;
  std::uint32_t cap1_ = 0, cap2_ = 0, spec_ = 0, vendor1_ = 0;
  std::uint32_t base_hz_ = 0, tmclk_khz_ = 0;
  bool v4_ = false, addr64_ = false, auto_select_ = false;
  AdmaFormat format_ = AdmaFormat::bits32;
  AdmaTable table_;

  // shadows
  std::uint32_t hc1_ = 0, hc2_ = 0, clock_ = 0, interrupts_ = 0, mode_ = 0;
  std::uint32_t timeout_ = 0;

  // the active command, and the one without data beside it
  MmcCommand* active_ = nullptr;
  MmcCommand* beside_ = nullptr;
  Phase phase_ = Phase::idle;
  bool command_seen_ = false, data_seen_ = false, auto23_ = false;
  std::uint64_t deadline_ns_ = 0;
  DmaKind kind_ = DmaKind::pio;
  std::uint64_t sdma_start_ = 0, sdma_end_ = 0, sdma_next_ = 0;
  PioCursor pio_;

  bool tuning_ = false, tuning_ready_ = false;
  CqeHandler* cqe_ = nullptr;
  std::uint32_t legacy_dma_ = 0;  ///< HOST_CONTROL1.DMA_SELECT without command queueing
  std::uint32_t aborts_ = 0, pio_fallbacks_ = 0;
};

}  // namespace fw
