// The whole firmware against a board that answers at once: set-up, register traffic, data, errors.
#include <algorithm>
#include <cstring>

#include "firmware/app/main.hpp"
#include "firmware/app/stamp.hpp"
#include "models/sdhci/dwcmshc_regs.hpp"
#include "models/sdhci/sdhci_regs.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/fake_board.hpp"

using namespace fw;
using fake::Board;

namespace {
constexpr std::uint32_t reg(const char* name) { return vp::find_register(vp::sdhci::kRegs, name)->offset; }

using fake::job;
JobTable& with_job(Board& board, const JobDef& d) {
  JobTable& t = fake::table(board);
  t.job_count = 1;
  t.jobs[0] = d;
  return t;
}
CardMode mode_of(const JobTable& t) { return static_cast<CardMode>(t.card_mode); }
std::vector<unsigned> switches(const Board& b, unsigned index) {
  std::vector<unsigned> values;
  for (const auto& s : b.commands)
    if (s.index == 6 && (s.arg >> 16 & 255) == index) values.push_back(s.arg >> 8 & 255);
  return values;
}
std::vector<fake::Mark> marks(const Board& b, hal::Event what) {
  std::vector<fake::Mark> out;
  std::copy_if(b.marks.begin(), b.marks.end(), std::back_inserter(out),
               [&](auto& m) { return m.what == what; });
  return out;
}
/// Register accesses after the last command `index` back to the command before it.
std::vector<fake::Access> submission(const Board& b, unsigned index) {
  std::size_t end = b.log.size();
  while (end > 0 && !(b.log[end - 1].write && b.log[end - 1].offset == reg("COMMAND") &&
                      b.log[end - 1].value >> 8 == index))
    --end;
  std::size_t begin = end - 1;
  while (begin > 0 && !(b.log[begin - 1].offset == reg("NORMAL_INT_STATUS") && !b.log[begin - 1].write))
    --begin;
  return {b.log.begin() + static_cast<std::ptrdiff_t>(begin),
          b.log.begin() + static_cast<std::ptrdiff_t>(end)};
}
std::uint64_t pattern(Board& b, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) b.medium[i] = static_cast<std::uint8_t>(i * 7 + (i >> 9));
  return bytes;
}
}  // namespace

TEST_CASE(
    "set-up sends the identification commands in the standard's order and reaches HS400 with enhanced "
    "strobe") {
  Board b;
  JobTable& t = fake::table(b);
  REQUIRE(fw::main() == 0);
  std::vector<unsigned> first;
  for (std::size_t i = 0; i < 9; ++i) first.push_back(b.commands[i].index);
  CHECK(first == std::vector<unsigned>{0, 1, 0, 1, 2, 3, 9, 7, 8});
  CHECK(b.commands[0].clock_control == ((250u << 8 & 0xFF00) | 0xF));  // 200 MHz / 500, clocks and PLL on
  CHECK(mode_of(t) == CardMode::hs400es);
  CHECK(t.card_clock_hz == 200'000'000);
  CHECK(t.card_sectors == 0x03A3'E000);
  CHECK(switches(b, 185) == std::vector<unsigned>{1, 3});
  CHECK(switches(b, 183) == std::vector<unsigned>{2, 0x86});
  CHECK(switches(b, 175) == std::vector<unsigned>{1});
  CHECK(switches(b, 33) == std::vector<unsigned>{1});
  CHECK(b.count_commands(21) == 0);
  CHECK((b.commands.back().hc2 & 7) == 7);
  CHECK((b.commands.back().hc2 & 0x3000) == 0x3000);  // V4 and 64-bit
  CHECK(t.done == 1);
  CHECK(marks(b, hal::Event::ready).at(0).a == 0x03A3'E000);
  const std::uint64_t emmc_ctrl = 0x500 + vp::reg_offset(vp::dwcmshc::kRegs, "EMMC_CTRL");
  const auto last =
      std::find_if(b.log.rbegin(), b.log.rend(), [&](auto& a) { return a.write && a.offset == emmc_ctrl; });
  REQUIRE(last != b.log.rend());
  CHECK(last->value == 0x101);
}

TEST_CASE("without a strobe the card is tuned in HS200 and then goes to HS400 by way of HS") {
  Board b;
  b.ext_csd[184] = 0;
  JobTable& t = fake::table(b);
  REQUIRE(fw::main() == 0);
  CHECK(mode_of(t) == CardMode::hs400);
  CHECK(switches(b, 185) == std::vector<unsigned>{2, 1, 3});
  CHECK(switches(b, 183) == std::vector<unsigned>{2, 6});
  CHECK(b.count_commands(21) == 3);
}

TEST_CASE("failed tuning drops HS400 and HS200 and ends in DDR52") {
  Board b;
  b.ext_csd[184] = 0;
  b.tuning_works = false;
  JobTable& t = fake::table(b);
  REQUIRE(fw::main() == 0);
  CHECK(mode_of(t) == CardMode::ddr52);
  CHECK(t.card_clock_hz == 50'000'000);  // 200 MHz / 4
  CHECK(b.count_commands(2) == 3);       // identified for HS400, HS200, DDR52
  CHECK((b.commands.back().hc2 & 7) == 4);
}

TEST_CASE("tuning gives up after 40 blocks") {
  Board b;
  b.ext_csd[184] = 0;
  b.tuning_blocks = 41;
  JobTable& t = fake::table(b);
  t.max_mode = static_cast<std::uint32_t>(CardMode::hs200);
  REQUIRE(fw::main() == 0);
  CHECK(b.count_commands(21) == 40);
  CHECK(mode_of(t) == CardMode::ddr52);
}

TEST_CASE("a card that refuses the strobe falls back to HS400, one that refuses every timing to legacy") {
  Board b;
  JobTable& t = fake::table(b);
  SECTION("strobe") {
    b.refuse_switch = [](unsigned index, unsigned value) { return index == 183 && value == 0x86; };
    REQUIRE(fw::main() == 0);
    CHECK(mode_of(t) == CardMode::hs400);
  }
  SECTION("every timing") {
    b.refuse_switch = [](unsigned index, unsigned) { return index == 185; };
    REQUIRE(fw::main() == 0);
    CHECK(mode_of(t) == CardMode::legacy);
    CHECK(t.card_clock_hz == 25'000'000);  // 200 MHz / 8, not above TRAN_SPEED 26 MHz
  }
}

TEST_CASE("a bus width whose EXT_CSD reads wrong is given up for the next narrower one") {
  Board b;
  b.broken_width = 8;
  JobTable& t = fake::table(b);
  REQUIRE(fw::main() == 0);
  CHECK(mode_of(t) == CardMode::hs200);  // HS400 needs eight lines
  CHECK((b.commands.back().hc1 & 0x22) == 0x02);
}

TEST_CASE("the board's limits hold: mode and clock") {
  Board b;
  JobTable& t = fake::table(b);
  t.max_mode = static_cast<std::uint32_t>(CardMode::hs200);
  t.max_clock_hz = 100'000'000;
  REQUIRE(fw::main() == 0);
  CHECK(mode_of(t) == CardMode::hs200);
  CHECK(t.card_clock_hz == 100'000'000);
}

TEST_CASE("a missing card is an error, not a wait") {
  Board b;
  fake::table(b);
  b.no_answer = [](unsigned index, std::uint32_t) { return index != 0; };
  CHECK(fw::main() == static_cast<int>(Status::no_card));
}

TEST_CASE("a host that never interrupts is an error within a bounded time") {
  Board b;
  fake::table(b);
  b.lost = [](unsigned) { return true; };
  CHECK(fw::main() == static_cast<int>(Status::no_card));
  CHECK(b.now < 30'000'000'000);
  CHECK_FALSE(marks(b, hal::Event::driver_error).empty());
}

TEST_CASE("an ADMA2 read with Auto CMD23 in V4 mode costs one register read and eight writes") {
  Board b;
  JobTable& t = with_job(b, job(JobKind::read, 65536, 131072));
  REQUIRE(fw::main() == 0);
  const auto s = submission(b, 18);
  std::vector<std::uint32_t> offsets;
  for (const auto& a : s) offsets.push_back(a.offset);
  CHECK(offsets == std::vector<std::uint32_t>{reg("PRESENT_STATE"), reg("ADMA_ADDRESS_LOW"),
                                              reg("ADMA_ADDRESS_HIGH"), reg("BLOCK_SIZE"), reg("BLOCK_COUNT"),
                                              reg("SDMA_ADDRESS"), reg("ARGUMENT"), reg("TRANSFER_MODE"),
                                              reg("COMMAND")});
  CHECK_FALSE(s[0].write);
  CHECK(s[1].value == t.pool_base);
  CHECK(s[3].value == 0x7200);  // boundary 7, 512 bytes
  CHECK(s[4].value == 128);
  CHECK(s[5].value == 128);     // the CMD23 argument
  CHECK(s[6].value == 128);     // second 64 KiB: sector 128
  CHECK(s[7].value == 0x3F);    // DMA, count, auto select, read, multi
  CHECK(s[8].value == 0x123A);  // CMD18, data, index and CRC check, 48 bit
  CHECK((b.commands.back().hc2 & 0x800) == 0x800);
}

TEST_CASE("with 8-byte descriptors in V3 mode the read costs seven writes and Auto CMD23 is code 2") {
  Board b(fake::kV3Caps);
  with_job(b, job(JobKind::read, 65536, 131072));
  REQUIRE(fw::main() == 0);
  const auto s = submission(b, 18);
  REQUIRE(s.size() == 8);
  CHECK(s[6].offset == reg("TRANSFER_MODE"));
  CHECK(s[6].value == 0x3B);
  CHECK((b.commands.back().hc2 & 0x3800) == 0);
}

TEST_CASE("data read by every kind of transfer is what the medium holds") {
  struct Case {
    const char* name;
    std::uint32_t caps, dma, v4, contiguity, pages_offset, auto23;
  };
  const auto c = GENERATE(
      Case{"ADMA2 V4", fake::kFullCaps, 2, 1, 1, 0, 1}, Case{"ADMA2 V3 64", fake::kFullCaps, 2, 0, 3, 256, 1},
      Case{"ADMA2 32", fake::kV3Caps, 2, 1, 0, 0, 0}, Case{"SDMA V3", fake::kV3Caps, 1, 0, 0, 0, 1},
      Case{"SDMA V4", fake::kFullCaps, 1, 1, 0, 0, 1}, Case{"PIO", fake::kV3Caps, 0, 0, 1, 260, 1});
  INFO(c.name);
  Board b(c.caps);
  pattern(b, 64 * 1024);
  JobTable& t = with_job(b, job(JobKind::read, 64 * 1024, 64 * 1024));
  t.use_dma = c.dma;
  t.v4_mode = c.v4;
  t.contiguity_pages = c.contiguity;
  t.buffer_byte_offset = c.pages_offset;
  t.auto_cmd23 = c.auto23;
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  PageAllocator pages(t.buffer_base, t.buffer_bytes, 4096, c.contiguity);
  std::vector<std::uint8_t> got(64 * 1024);
  Buffer{&pages, 0, c.pages_offset}.read(0, got.data(), 64 * 1024);
  CHECK(std::equal(got.begin(), got.end(), b.medium.begin()));
  CHECK(b.count_commands(23) == 1);
}

TEST_CASE("a stamped write pass is read back and checked by every kind of transfer") {
  const std::uint32_t dma = GENERATE(0, 1, 2);
  Board b(fake::kV3Caps);
  JobDef d = job(GENERATE(JobKind::write, JobKind::randwrite, JobKind::randrw), 4096, 64 * 4096);
  d.verify = 1;
  d.iodepth = 4;
  d.io_bytes = d.size + d.size / 2;  // the second pass is half
  JobTable& t = with_job(b, d);
  t.use_dma = dma;
  b.busy_polls = 2;
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(t.verify_errors == 0);
  CHECK(b.count_commands(24) + b.count_commands(25) > 0);
  CHECK(marks(b, hal::Event::job_done).size() == 1);
}

TEST_CASE("a block that changed on the medium is found, counted and located") {
  Board b;
  JobDef d = job(JobKind::read, 4096, 16 * 4096);
  d.verify = 1;
  JobTable& t = with_job(b, d);
  for (std::uint64_t lba = 0; lba < 128; ++lba) {
    std::uint64_t words[64];
    make_block({lba, d.seed, 1}, words);
    std::memcpy(b.medium.data() + lba * 512, words, 512);
  }
  b.medium[77 * 512 + 300] ^= 4;
  b.medium[90 * 512] ^= 4;
  REQUIRE(fw::main() == 0);
  CHECK(t.verify_errors == 2);
  CHECK(t.first_bad_offset == 77 * 512);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::verify_byte)] == 16 * 4096);
}

TEST_CASE("a 1 MiB read at 512 KiB per request is two requests, the second mapped while the first runs") {
  Board b;
  with_job(b, job(JobKind::read, 1 << 20, 1 << 20));
  REQUIRE(fw::main() == 0);
  const auto begin = marks(b, hal::Event::request_begin);
  REQUIRE(begin.size() == 2);
  CHECK(begin[0].c == 512 * 1024);
  CHECK(begin[1].b == 1024);
  CHECK(marks(b, hal::Event::request_buffer).size() == 16);  // 64 KiB each
  CHECK(b.count_commands(18) == 2);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::dma_map)] == 256);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::dma_unmap)] == 256);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::page_pin)] == 256);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::request_prep)] == 2);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::io_submit)] == 1);
}

TEST_CASE("the events of an I/O come in the documented order") {
  Board b;
  with_job(b, job(JobKind::read, 4096, 4096));
  REQUIRE(fw::main() == 0);
  using E = hal::Event;
  std::vector<E> order;
  for (const auto& m : b.marks) order.push_back(m.what);
  CHECK(order == std::vector<E>{E::ready, E::io_begin, E::request_begin, E::request_buffer, E::request_issue,
                                E::io_submitted, E::request_end, E::io_end, E::job_done});
}

TEST_CASE("one more descriptor is written for a buffer that crosses 128 MiB") {
  Board b(fake::kFullCaps, (128u << 20) + (16u << 20));
  JobTable& t = with_job(b, job(JobKind::read, 65536, 65536));
  t.buffer_base = 0x4800'0000 - 4096;
  t.buffer_bytes = 1 << 20;
  SECTION("split") {
    REQUIRE(fw::main() == 0);
    CHECK(b.descriptor_counts.back() == 3);
  }
  SECTION("not split") {
    t.split_128m = 0;
    REQUIRE(fw::main() == 0);
    CHECK(b.descriptor_counts.back() == 2);
  }
}

TEST_CASE("a write is followed by CMD13 until the card is ready") {
  Board b;
  b.busy_polls = 3;
  with_job(b, job(JobKind::write, 4096, 4096));
  REQUIRE(fw::main() == 0);
  unsigned polls = 0;
  for (auto i = b.commands.rbegin(); i != b.commands.rend() && i->index == 13; ++i) ++polls;
  CHECK(polls == 4);
  const auto issue = marks(b, hal::Event::request_issue), end = marks(b, hal::Event::request_end);
  CHECK(end[0].at_ns - issue[0].at_ns >= (32 + 64 + 128) * 1000);  // doubling from 32 us
}

TEST_CASE("an fsync flushes the cache after every so many writes and is nothing without a cache") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 8 * 4096);
  d.fsync_every = 2;
  JobTable& t = with_job(b, d);
  SECTION("cache on") {
    REQUIRE(fw::main() == 0);
    CHECK(switches(b, 32) == std::vector<unsigned>{1, 1, 1, 1});
  }
  SECTION("cache off") {
    t.enable_cache = 0;
    REQUIRE(fw::main() == 0);
    CHECK(switches(b, 32).empty());
  }
  unsigned syncs = 0;
  for (const auto& m : marks(b, hal::Event::io_begin)) syncs += (m.a & 0xFF) == 3;
  CHECK(syncs == 4);
}

TEST_CASE("one data error is cured by a retry, two fail the I/O") {
  Board b;
  unsigned faults = GENERATE(1, 2);
  const bool fails = faults == 2;
  JobTable& t = with_job(b, job(JobKind::read, 4096, 8192));
  b.data_crc_fault = [&](unsigned index, std::uint32_t) { return index == 18 && faults && faults--; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == (fails ? 1 : 0));
  CHECK(b.count_commands(12) == (fails ? 2 : 1));
  CHECK(b.count_commands(18) == 3);
  const auto done = marks(b, hal::Event::job_done);
  CHECK(done.at(0).a == (fails ? static_cast<std::uint64_t>(MmcError::data_crc) : 0));
}

TEST_CASE("a request without an interrupt is timed out, reported and retried") {
  Board b;
  unsigned lost = 1;
  JobTable& t = with_job(b, job(JobKind::read, 4096, 4096));
  b.lost = [&](unsigned index) { return index == 18 && lost && lost--; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK_FALSE(marks(b, hal::Event::driver_error).empty());
  const auto issue = marks(b, hal::Event::request_issue), end = marks(b, hal::Event::request_end);
  CHECK(end[0].at_ns - issue[0].at_ns > 2'000'000'000);  // twice request_timeout_ms
  CHECK(end[0].at_ns - issue[0].at_ns < 2'100'000'000);
}

TEST_CASE("a job at depth eight keeps eight I/Os in flight and jobs take turns") {
  Board b;
  JobDef d = job(JobKind::randread, 4096, 64 * 4096);
  d.iodepth = 8;
  JobTable& t = with_job(b, d);
  t.jobs[1] = d;
  t.jobs[1].offset = d.size;
  t.job_count = 2;
  REQUIRE(fw::main() == 0);
  int now = 0, most = 0;
  std::vector<bool> seen(128);
  for (const auto& m : b.marks) {
    if (m.what == hal::Event::io_begin) most = std::max(most, ++now), seen[m.b / 4096] = true;
    if (m.what == hal::Event::io_end) --now;
  }
  CHECK(now == 0);
  CHECK(most >= 8);
  CHECK(most <= 16);
  CHECK(std::count(seen.begin(), seen.end(), true) == 128);
  CHECK(t.done == 1);
}

TEST_CASE("a time-based job runs for its time") {
  Board b;
  JobDef d = job(JobKind::read, 4096, 4096);
  d.time_based = 1;
  d.runtime_ns = 1'000'000;
  with_job(b, d);
  REQUIRE(fw::main() == 0);
  const auto begin = marks(b, hal::Event::io_begin), end = marks(b, hal::Event::io_end);
  const std::uint64_t run = end.back().at_ns - begin.front().at_ns;
  CHECK(run >= 900'000);
  CHECK(run <= 1'100'000);
}

TEST_CASE("a bad job table ends with its own code and starts nothing") {
  Board b;
  JobTable& t = with_job(b, job(JobKind::read, 4096, 4096));
  int expected = 0;
  SECTION("magic") { t.magic = 0, expected = static_cast<int>(Status::bad_magic); }
  SECTION("limits") { t.max_segs = 0, expected = static_cast<int>(Status::bad_limits); }
  SECTION("page size") { t.page_bytes = 5000, expected = static_cast<int>(Status::bad_memory); }
  SECTION("buffer offset") { t.buffer_byte_offset = 2, expected = static_cast<int>(Status::bad_memory); }
  SECTION("job") { t.jobs[0].iodepth = 0, expected = static_cast<int>(Status::bad_job); }
  SECTION("pool") { t.pool_bytes = 64, expected = static_cast<int>(Status::pool_too_small); }
  CHECK(fw::main() == expected);
  CHECK(b.commands.empty());
  CHECK(t.done == 0);
}

TEST_CASE("buffers that do not fit and regions beyond the card are found before the first I/O") {
  Board b;
  JobTable& t = with_job(b, job(JobKind::read, 4096, 4096));
  SECTION("buffers") {
    t.buffer_bytes = 2048;
    CHECK(fw::main() == static_cast<int>(Status::buffers_too_small));
  }
  SECTION("region") {
    t.jobs[0].offset = 0x03A3'E000ull * 512;
    CHECK(fw::main() == static_cast<int>(Status::bad_job));
  }
  CHECK(marks(b, hal::Event::io_begin).empty());
}
