// Host driver for a DW-MMC (Synopsys DesignWare Mobile Storage Host) with its internal DMA controller (IDMAC), written
// against the public register descriptions alone.
// Does: identification by VERID and HCON (FIFO width, 32 or 64-bit IDMAC, FIFO depth from FIFOTH), clock by UPDATE_CLOCK,
// 1/4/8 lines, SDR, DDR52, HS200 with tuning, HS400; IDMAC in chain mode and PIO with the FIFO's access width; card
// thresholds; CMD23, automatic and explicit CMD12; busy by the busy-clear interrupt or by polling; recovery.
// Does not: more than one slot, SD and SDIO, external DMA, enhanced strobe (this IP has none), boot mode, low-power clock.
//
// A request ends when CMD_DONE, DATA_OVER and the IDMAC's TI/RI (and AUTO_CMD_DONE) have all come, in whatever order.
// Every wait has a limit: registers are polled 500 ms at most; a command has its response timeout, data and busy the
// request's limit, each with 10 ms to spare; then the watchdog reports the registers and ends the command. Registers
// that keep their value are shadowed; recovery writes all of them anew, so a host that was reset behind the driver's
// back works again after one failed command.
#pragma once

#include "firmware/drivers/dwmmc_math.hpp"
#include "firmware/drivers/dwmmc_ring.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

struct DwMmcConfig {
  std::uint64_t base = 0;
  std::uint32_t base_clock_hz = 0;  ///< ciu clock; no register tells it
  std::uint32_t bus_width = 0;      ///< lines the board wires: 1, 4, 8; 0: 8
  bool dma = true;                  ///< false: PIO only
  std::uint32_t fifo_depth = 0;     ///< words; 0: RX_WMARK's reset value + 1
  bool fifo64_32 = false;  ///< a 64-bit FIFO behind a 32-bit bus: two accesses per word, low half first
  bool auto_stop = true;   ///< open-ended transfers: CMD12 by the host
  bool busy_clear = true;  ///< R1b by the busy-clear interrupt where the version has it; false: polled
  bool extended_timeout = false;  ///< TMOUT[10:8] multiply
  std::uint32_t request_timeout_ms = 10'000;
  std::uint32_t tuning_loops = 40;    ///< blocks, at least 16; JESD84-B51 6.6.5.2: at most 40
  std::uint64_t ring_address = 0;     ///< a multiple of 4; below 4 GiB for a 32-bit IDMAC
  std::uint32_t ring_bytes = 0;       ///< one descriptor per 16 (32-bit) or 32 bytes
  std::uint32_t max_seg_bytes = 0;    ///< 0: 4 KiB; see dw_ring_limits
  std::uint64_t scratch_address = 0;  ///< kScratchBytes of DMA memory, for tuning
};

class DwMmc final : public MmcHost {
 public:
  static constexpr std::uint32_t kScratchBytes = 128;  ///< a tuning block at eight lines

  /// Identifies and resets the host. False when it is not there, has no clock, does not come out of reset, or the ring
  /// is out of its reach.
  bool init(const DwMmcConfig& config);

  const HostCaps& capabilities() const override { return caps_; }
  void power_on() override;
  std::uint32_t set_clock(std::uint32_t hz) override;
  void set_bus_width(unsigned bits) override;
  void set_timing(CardMode mode) override;
  bool execute_tuning(std::uint8_t opcode) override;
  void start(MmcCommand& c) override;
  std::uint64_t deadline_ns() const override { return deadline_ns_; }
  void on_deadline() override;
  void abort_active() override;
  void reset_lines() override;
  void irq() override;

  /// What one request may hold.
  DwLimits limits() const;
  bool dma() const { return dma_; }
  bool wide() const { return wide_; }
  std::uint32_t version() const { return version_; }
  std::uint32_t fifo_depth() const { return depth_; }
  std::uint32_t fifo_width_bytes() const { return width_; }
  /// Requests that DMA could not carry and PIO did.
  std::uint32_t pio_fallbacks() const { return pio_fallbacks_; }
  /// Requests refused because the ring has too few descriptors.
  std::uint32_t ring_overflows() const { return ring_overflows_; }

 private:
  enum class Phase : std::uint8_t { idle, sbc, command, stop, busy };
  /// Registers written on change only.
  struct Shadow {
    std::uint32_t ctrl = 0, intmask = 0, tmout = 0, ctype = 0, fifoth = 0, threshold = 0, uhs = 0, ddr = 0,
                  phase = 0, blksiz = 0;
    std::uint32_t power = 0, clock_divider = 0, clock_enable = 0;
  };

  // registers
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  void update(std::uint32_t offset, std::uint32_t value, std::uint32_t& shadow);
  bool reset(std::uint32_t which);
  bool late_registers() const { return version_ >= dw::kVersion240; }

  // set-up and recovery (dwmmc.cpp)
  bool identify();
  bool choose_dma();
  void describe();
  void init_idmac();
  void stop_idmac();
  bool update_clock(bool wait_data);
  void restore();

  // requests (dwmmc_request.cpp)
  bool prepare_data(const MmcData& data);
  bool reachable(const MmcData& data) const;
  bool take_ring(const MmcData& data);
  bool wait_not_busy();
  void issue_main();
  void issue_stop();
  void write_data_registers(const MmcData& data);
  void start_idmac();
  void start_pio(const MmcData& data);
  void write_command(std::uint8_t index, std::uint32_t arg, std::uint32_t flags);
  void expect_within(std::uint64_t ns);
  std::uint64_t limit_ns() const;
  std::uint64_t wire_ns(const MmcData& data) const;
  std::uint32_t who() const;
  std::uint32_t missing() const;
  void finish(MmcError error);
  void fail(MmcError error, std::uint32_t status, std::uint32_t idmac);

  // interrupt side (dwmmc_irq.cpp)
  bool idmac_may_tell(std::uint32_t status) const;
  std::uint32_t take_idmac_status();
  void handle(std::uint32_t status, std::uint32_t idmac);
  bool handle_errors(std::uint32_t status, std::uint32_t idmac);
  bool command_error(std::uint32_t status);
  void command_done(std::uint32_t status);
  void read_response(MmcCommand& c);
  void enter_busy(std::uint32_t status);
  bool line_is_free();
  void poll_busy();
  void check_finished();

  // PIO (dwmmc_pio.cpp)
  std::uint64_t fifo_read();
  void fifo_write(std::uint64_t word);
  std::uint32_t fifo_count() const;
  void pio_service();
  void pio_words(std::uint32_t words);
  void pio_bytes(unsigned char* word, std::uint32_t bytes);

  // tuning (dwmmc_tuning.cpp)
  bool tuning_block_good(std::uint8_t opcode);
  bool tune_fixed(std::uint8_t opcode);
  bool tune_phase(std::uint8_t opcode);
  void set_phase(std::uint32_t point);
  bool point_good(std::uint8_t opcode, std::uint32_t point);

  DwMmcConfig config_;
  HostCaps caps_;
  std::uint32_t version_ = 0, hcon_ = 0, width_ = 4, depth_ = 0;
  std::uint64_t fifo_port_ = 0;
  bool wide_ = false, dma_ = false;
  const dw::IdmacOffsets* idmac_ = &dw::kIdmac32;
  DwRing ring_;
  Shadow shadow_;
  std::uint32_t card_hz_ = 0;
  unsigned lines_ = 1;
  CardMode timing_ = CardMode::legacy;
  bool send_init_ = false, dma_reset_due_ = false, tuning_ = false;

  // the active command
  MmcCommand* active_ = nullptr;
  Phase phase_ = Phase::idle;
  bool command_seen_ = false, data_over_ = false, moved_ = false, stop_seen_ = false;
  bool uses_dma_ = false;
  MmcError deferred_ = MmcError::none;  ///< reported when the data of a read have ended
  std::uint64_t deadline_ns_ = 0;
  std::uint64_t busy_end_ns_ = 0, poll_step_ns_ = 0;
  bool polls_busy_ = false;

  const MmcData* pio_data_ = nullptr;
  std::size_t pio_segment_ = 0;
  unsigned char* pio_at_ = nullptr;
  std::uint32_t pio_run_ = 0;
  std::uint64_t pio_left_ = 0;

  std::uint32_t aborts_ = 0, pio_fallbacks_ = 0, ring_overflows_ = 0;
};

}  // namespace fw
