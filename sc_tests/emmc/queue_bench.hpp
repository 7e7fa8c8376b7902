// The device bench in queue mode.
#pragma once

#include "sc_tests/emmc/bench.hpp"

namespace bench {

constexpr unsigned kModeEn = 15;
constexpr std::uint32_t kQsr = kRca | 0x8000;
constexpr std::uint32_t kOutOfRange = 1U << 31, kBlockLen = 1U << 29, kIllegal = 1U << 22, kEcc = 1U << 21,
                        kError = 1U << 19;
constexpr std::uint32_t kReliable = 1U << 31, kForced = 1U << 24, kHigh = 1U << 23;

constexpr std::uint32_t bit(unsigned n) { return 1U << n; }
constexpr unsigned state_of(std::uint32_t r1) { return r1 >> 9 & 15; }

/// CMD44's argument; `flags`: kReliable, kForced, kHigh.
constexpr std::uint32_t task(unsigned id, std::uint32_t blocks, bool read, std::uint32_t flags = 0) {
  return (read ? 1U << 30 : 0) | flags | id << 16 | blocks;
}

struct Queue : Bench {
  explicit Queue(const EmmcParams& p = params(), const NandParams& n = NandParams()) : Bench(p, n) {
    turn_on();
  }

  void turn_on() {
    to_tran();
    write_byte(kModeEn, 1);
    REQUIRE((status() & status::kSwitchError) == 0);
  }
  /// Returns the error bits of both responses.
  std::uint32_t queue(unsigned id, std::uint32_t lba, std::uint32_t blocks, bool read,
                      std::uint32_t flags = 0) {
    const std::uint32_t both = r1(44, task(id, blocks, read, flags)) | r1(45, lba);
    return both & status::kTypeC;
  }
  std::uint32_t qsr() { return r1(13, kQsr); }
  std::uint32_t start(unsigned id, bool read) { return r1(read ? 46 : 47, id << 16); }
  std::vector<std::byte> execute_read(unsigned id, std::uint32_t blocks) {
    REQUIRE((start(id, true) & status::kTypeC) == 0);
    REQUIRE(effect.data == DataDir::read);
    return read_running(blocks);
  }
  void execute_write(unsigned id, std::span<const std::byte> data) {
    REQUIRE((start(id, false) & status::kTypeC) == 0);
    REQUIRE(effect.data == DataDir::write);
    write_running(data);
  }
  /// The QSR bit of a task appears exactly at `at`.
  void check_ready_at(unsigned id, sc_time at) {
    const sc_time ps = sc_time::from_value(1);
    REQUIRE(at > sc_core::sc_time_stamp());
    wait(at - ps - sc_core::sc_time_stamp());
    CHECK((qsr() & bit(id)) == 0);
    wait(ps);
    CHECK((qsr() & bit(id)) != 0);
    CHECK(card.ready_at(id) == at);
  }
};

/// One channel, one plane; rows of 32 blocks take turns on the dies, page p of a die is an LSB page when p is even.
/// Default figures: firmware 50 us, map page 25 us and 10.24 us on the channel (one covers 8192 blocks), t_R 50 us
/// (LSB), 4 KiB 10.24 us, buffer 1 us.
inline NandParams dies(unsigned n) {
  NandParams p;
  p.channels = p.planes = 1;
  p.dies = n;
  return p;
}

}  // namespace bench
