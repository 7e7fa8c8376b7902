// 32 tasks, random in everything, against a plain copy of what the device must hold.
#include <random>

#include "sc_tests/emmc/queue_bench.hpp"

using namespace bench;

namespace {

constexpr std::uint32_t kBlocks = 4096, kMost = 40;

class Soak {
 public:
  Soak(const EmmcParams& p, const NandParams& n, unsigned seed)
      : b_(p, n), rng_(seed), oracle_(pattern(0, kBlocks)) {}

  void run(int steps) {
    if (rng_() % 2 != 0) REQUIRE(b_.switched(33, 1));
    for (int i = 0; i < steps; ++i) step();
    draining_ = true;
    while (used() != 0) step_out();
    std::vector<std::byte> medium(oracle_.size());
    b_.card.user_medium().read_blocks(0, kBlocks, medium);
    CHECK(medium == oracle_);
    CHECK(b_.qsr() == 0);
    const QueueCounters& c = b_.card.queue_counters();
    CHECK(c.queued == queued_);
    CHECK(c.executed == executed_);
    CHECK(c.discarded == discarded_);
    CHECK(c.stopped == stopped_);
    CHECK(c.queued == c.executed + c.discarded + c.stopped);
    CHECK(c.most == most_);
    CHECK(b_.card.ftl().inconsistencies() == 0);
    CHECK(executed_ > 100);
    CHECK(stopped_ > 5);
    CHECK(discarded_ > 5);
  }

 private:
  struct Task {
    bool used = false, read = false;
    std::uint32_t lba = 0, blocks = 0;
  };

  unsigned pick(unsigned n) { return static_cast<unsigned>(rng_() % n); }
  unsigned used() const {
    return static_cast<unsigned>(
        std::count_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.used; }));
  }
  bool overlaps(std::uint32_t lba, std::uint32_t blocks) const {
    return std::any_of(tasks_.begin(), tasks_.end(), [&](const Task& t) {
      return t.used && lba < t.lba + t.blocks && t.lba < lba + blocks;
    });
  }

  void step() {
    const unsigned what = pick(20);
    if (what < 10)
      queue();
    else if (what < 17)
      step_out();
    else if (what < 19)
      discard();
    else
      b_.wait(us(pick(3000)));
  }

  void queue() {
    if (draining_) return;
    const unsigned id = pick(32);
    const std::uint32_t blocks = 1 + pick(kMost), lba = pick(kBlocks - kMost);
    if (tasks_[id].used) {
      CHECK((b_.r1(44, task(id, 1, true)) & kError) != 0);
      return;
    }
    if (overlaps(lba, blocks)) return;  // hazards are the host's job
    const bool read = pick(2) != 0;
    const std::uint32_t flags[] = {0, 0, 0, kHigh, kForced, kReliable};
    REQUIRE(b_.queue(id, lba, blocks, read, flags[pick(6)]) == 0);
    tasks_[id] = {true, read, lba, blocks};
    ++queued_;
    most_ = std::max<std::uint64_t>(most_, used());
  }

  /// Executes a ready task, if there is one, with other tasks queued in between.
  void step_out() {
    b_.wait(us(pick(200)));
    const std::uint32_t ready = b_.qsr();
    for (unsigned id = 0; id < 32; ++id)
      if ((ready & bit(id)) != 0) REQUIRE(tasks_[id].used);
    if (ready == 0) return;
    unsigned id = pick(32);
    while ((ready & bit(id)) == 0) id = (id + 1) % 32;
    const Task t = tasks_[id];
    REQUIRE((b_.start(id, t.read) & status::kTypeC) == 0);
    REQUIRE(b_.effect.data == (t.read ? DataDir::read : DataDir::write));
    const bool stops = pick(10) == 0;
    const std::uint32_t moved = stops ? pick(t.blocks) : t.blocks;
    t.read ? read(t, moved) : write(t, moved);
    if (stops) {
      b_.done(12, kRca);
      ++stopped_;
    } else {
      CHECK_FALSE(b_.card.transfer_running());
      b_.catch_up();
      ++executed_;
    }
    tasks_[id].used = false;
  }

  void read(const Task& t, std::uint32_t moved) {
    std::array<std::byte, 512> block;
    for (std::uint32_t k = 0; k < moved; ++k) {
      const sc_time ready = b_.card.read_ready(k, b_.graph).at;
      if (ready > sc_core::sc_time_stamp()) b_.wait(ready - sc_core::sc_time_stamp());
      b_.last = sc_core::sc_time_stamp() + us(1);
      b_.card.read_block(k, block, b_.last);
      const auto at = oracle_.begin() + static_cast<std::ptrdiff_t>((t.lba + k) * 512);
      REQUIRE(std::equal(block.begin(), block.end(), at));
      if (k + 1 < moved) b_.catch_up();
      if (k % 4 == 1) queue();
    }
  }

  void write(const Task& t, std::uint32_t moved) {
    const auto data = filled(moved, pick(256));
    for (std::uint32_t k = 0; k < moved; ++k) {
      const auto block = std::span(data).subspan(k * 512, 512);
      const auto e =
          b_.card.write_block(k, block, true, sc_core::sc_time_stamp() + us(1), b_.graph, kRootNode);
      REQUIRE(e.status == CrcStatus::accepted);
      std::copy(block.begin(), block.end(), oracle_.begin() + static_cast<std::ptrdiff_t>((t.lba + k) * 512));
      b_.last = std::max(e.busy_until, sc_core::sc_time_stamp() + us(1));
      if (k + 1 < moved) b_.catch_up();
      if (k % 4 == 1) queue();
    }
  }

  void discard() {
    const unsigned id = pick(32);
    if (pick(6) == 0) {
      discarded_ += used();
      REQUIRE((b_.done(48, 1) & status::kTypeC) == 0);
      tasks_ = {};
    } else if (tasks_[id].used) {
      REQUIRE((b_.done(48, id << 16 | 2) & status::kTypeC) == 0);
      tasks_[id].used = false;
      ++discarded_;
    } else {
      CHECK((b_.done(48, id << 16 | 2) & status::kTypeC) == kError);
    }
  }

  Queue b_;
  std::mt19937 rng_;
  std::vector<std::byte> oracle_;
  std::array<Task, 32> tasks_{};
  bool draining_ = false;
  std::uint64_t queued_ = 0, executed_ = 0, discarded_ = 0, stopped_ = 0, most_ = 0;
};

NandParams busy_nand() {
  NandParams n;
  n.channels = 2, n.dies = 2, n.planes = 1;
  n.firmware_read_us = n.firmware_write_us = 10;
  n.t_prog_us = 300;
  return n;
}

void soak(std::uint64_t parallel, const char* write_ready, unsigned seed) {
  EmmcParams p = params();
  p.queue_parallel = parallel;
  p.queue_write_ready = write_ready;
  Soak(p, busy_nand(), seed).run(1500);
}

}  // namespace

TEST_CASE("32 tasks in random order read what was written: a place for each") { soak(32, "at_once", 11); }
TEST_CASE("32 tasks in random order read what was written: one place") { soak(1, "at_once", 12); }
TEST_CASE("32 tasks in random order read what was written: four places, prepared writes") {
  soak(4, "firmware", 13);
}
TEST_CASE("32 tasks in random order read what was written: 32 places, prepared writes") {
  soak(32, "firmware", 14);
}
