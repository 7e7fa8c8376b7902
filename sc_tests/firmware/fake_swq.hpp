// The device's task queue for the fake board: CMD44 to CMD48 and QSR, no timing. Data can be held until the CPU sleeps, so
// that commands beside a transfer happen; the board takes the transfer's registers when the data move, as they are then.
// What a real device or host would not survive is thrown.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace fake {

class Board;

class Swq {
 public:
  explicit Swq(Board& board) : board_(board) {}

  enum class Fate { good, data_crc, no_interrupt };
  // what a test arranges
  bool present = false;
  bool hold_data = false;  ///< data move when the CPU sleeps, of CMD17/18/24/25 too
  unsigned shy_polls = 0;  ///< QSR shows a task from its poll number shy_polls + 1 on
  std::function<Fate(unsigned task)> fate;
  std::function<std::uint32_t(unsigned index, unsigned task)> r1_errors;  ///< for CMD44 to CMD47
  unsigned refuse_discard = 0;  ///< CMD48 stays unanswered so many times

  // what a test reads
  std::vector<unsigned> executed;     ///< tasks in order of their CMD46 or CMD47
  std::array<unsigned, 64> beside{};  ///< commands that came while data were moving, by index
  unsigned most = 0;                  ///< tasks in the queue at once

  // the board's side
  void check(unsigned index, std::uint32_t arg);
  bool answers(unsigned index) const { return present && index >= 44 && index <= 48; }
  bool answer(unsigned index, std::uint32_t arg, std::uint32_t& r);
  bool wants_status(unsigned index, std::uint32_t arg) const {
    return present && index == 13 && (arg >> 15 & 1);
  }
  std::uint32_t status();
  bool takes_data(unsigned index) const;
  void start(unsigned index, std::uint32_t arg);
  void lines_reset();
  bool stop();
  bool idle();

 private:
  struct Task {
    bool used = false, read = false;
    std::uint32_t blocks = 0, lba = 0;
    unsigned polls = 0;
  };
  bool mode_on() const;
  unsigned used() const;
  bool ready(unsigned id) const { return tasks_[id].used && tasks_[id].polls > shy_polls; }
  void move();

  Board& board_;
  std::array<Task, 32> tasks_{};
  int params_ = -1;  ///< CMD44's task until its CMD45
  bool moving_ = false, card_busy_ = false;
  Fate fate_ = Fate::good;  ///< of the transfer under way
  unsigned index_ = 0, task_ = 0;
  std::uint32_t lba_ = 0;
};

}  // namespace fake
