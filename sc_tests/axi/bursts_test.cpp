// Burst splitting: properties at every byte offset around 4 KiB and 128 MiB, and spelled-out examples.
#include "models/axi/bursts.hpp"

#include <algorithm>

#include "sc_tests/catch.hpp"

using vp::BurstPart;
using vp::BurstSet;
using vp::split_bursts;

namespace {

bool length_allowed(std::uint32_t beats, std::uint32_t max_beats, const BurstSet& s) {
  if (beats == 1) return true;
  if (beats > max_beats) return false;
  return s.undefined || (beats == 4 && s.incr4) || (beats == 8 && s.incr8) || (beats == 16 && s.incr16);
}

/// The first rule a split breaks; null when it keeps them all. `greedy`: no shorter burst where a longer one
/// fits.
const char* broken_rule(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat,
                        std::uint32_t max_beats, const BurstSet& set) {
  std::uint64_t next = address;
  for (const BurstPart& p : split_bursts(address, bytes, beat, max_beats, set)) {
    if (p.address != next || p.bytes == 0) return "the parts leave a hole or overlap";
    if (p.address / 4096 != (p.address + p.bytes - 1) / 4096) return "a burst crosses 4 KiB";
    const std::uint64_t base = p.address / beat * beat;
    if ((base + std::uint64_t{p.beats} * beat - 1) / 4096 != p.address / 4096)
      return "a beat lies past 4 KiB";
    if (!length_allowed(p.beats, max_beats, set)) return "a length is not allowed";
    const std::uint64_t beats_used = (p.address + p.bytes - 1) / beat - p.address / beat + 1;
    if (beats_used != p.beats) return "a beat carries nothing";
    next = p.address + p.bytes;
  }
  return next == address + bytes ? nullptr : "bytes are lost";
}

void check_around(std::uint64_t boundary) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    const BurstSet set{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    for (const std::uint32_t beat : {4U, 8U, 16U, 32U})
      for (const std::uint32_t max_beats : {1U, 16U, 256U})
        for (std::uint64_t a = boundary - 1024; a < boundary; ++a)
          for (const std::uint32_t bytes : {1U, 513U, 1536U})
            if (const char* rule = broken_rule(a, bytes, beat, max_beats, set)) {
              CAPTURE(a, bytes, beat, max_beats, bits);
              FAIL(rule);
            }
  }
}

}  // namespace

TEST_CASE("bursts keep every rule at each byte offset of the last KiB before 4 KiB") {
  check_around(0x4000'1000);
}

TEST_CASE("bursts keep every rule at each byte offset of the last KiB before 128 MiB") {
  check_around(0x4000'0000 + (1ULL << 27));
  check_around(1ULL << 27);
}

TEST_CASE("a burst that crosses 4 KiB is split at the boundary") {
  const auto parts = split_bursts(0x4000'0FC0, 128, 8, 16, {});
  REQUIRE(parts.size() == 2);
  CHECK((parts[0].address == 0x4000'0FC0 && parts[0].bytes == 64 && parts[0].beats == 8));
  CHECK((parts[1].address == 0x4000'1000 && parts[1].bytes == 64 && parts[1].beats == 8));
}

TEST_CASE("an unaligned start makes a partial first beat") {
  // 16 beats of 8 B from 0x1000 end at 0x1080: 125 B from 0x1003; 3 B are left over.
  const auto parts = split_bursts(0x1003, 128, 8, 16, {});
  REQUIRE(parts.size() == 2);
  CHECK((parts[0].bytes == 125 && parts[0].beats == 16));
  CHECK((parts[1].address == 0x1080 && parts[1].bytes == 3 && parts[1].beats == 1));
}

TEST_CASE("without undefined lengths 31 beats go out as 16, 8, 4 and three singles") {
  const auto parts = split_bursts(0x2000, 31 * 8, 8, 256, {false, true, true, true});
  std::vector<std::uint32_t> beats;
  for (const auto& p : parts) beats.push_back(p.beats);
  CHECK(beats == std::vector<std::uint32_t>{16, 8, 4, 1, 1, 1});
}

TEST_CASE("no allowed length leaves single beats only") {
  CHECK(split_bursts(0, 512, 8, 16, {false, false, false, false}).size() == 64);
}

TEST_CASE("a 512-byte block takes four bursts of 16 beats at 64 bits and one of 16 at 256 bits") {
  CHECK(split_bursts(0x4000'0000, 512, 8, 16, {}).size() == 4);
  CHECK(split_bursts(0x4000'0000, 512, 32, 16, {}).size() == 1);
}
