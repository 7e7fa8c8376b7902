// An SD card spoken to directly, command by command, in kernel time.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "models/sd_card/sd_card.hpp"
#include "sc_tests/catch.hpp"

namespace vp::test {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

inline sc_time us(double v) { return sc_time(v, sc_core::SC_US); }

inline SdCardParams bench_params() {
  SdCardParams p;
  p.power_up_us = 1000;
  return p;
}

struct Bench {
  Context ctx;
  SdCard card;
  CauseGraph graph;
  std::uint32_t rca = 0;
  CommandEffect last;

  explicit Bench(const SdCardParams& p = bench_params()) : card("card", ctx, p) {
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void advance(sc_time d) { sc_core::sc_start(d); }
  /// The response's content, or nothing when the card is silent.
  std::optional<std::uint32_t> send(unsigned index, std::uint32_t argument = 0) {
    graph.restart(sc_time_stamp());
    last = card.command({static_cast<std::uint8_t>(index), argument}, graph, kRootNode);
    if (!last.response) return std::nullopt;
    return last.response->content;
  }
  std::optional<std::uint32_t> app(unsigned index, std::uint32_t argument = 0) {
    if (!send(55, rca << 16)) return std::nullopt;
    return send(index, argument);
  }
  void wait_busy() {
    if (last.busy_until > sc_time_stamp()) advance(last.busy_until - sc_time_stamp());
  }
  /// To the transfer state, as a driver does it.
  void identify() {
    send(0);
    REQUIRE(send(8, 0x1AA).value() == 0x1AA);
    advance(us(1000));
    REQUIRE((app(41, 0x40300000).value() & 0xC0000000) == 0xC0000000);
    REQUIRE(send(2));
    rca = send(3).value() >> 16;
    REQUIRE(rca != 0);
    REQUIRE(send(7, rca << 16));
    REQUIRE(card.state() == SdState::tran);
  }
  unsigned state_of(std::uint32_t status) const { return status >> 9 & 15; }
  std::uint32_t status() { return send(13, rca << 16).value(); }
  /// One block of the running read, at the instant it is ready.
  std::vector<std::byte> block(std::uint32_t k, std::size_t bytes = 512) {
    const BlockReady ready = card.read_ready(k, graph);
    if (ready.at > sc_time_stamp()) advance(ready.at - sc_time_stamp());
    std::vector<std::byte> out(bytes);
    card.read_block(k, out, sc_time_stamp());
    return out;
  }
  WriteEffect give(std::uint32_t k, std::byte fill, bool good = true) {
    std::array<std::byte, 512> data;
    data.fill(fill);
    return card.write_block(k, data, good, sc_time_stamp(), graph, kRootNode);
  }
  std::vector<std::uint8_t> bytes(std::uint32_t n) {
    const auto b = block(0, n);
    std::vector<std::uint8_t> out(n);
    std::memcpy(out.data(), b.data(), n);
    return out;
  }
};

inline constexpr std::uint32_t kIllegal = 1u << 22, kOutOfRange = 1u << 31, kEcc = 1u << 21, kCrc = 1u << 23,
                               kSeq = 1u << 28, kParam = 1u << 27, kEraseReset = 1u << 13, kApp = 1u << 5;

}  // namespace vp::test
