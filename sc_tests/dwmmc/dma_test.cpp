// Data integrity under random scatter lists, in both descriptor formats, both structures and both timing styles. What is
// counted follows from the list alone, so both styles are held to the same numbers.
#include <random>

#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

struct Config {
  bool wide;
  bool ring;  ///< dual buffers instead of a chain
  bool write;
  TimingStyle style;
  std::uint64_t depth;
  bool fixed = false;  ///< BMOD.FB
  std::uint64_t hcon_width = 2;
};

struct List {
  std::vector<Bench::Part> parts;
  std::uint32_t blocks = 0;
  std::uint64_t bursts = 0;
  std::vector<std::uint64_t> descriptors;
};

/// Lengths in words up to `most` bytes that add up to whole blocks, at scattered word addresses, now and then above 4 GiB.
List scatter(std::mt19937& rng, const Config& c, std::uint32_t burst, std::uint32_t most) {
  List l;
  l.blocks = 1 + rng() % 12;
  std::uint32_t left = l.blocks * 512;
  for (std::uint64_t slot = 0; left > 0; ++slot) {
    const std::uint32_t n = std::min(left, 4 * (1 + static_cast<std::uint32_t>(rng() % (most / 4))));
    const std::uint64_t base = c.wide && rng() % 3 == 0 ? Bench::kHighBase : 0x10'0000;
    l.parts.push_back({base + slot * 0x4000 + 4 * (rng() % 1024), n});
    l.bursts += (n + burst - 1) / burst;
    left -= n;
  }
  return l;
}

/// A ring of descriptors with two buffers each (one may be absent), `skip` descriptors apart.
void put_ring(Bench& b, std::uint64_t at, List& l, std::uint32_t skip) {
  for (std::size_t i = 0; i < l.parts.size(); i += 2) {
    const bool two = i + 1 < l.parts.size(), last = i + 2 >= l.parts.size();
    const std::uint64_t here = at + i / 2 * b.des_bytes() * (1 + skip);
    const std::uint32_t flags =
        kDesOwn | (i == 0 ? std::uint32_t{kDesFirst} : 0u) |
        (last ? std::uint32_t{kDesLast | kDesEndOfRing} : std::uint32_t{kDesNoInterrupt});
    b.put(here, {flags, l.parts[i].address, l.parts[i].bytes, two ? l.parts[i + 1].address : 0,
                 two ? l.parts[i + 1].bytes : 0});
    l.descriptors.push_back(here);
  }
}

void random_lists(const Config& c, unsigned seed) {
  std::mt19937 rng(seed);
  DwmmcParams p = bench_params(c.wide);
  p.hcon = (p.hcon & ~0x380ULL) | c.hcon_width << 7;
  p.prefetch_depth = c.depth;
  p.fifo_depth = 128;
  Bench b(p, c.style);
  b.start_card();
  const std::uint32_t word = 2u << c.hcon_width;
  for (unsigned round = 0; round < 12; ++round) {
    INFO("round " << round);
    const std::uint32_t code = static_cast<std::uint32_t>(rng() % 6);  // 1 to 64 beats
    const std::uint32_t beats = msize_beats(code), skip = c.ring ? static_cast<std::uint32_t>(rng() % 3) : 0;
    b.write(reg("FIFOTH"), code << 28 | std::max(1u, beats - 1) << 16 | 64);
    List l = scatter(rng, c, beats * word, c.ring ? 8188 : 4096);
    if (c.ring)
      put_ring(b, 0x1000, l, skip);
    else
      l.descriptors = b.chain(0x1000, l.parts, rng() % 2 ? 0 : 64);
    const std::uint32_t lba = static_cast<std::uint32_t>(rng() % 1000);
    for (const auto& part : l.parts)
      for (std::uint32_t i = 0; i < part.bytes + 8; ++i)
        *b.ram(part.address - 4 + i) = static_cast<std::byte>(c.write ? rng() : 0xA5);
    std::vector<std::byte> sent;
    for (const auto& part : l.parts)
      sent.insert(sent.end(), b.ram(part.address, part.bytes), b.ram(part.address, part.bytes) + part.bytes);
    b.card.written.clear();
    const auto before = b.host.data().counters();
    b.idmac(0x1000, skip << lsb("BMOD", "DSL") | (c.fixed ? mask("BMOD", "FB") : 0));
    b.data_command(c.write ? 25 : 18, lba, l.blocks, c.write ? kWrite : kRead);
    b.run_until(kIntCommandDone | kIntDataOver, c.write ? kIdTransmit : kIdReceive);
    b.run_out();
    CHECK((b.status() & kIntDataErrors) == 0);
    const auto after = b.host.data().counters();
    CHECK(after.descriptors - before.descriptors == l.descriptors.size());
    CHECK(after.closes - before.closes == l.descriptors.size());
    CHECK(after.bursts - before.bursts == l.bursts);
    CHECK(b.read(reg("TCBCNT")) == l.blocks * 512);
    CHECK(b.read(reg("TBBCNT")) == l.blocks * 512);
    for (const std::uint64_t d : l.descriptors) CHECK((b.des0(d) & (kDesOwn | kDesCardError)) == 0);
    if (c.write) {
      CHECK(b.card.written == sent);
    } else {
      std::uint64_t at = 0;
      for (const auto& part : l.parts) {
        for (std::uint32_t i = 0; i < part.bytes; ++i, ++at)
          REQUIRE(*b.ram(part.address + i) == MockCard::content(lba + at / 512, at % 512));
        REQUIRE(*b.ram(part.address - 1) == std::byte{0xA5});
        REQUIRE(*b.ram(part.address + part.bytes) == std::byte{0xA5});
      }
    }
    CHECK((b.idsts() & 0xFFFF) == ((c.write ? kIdTransmit : kIdReceive) | kIdNormal));
    b.clear_status();
  }
  CHECK(b.ctx.findings.empty());
}

constexpr auto at = TimingStyle::at, lt = TimingStyle::lt;

}  // namespace

TEST_CASE("random chained lists, 32-byte descriptors: reads") {
  random_lists({true, false, false, at, 0}, 1);
}
TEST_CASE("random chained lists, 32-byte descriptors: reads (lt)") {
  random_lists({true, false, false, lt, 0}, 1);
}
TEST_CASE("random chained lists, 32-byte descriptors: writes") {
  random_lists({true, false, true, at, 0}, 2);
}
TEST_CASE("random chained lists, 32-byte descriptors: writes (lt)") {
  random_lists({true, false, true, lt, 0}, 2);
}
TEST_CASE("random chained lists, 16-byte descriptors: reads") {
  random_lists({false, false, false, at, 0}, 3);
}
TEST_CASE("random chained lists, 16-byte descriptors: reads (lt)") {
  random_lists({false, false, false, lt, 0}, 3);
}
TEST_CASE("random chained lists, 16-byte descriptors: writes") {
  random_lists({false, false, true, at, 0}, 4);
}
TEST_CASE("random chained lists, 16-byte descriptors: writes (lt)") {
  random_lists({false, false, true, lt, 0}, 4);
}
TEST_CASE("random dual-buffer rings, 32-byte descriptors: reads") {
  random_lists({true, true, false, at, 0}, 5);
}
TEST_CASE("random dual-buffer rings, 32-byte descriptors: writes (lt)") {
  random_lists({true, true, true, lt, 0}, 6);
}
TEST_CASE("random dual-buffer rings, 16-byte descriptors: reads (lt)") {
  random_lists({false, true, false, lt, 0}, 7);
}
TEST_CASE("random dual-buffer rings, 16-byte descriptors: writes") {
  random_lists({false, true, true, at, 0}, 8);
}
TEST_CASE("random chained lists with prefetch: reads") { random_lists({true, false, false, at, 4}, 9); }
TEST_CASE("random chained lists with prefetch: reads (lt)") { random_lists({true, false, false, lt, 4}, 9); }
TEST_CASE("random chained lists with prefetch: writes") { random_lists({false, false, true, at, 16}, 10); }
TEST_CASE("random chained lists with prefetch: writes (lt)") {
  random_lists({false, false, true, lt, 16}, 10);
}
TEST_CASE("random chained lists in fixed bursts: reads") {
  random_lists({true, false, false, at, 0, true}, 11);
}
TEST_CASE("random chained lists in fixed bursts: writes (lt)") {
  random_lists({true, false, true, lt, 0, true}, 12);
}
TEST_CASE("random chained lists, 32-bit FIFO: reads") {
  random_lists({false, false, false, at, 0, false, 1}, 13);
}
TEST_CASE("random chained lists, 32-bit FIFO: writes (lt)") {
  random_lists({false, false, true, lt, 0, false, 1}, 14);
}

namespace {

/// AXI bursts of a 512-byte read into 0x20004 with PBL of 32 beats: 64 words from a word boundary of 4.
std::uint64_t axi_bursts(bool fixed) {
  Bench b;
  b.start_card();
  b.write(reg("FIFOTH"), 4u << 28 | 31u << 16 | 128);
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000, fixed ? mask("BMOD", "FB") : 0);
  b.data_command(17, 0, 1, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  return b.host.dma_port().counters().write_bursts - 1;  // less the close
}

}  // namespace

TEST_CASE("undefined bursts are as long as PBL") { CHECK(axi_bursts(false) == 512 / 256); }
TEST_CASE("fixed bursts are at most INCR16") { CHECK(axi_bursts(true) == 512 / 128); }

namespace {

/// The last descriptor only has DIC = 0, or all: interrupts per list.
void interrupts(TimingStyle style, bool dic, unsigned expected) {
  Bench b(bench_params(), style);
  b.start_card();
  std::vector<Bench::Part> parts;
  for (unsigned i = 0; i < 8; ++i) parts.push_back({0x20000 + i * 0x1000u, 512});
  b.chain(0x1000, parts);
  if (!dic)
    for (unsigned i = 0; i < 8; ++i) *b.ram(0x1000 + i * 32) &= ~std::byte{kDesNoInterrupt};
  b.idmac(0x1000);
  b.write(reg("INTMASK"), 0);
  b.data_command(18, 0, 8, kRead);
  unsigned seen = 0;
  while (sc_core::sc_pending_activity()) {
    b.advance(sc_core::sc_time_to_pending_activity());
    if (!b.irq.level) continue;
    ++seen;
    b.write(b.id.status, kIdReceive);
    CHECK(b.irq.level);  // NIS holds the line
    b.write(b.id.status, kIdNormal);
    CHECK_FALSE(b.irq.level);
  }
  CHECK(seen == expected);
}

}  // namespace

TEST_CASE("DIC leaves one receive interrupt per list") { interrupts(at, true, 1); }
TEST_CASE("DIC leaves one receive interrupt per list (lt)") { interrupts(lt, true, 1); }
TEST_CASE("without DIC every descriptor interrupts") { interrupts(at, false, 8); }
TEST_CASE("without DIC every descriptor interrupts (lt)") { interrupts(lt, false, 8); }
