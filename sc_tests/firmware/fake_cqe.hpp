// A command queue engine for the fake board: knows the registers' published meaning and the descriptors, no
// timing. It does a task at its doorbell unless told to hold, drop or fail it. Held tasks complete when the
// CPU sleeps, newest first. What hardware would not survive (ordinary command while it runs, bad descriptor,
// table overrun) is thrown.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace fake {

class Board;

inline constexpr std::uint32_t kCqeOffset = 0x180;

class Cqe {
 public:
  explicit Cqe(Board& board) : board_(board) {}

  enum class Fate { now, hold, drop, lost_interrupt, data_crc, red, adma, silent_error };
  // what a test arranges
  bool present = false;
  bool trans12 = false;  ///< 64-bit transfer descriptors every 12 bytes
  std::function<Fate(unsigned tag)> fate;
  std::function<void(unsigned tag)> at_doorbell;
  bool halts = true;
  unsigned refuse_discard = 0;          ///< CMD48 stays unanswered so many times
  std::uint32_t stale_at_clear = 0;     ///< CQTCN bits that come up with the clear
  std::uint32_t direct_answer = 0x900;  ///< R1 of a direct command
  bool tolerate_after_reset =
      false;                  ///< ordinary commands of an engine that did not halt but had its lines reset
  bool wipe = false;          ///< all registers go to 0 when the next doorbell rings
  bool task_running = false;  ///< CMD12 is answered

  // what a test reads
  struct Task {
    unsigned tag;
    std::array<std::uint32_t, 4> words;  ///< task descriptor; [2], [3] 0 when it is 64 bits
    std::array<std::uint32_t, 4> link;
    std::vector<std::array<std::uint32_t, 4>> transfers;
    std::uint64_t at_ns;
  };
  std::vector<Task> tasks;
  std::vector<unsigned> completed;  ///< tags in order of completion
  unsigned most_held = 0;
  std::uint32_t& reg(const char* name);

  // the board's side
  bool owns(std::uint32_t offset) const {
    return present && offset >= kCqeOffset && offset < kCqeOffset + 0x60;
  }
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value);
  void check_legacy(unsigned index) const;
  void lines_reset();
  bool stop() { return task_running; }
  bool discard(std::uint32_t arg);
  bool idle();
  void complete(unsigned tag, bool notify = true, bool interrupt = true);

 private:
  std::uint32_t at(const char* name) const;
  bool on() const;
  void set_event(std::uint32_t events);
  void start(unsigned tag);
  Task fetch(unsigned tag) const;
  void move(const Task& t);
  void fail(unsigned tag, Fate f);

  Board& board_;
  std::array<std::uint32_t, 0x18> regs_{};
  std::vector<unsigned> held_;
  std::uint32_t queued_ = 0;  ///< in the device
  unsigned counted_ = 0;
  bool stopped_ = false, reset_done_ = false;
};

}  // namespace fake
