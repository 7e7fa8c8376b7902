// A DW-MMC for unit tests, from the published register rules: START handshake with HLE, UPDATE_CLOCK, interrupts, FIFO
// with watermarks, an IDMAC that walks chained descriptors in both formats. The card behind it is the board's. Times are
// round numbers, each settable, so that a test can put CMD_DONE, RI and DTO in any order. A rule the driver breaks
// throws, or is counted where real hardware would only be confused.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "firmware/drivers/dwmmc_hw.hpp"
#include "sc_tests/firmware/fake_board.hpp"

namespace fake {

struct DwShape {
  std::uint32_t version = 0x280A;
  unsigned width = 4;  ///< bytes of a FIFO word
  bool wide = false;   ///< 64-bit IDMAC
  bool bus32 = false;  ///< a 64-bit FIFO word takes two 32-bit accesses
  std::uint32_t depth = 64;
  std::uint32_t dma_interface = 0;
};

enum class DwFault {
  none,
  no_response,
  response_crc,
  data_crc,
  data_timeout,
  end_bit,
  start_bit,
  fifo_run,
  host_timeout,
  bus_error,
  lose_done,
  lose_over,
  lose_move,
  lose_all,
  locked,      ///< HLE: the command was not taken
  host_reset,  ///< every register back to its reset value, in the middle of the data
};

class DwMmc final : public Device {
 public:
  explicit DwMmc(Board& board, DwShape shape = {});

  // what a test arranges
  std::function<DwFault(unsigned index, unsigned nth)> fault;  ///< nth command with that index, from 0
  std::uint64_t response_ns = 300, move_ns = 1800,
                over_ns = 2300;  ///< from the command taken, data per 4 KiB
  std::uint64_t switch_busy_ns = 0, write_busy_ns = 0;
  std::uint64_t busy_start_ns = 0;
  bool lose_busy_clear = false;
  bool keep_own = false;     ///< the IDMAC never closes a descriptor
  bool stuck_start = false;  ///< UPDATE_CLOCK is never taken
  bool stuck_reset = false, stuck_dma_request = false;
  std::function<bool(unsigned phase)>
      phase_reads;  ///< with this SAMPLE_PHASE CMD21 reads right; empty: with all

  // what a test reads
  std::vector<Access> log;
  std::vector<Sent> commands;
  std::vector<std::uint32_t> command_words;
  struct Transfer {
    std::uint32_t bytes, fifoth, threshold, tmout;
    bool dma;
    unsigned descriptors;
  };
  std::vector<Transfer> transfers;
  unsigned early_commands = 0;                  ///< written while data of the one before were still coming
  unsigned updates = 0;                         ///< UPDATE_CLOCK
  std::uint32_t divider = 0, clock_enable = 0;  ///< as loaded
  std::uint32_t reg(std::uint32_t offset) const;
  void poke(std::uint32_t offset, std::uint32_t value) { put(offset, value); }
  bool busy() const;
  unsigned count(unsigned index) const;

  std::uint64_t read(std::uint32_t offset, unsigned bytes) override;
  void write(std::uint32_t offset, unsigned bytes, std::uint64_t value) override;
  bool line() const override;
  void advance(std::uint64_t now) override;
  std::uint64_t next() const override;

 private:
  void put(std::uint32_t offset, std::uint32_t value);
  void reset_registers();
  void at(std::uint64_t delay, std::function<void()> what);
  void raise(std::uint32_t bits);
  void idmac_raise(std::uint32_t bits);
  std::uint32_t status() const;
  void control(std::uint32_t value);
  void command_write(std::uint32_t value);
  void begin(std::uint32_t value);
  void respond(std::uint32_t value, DwFault f);
  void long_response();
  void data(std::uint32_t value, DwFault f);
  std::vector<std::uint8_t> source(unsigned index, std::uint32_t arg, std::size_t bytes);
  void dma_run(bool in, DwFault f);
  void over(bool in, DwFault f);
  void begin_busy(std::uint64_t ns, bool clear_interrupt);
  void fill();
  void drain();
  void check_fifo_access(std::uint32_t offset, unsigned bytes) const;

  Board& board_;
  DwShape shape_;
  const vp::dwmmc::IdmacOffsets& idmac_;
  std::uint32_t fifo_offset_;
  std::vector<std::uint32_t> regs_ = std::vector<std::uint32_t>(0x400);
  std::multimap<std::uint64_t, std::function<void()>> events_;
  std::map<unsigned, unsigned> seen_;
  std::uint64_t now_ = 0, busy_from_ = 0, busy_until_ = 0, data_until_ = 0;
  bool start_ = false, data_active_ = false, writing_ = false;
  std::uint64_t pointer_ = 0;  ///< the IDMAC's
  std::vector<std::uint8_t> bytes_;
  std::size_t moved_ = 0, fifo_at_ = 0;  ///< bytes between FIFO and card, between host and FIFO
  std::uint32_t arg_ = 0, data_arg_ = 0, bytcnt_ = 0, blksiz_ = 0, half_ = 0;
  unsigned index_ = 0, last_index_ = 0;
  bool open_ended_ = false;  ///< a transfer that CMD12 may end
  bool pio_started_ = false;
  DwFault fault_ = DwFault::none;
};

}  // namespace fake
