// A HAL for unit tests: RAM as a vector, time that moves with each access, and a board behind the register
// addresses with an SDHCI-like register file and an eMMC that answers at once. It knows the registers'
// published meaning, no timing. Everything the firmware did is in a log.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "firmware/app/job_table.hpp"
#include "firmware/hal/hal.hpp"
#include "sc_tests/firmware/fake_cqe.hpp"
#include "sc_tests/firmware/fake_swq.hpp"

namespace fake {

inline constexpr std::uint64_t kRamBase = 0x4000'0000, kHostBase = 0x1000'0000, kIntcBase = 0x2000'0000;
inline constexpr unsigned kHostLine = 5;
inline constexpr std::uint32_t kV3Caps = 0x226D'C881;    // RK3588: no 64-bit bits
inline constexpr std::uint32_t kFullCaps = 0x3E6D'C881;  // both 64-bit bits and 1.8 V

struct Access {
  bool write;
  std::uint32_t offset;
  std::uint64_t value;
};
struct Sent {
  unsigned index;
  std::uint32_t arg;
  std::uint32_t clock_control, hc1, hc2;
  bool in_handler = false;  ///< sent by the interrupt handler
};
struct Mark {
  hal::Event what;
  std::uint32_t id;
  std::uint64_t a, b, c, at_ns;
};

/// Another host in the SDHCI's place: it has time of its own.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::uint64_t read(std::uint32_t offset, unsigned bytes) = 0;
  virtual void write(std::uint32_t offset, unsigned bytes, std::uint64_t value) = 0;
  virtual bool line() const = 0;
  /// Does all that is due by `now`.
  virtual void advance(std::uint64_t now) = 0;
  /// The next instant anything is due; all ones: never.
  virtual std::uint64_t next() const = 0;
};

class Board {
 public:
  explicit Board(std::uint32_t caps1 = kFullCaps, std::size_t ram_bytes = 64u << 20);
  ~Board();
  static Board& active();

  // what a test arranges
  std::array<std::uint8_t, 512> ext_csd{};
  std::function<bool(unsigned index, std::uint32_t arg)> no_answer;  ///< true: the card stays silent
  std::function<bool(unsigned index, std::uint32_t arg)>
      data_crc_fault;  ///< true: the data of this command fails
  std::function<bool(unsigned index, unsigned value)> refuse_switch;  ///< true: SWITCH_ERROR
  std::function<bool(unsigned index)> lost;  ///< true: the host raises no interrupt at all
  Cqe cqe{*this};                            ///< absent unless switched on
  Device* device = nullptr;                  ///< takes the SDHCI's addresses and interrupt line
  Swq swq{*this};                            ///< likewise: the card's queue for a driver without an engine
  bool tuning_works = true;
  unsigned busy_polls = 0;  ///< CMD13 after a write says prg so many times
  unsigned tuning_blocks = 3;
  unsigned left_over = 0;     ///< words in the data port; see leave_stale()
  unsigned broken_width = 0;  ///< bits: EXT_CSD reads come back wrong at this width

  // what a test reads
  std::vector<Access> log;  ///< host registers only
  std::vector<Sent> commands;
  std::vector<Mark> marks;
  std::array<std::uint64_t, static_cast<std::size_t>(hal::Cost::count)> costs{};
  std::vector<std::uint8_t> medium = std::vector<std::uint8_t>(8u << 20);
  std::vector<std::uint32_t> descriptor_counts;
  std::uint64_t now = 0;
  void* ram(std::uint64_t address, std::size_t bytes);
  unsigned count_commands(unsigned index) const;
  /// Leaves Command Complete latched and words in the data port, as a host can after tuning.
  void leave_stale(unsigned words);

  // the HAL's side
  std::uint64_t read(std::uint64_t address, unsigned bytes);
  void write(std::uint64_t address, unsigned bytes, std::uint64_t value);
  void tick(std::uint64_t ns);
  bool line() const;
  /// The CPU sleeps and nothing is up: true when the board had something left to do.
  bool idle();
  hal::IrqHandler handler = nullptr;
  void* handler_context = nullptr;
  bool enabled = false, in_handler = false;

 private:
  friend class Cqe;
  friend class DwMmc;
  friend class Swq;
  std::uint32_t get(std::uint32_t offset, unsigned bytes) const;
  void put(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  void host_write(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  void raise(std::uint32_t bits);
  void command(std::uint32_t value);
  bool answer(unsigned index, std::uint32_t arg, std::uint32_t& r);
  void do_switch(std::uint32_t arg);
  void move(unsigned index, std::uint32_t arg);
  void next_pio_block();
  std::vector<std::uint8_t> payload(unsigned index, std::uint32_t arg, std::size_t bytes);
  template <class F>
  void for_descriptors(F f);
  void respond_136(const std::uint8_t (&reg)[16]);

  std::vector<std::uint8_t> regs_ = std::vector<std::uint8_t>(0x600);
  std::vector<std::uint8_t> ram_;
  std::uint32_t intc_enable_ = 0;
  bool claimed_ = false;
  unsigned state_ = 0, polls_left_ = 0, tuning_left_ = 0;
  bool switch_error_ = false;
  // PIO
  std::vector<std::uint8_t> pio_;
  std::size_t pio_at_ = 0, pio_limit_ = 0;
  bool pio_read_ = false;
  std::uint64_t pio_address_ = 0;
};

/// A table with one machine and no jobs, in the active board's RAM.
fw::JobTable& table(Board& board);

/// A job over `size` bytes, one I/O at a time unless told otherwise.
inline fw::JobDef job(fw::JobKind kind, std::uint32_t block_bytes, std::uint64_t size,
                      std::uint32_t depth = 1) {
  fw::JobDef d{};
  d.kind = kind;
  d.block_bytes = block_bytes;
  d.size = size;
  d.iodepth = depth;
  d.rwmix_read = 50;
  d.seed = 5;
  return d;
}
/// Reads one of traces/ext_csd.
std::array<std::uint8_t, 512> load_ext_csd(const std::string& name);

}  // namespace fake
