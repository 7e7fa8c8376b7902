// The operating system's path: read-ahead windows, cache books, what synchronous writes send, costs per page, splitting.
#include <algorithm>
#include <cstring>
#include <set>

#include "firmware/app/main.hpp"
#include "firmware/os/commit.hpp"
#include "firmware/os/page_cache.hpp"
#include "firmware/os/readahead.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/fake_board.hpp"

using namespace fw;
using fake::Board;

namespace {

struct Cached final : CachedPages {
  std::set<std::uint64_t> pages;
  bool cached(std::uint64_t index) const override { return pages.count(index) != 0; }
};

struct Window {
  std::uint64_t start, pages, mark;
  bool operator==(const Window&) const = default;
};
std::ostream& operator<<(std::ostream& o, const Window& w) {
  return o << w.start << "+" << w.pages << "@" << w.mark;
}

/// What a reader of `calls` calls of `want` pages each, from page 0 on, sets off.
std::vector<Window> sequential(std::uint64_t largest, std::uint64_t io_pages, std::uint64_t want,
                               unsigned calls, ReadAhead::Hint hint = ReadAhead::Hint::none) {
  ReadAhead ra;
  ra.init(largest, io_pages, hint);
  Cached cache;
  std::set<std::uint64_t> marks;
  std::vector<Window> out;
  const auto take = [&](const RaWindow& w) {
    if (w.pages == 0) return;
    for (std::uint64_t p = w.start; p < w.start + w.pages; ++p) cache.pages.insert(p);
    marks.insert(w.mark);
    out.push_back({w.start, w.pages, w.mark});
  };
  for (std::uint64_t page = 0; page < calls * want; ++page) {
    const std::uint64_t left = want - page % want;
    if (!cache.cached(page)) take(ra.miss(page, left, cache));
    if (marks.erase(page)) take(ra.marked(page, left, cache));
    ra.read_to(page + 1);
  }
  return out;
}

constexpr std::uint64_t kMiB = 1 << 20;

/// A board with a small cache, and a copy of zeros to a place at 1 MiB.
JobTable& with_copy(Board& b, FileDef::Kind out, std::uint64_t record, std::uint64_t count) {
  JobTable& t = fake::table(b);
  t.os.cache_bytes = kMiB;
  t.os.read_ahead_bytes = 128 << 10;
  t.os.dirty_background_bytes = 256 << 10;
  t.os.dirty_limit_bytes = 512 << 10;
  t.os.max_io_bytes = 4 * kMiB;
  t.os.writeback_ios = 4;
  t.os.journal_start = 4 * kMiB;
  t.os.journal_bytes = kMiB;
  t.os.journal_blocks = 4;
  t.os.metadata_blocks = 2;
  t.os.metadata_start = 6 * kMiB;
  t.copy.active = 1;
  t.copy.ibs = t.copy.obs = record;
  t.copy.bytes = record * count;
  t.copy.out.kind = out;
  t.copy.out.start = kMiB;
  t.copy.out.limit = 3 * kMiB;
  if (out == FileDef::device) t.copy.out.size = t.copy.out.limit;
  return t;
}

std::uint64_t cost(const Board& b, hal::Cost c) { return b.costs[static_cast<std::size_t>(c)]; }

/// Requests in order: bytes (0: a flush) at sector.
std::vector<std::pair<std::uint64_t, std::uint64_t>> requests(const Board& b) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> out;
  for (const auto& m : b.marks)
    if (m.what == hal::Event::request_begin) out.emplace_back(m.c ? m.b : 0, m.c);
  return out;
}
using Requests = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

}  // namespace

TEST_CASE(
    "a sequential reader's windows grow from four pages to the largest, each begun at the mark of the one "
    "before") {
  // 128 KiB of 4 KiB pages, calls within one page: 4 pages (1 <= 32/32), then x4 below 32/16, x2 up to 32/2, then 32.
  CHECK(sequential(32, 128, 1, 100) ==
        std::vector<Window>{
            {0, 4, 1}, {4, 8, 4}, {12, 16, 12}, {28, 32, 28}, {60, 32, 60}, {92, 32, 92}, {124, 32, 124}});
  // 1024 KiB: 4 -> 16 (x4 below 16) -> 32, 64, 128 -> 256.
  CHECK(sequential(256, 128, 1, 600) == std::vector<Window>{{0, 4, 1},
                                                            {4, 16, 4},
                                                            {20, 32, 20},
                                                            {52, 64, 52},
                                                            {116, 128, 116},
                                                            {244, 256, 244},
                                                            {500, 256, 500},
                                                            {756, 256, 756}});
  // 128 KiB of 64 KiB pages: two pages; the first window is the largest at once, its mark half way.
  CHECK(sequential(2, 8, 1, 6) == std::vector<Window>{{0, 2, 1}, {2, 2, 2}, {4, 2, 4}, {6, 2, 6}});
}

TEST_CASE(
    "a larger first call opens a larger window, and one beyond the largest window is cut to the request "
    "limit") {
  CHECK(sequential(32, 128, 4, 8) == std::vector<Window>{{0, 8, 4}, {8, 16, 8}, {24, 32, 24}, {56, 32, 56}});
  CHECK(sequential(32, 128, 32, 3) ==
        std::vector<Window>{{0, 32, 16}, {32, 32, 32}, {64, 32, 64}, {96, 32, 96}});
  // 1 MiB calls with 512 KiB requests: windows of 128 pages
  CHECK(sequential(32, 128, 256, 1) == std::vector<Window>{{0, 128, 64}, {128, 128, 128}, {256, 128, 256}});
}

TEST_CASE("advice changes read-ahead: sequential doubles the window, random reads what is asked for") {
  CHECK(sequential(32, 128, 1, 130, ReadAhead::Hint::sequential) ==
        std::vector<Window>{
            {0, 4, 1}, {4, 8, 4}, {12, 16, 12}, {28, 32, 28}, {60, 64, 60}, {124, 64, 124}, {188, 64, 188}});
  CHECK(sequential(32, 128, 4, 2, ReadAhead::Hint::random) ==
        std::vector<Window>{{0, 4, RaWindow::kNoMark}, {4, 4, RaWindow::kNoMark}});
  CHECK(sequential(0, 128, 4, 1) == std::vector<Window>{{0, 1, RaWindow::kNoMark},
                                                        {1, 1, RaWindow::kNoMark},
                                                        {2, 1, RaWindow::kNoMark},
                                                        {3, 1, RaWindow::kNoMark}});
}

TEST_CASE("a read away from the last one is read as it is, and the next one after it starts a window") {
  ReadAhead ra;
  ra.init(32, 128, ReadAhead::Hint::none);
  Cached cache;
  RaWindow w = ra.miss(1000, 1, cache);
  CHECK((w.start == 1000 && w.pages == 1 && w.mark == RaWindow::kNoMark));
  ra.read_to(1001);
  w = ra.miss(1001, 1, cache);
  CHECK((w.start == 1001 && w.pages == 4 && w.mark == 1002));
  // behind a run of cached pages longer than the read: the track of a stream
  cache.pages = {4990, 4991, 4992, 4993, 4994, 4995};
  w = ra.miss(4996, 2, cache);
  CHECK((w.start == 4996 && w.pages == 8 && w.mark == 5003));
}

TEST_CASE("the cache takes frames in a ring, keeps what is dirty or in use, and forgets the oldest") {
  std::vector<std::uint64_t> memory(PageCache::table_bytes(4) / 8 + 1);
  PageCache c;
  c.init(memory.data(), 4);
  for (std::uint64_t p = 0; p < 4; ++p) CHECK(c.allocate(100 + p) == p);
  CHECK(c.find(103) == 3);
  CHECK(c.allocate(200) == 0);
  CHECK(c.find(100) == PageCache::kNone);
  c.set(1, PageCache::kDirty);
  CHECK(c.dirty() == 1);
  CHECK(c.allocate(201) == PageCache::kNone);
  c.clear(1, PageCache::kDirty);
  c.set(1, PageCache::kWriting);
  CHECK((c.dirty() == 0 && c.writing() == 1));
  CHECK(c.allocate(201) == PageCache::kNone);
  c.clear(1, PageCache::kWriting);
  CHECK(c.allocate(201) == 1);
  CHECK(c.find(101) == PageCache::kNone);
}

// What lies in the CPU's cache is what has come last: a page is as far away as the pages that have come after it.
TEST_CASE("a page's distance is the number of pages that have come after it, and coming again makes it 0") {
  std::vector<std::uint64_t> memory(PageCache::table_bytes(4) / 8 + 1);
  PageCache c;
  c.init(memory.data(), 4);
  for (std::uint32_t frame = 0; frame < 4; ++frame) {
    REQUIRE(c.allocate(100 + frame) == frame);
    c.arrived(frame);
  }
  for (std::uint32_t frame = 0; frame < 4; ++frame) CHECK(c.since(frame) == 3 - frame);
  c.arrived(0);
  CHECK(c.since(0) == 0);
  CHECK(c.since(1) == 3);
  CHECK(c.since(3) == 1);
}

TEST_CASE("a commit is journal run, flush, record by FUA or with a second flush, and the journal wraps") {
  OsConfig o{};
  o.journal_start = 8192;
  o.journal_bytes = 8 * 4096;
  o.journal_blocks = 4;
  o.fua = 1;
  Committer c;
  c.init(o, true, true);
  CommitPlan p = c.plan(FileSystem::ext4, true);
  REQUIRE(p.count == 3);
  CHECK((p.steps[0].offset == 8192 && p.steps[0].bytes == 5 * 4096));
  CHECK(p.steps[1].kind == CommitStep::Kind::flush);
  CHECK((p.steps[2].offset == 8192 + 5 * 4096 && p.steps[2].bytes == 4096 && p.steps[2].fua));
  p = c.plan(FileSystem::ext4, true);  // from block 6 of 8: two blocks, then three from the start
  REQUIRE(p.count == 4);
  CHECK((p.steps[0].offset == 8192 + 6 * 4096 && p.steps[0].bytes == 2 * 4096));
  CHECK((p.steps[1].offset == 8192 && p.steps[1].bytes == 3 * 4096));
  c.init(o, true, false);
  CHECK(c.plan(FileSystem::ext4, true).count == 4);
  CHECK(c.plan(FileSystem::ext4, false).count == 1);
  CHECK(c.plan(FileSystem::none, true).count == 1);
  c.init(o, false, true);  // no cache in the device: nothing to flush
  CHECK(c.plan(FileSystem::none, true).count == 0);
  p = c.plan(FileSystem::ext4, true);
  CHECK((p.count == 2 && !p.steps[1].fua));
}

TEST_CASE("an O_SYNC write that extends a file on ext4 sends data, journal, flush, record, flush") {
  Board b;
  JobTable& t = with_copy(b, FileDef::file, 65536, 2);
  t.copy.out.filesystem = static_cast<std::uint32_t>(FileSystem::ext4);
  t.copy.out.sync = 2;
  REQUIRE(fw::main() == 0);
  const std::uint64_t journal = 4 * kMiB / 512;
  CHECK(requests(b) == Requests{{2048, 65536},
                                {journal, 20480},
                                {0, 0},
                                {journal + 40, 4096},
                                {0, 0},
                                {2176, 65536},
                                {journal + 48, 20480},
                                {0, 0},
                                {journal + 88, 4096},
                                {0, 0}});
  CHECK((t.os_report.commits == 2 && t.os_report.flushes == 4 && t.os_report.journal_ios == 4));
  CHECK((t.copy.in_full == 2 && t.copy.out_full == 2 && t.copy.copied == 131072));
  CHECK(t.done == 1);
}

TEST_CASE("with reliable writes the commit record is one, and needs no flush behind it") {
  Board b;
  b.ext_csd[166] = 4;  // EN_REL_WR
  JobTable& t = with_copy(b, FileDef::file, 65536, 1);
  t.copy.out.filesystem = static_cast<std::uint32_t>(FileSystem::ext4);
  t.copy.out.sync = 2;
  t.os.fua = 1;
  REQUIRE(fw::main() == 0);
  CHECK(requests(b).size() == 4);
  std::vector<std::uint32_t> counts;
  for (const auto& s : b.commands)
    if (s.index == 23 && s.arg >> 31) counts.push_back(s.arg);
  CHECK(counts == std::vector<std::uint32_t>{0x8000'0008});
}

TEST_CASE(
    "an O_SYNC write without a journal is one data request and two metadata blocks, as the trace shows") {
  Board b;
  JobTable& t = with_copy(b, FileDef::file, 12288, 1);
  t.copy.out.filesystem = static_cast<std::uint32_t>(FileSystem::ext2);
  t.copy.out.sync = 2;
  t.enable_cache = 0;  // the trace has no flush
  REQUIRE(fw::main() == 0);
  CHECK(requests(b) == Requests{{2048, 12288}, {6 * kMiB / 512, 4096}, {7 * kMiB / 512, 4096}});
}

TEST_CASE("O_DSYNC over what is there needs no metadata, and a device node has none") {
  for (const bool node : {false, true}) {
    Board b;
    JobTable& t = with_copy(b, node ? FileDef::device : FileDef::file, 65536, 1);
    t.copy.out.filesystem = static_cast<std::uint32_t>(node ? FileSystem::none : FileSystem::ext4);
    t.copy.out.size = 3 * kMiB;
    t.copy.out.sync = node ? 2 : 1;
    REQUIRE(fw::main() == 0);
    CHECK(requests(b) == Requests{{2048, 65536}, {0, 0}});
  }
}

TEST_CASE("costs follow pages, bytes, calls and requests, each its own") {
  for (const std::uint32_t page : {4096u, 16384u, 65536u}) {
    INFO(page);
    Board b;
    JobTable& t = with_copy(b, FileDef::file, 131072, 2);
    t.page_bytes = page;
    t.os.cache_bytes = 2 * kMiB;
    t.max_req_bytes = 65536;
    t.copy.out.filesystem = static_cast<std::uint32_t>(FileSystem::none);
    t.copy.out.sync = 2;
    REQUIRE(fw::main() == 0);
    const std::uint64_t pages = 2 * 131072 / page;
    CHECK(cost(b, hal::Cost::page_add) == pages);
    CHECK(cost(b, hal::Cost::page_dirty) == pages);
    CHECK(cost(b, hal::Cost::page_writeback) == pages);
    CHECK(cost(b, hal::Cost::page_end) == pages);
    CHECK(cost(b, hal::Cost::dma_map) == pages);
    CHECK(cost(b, hal::Cost::copy_byte) == 2 * 131072);
    CHECK(cost(b, hal::Cost::zero_byte) == 2 * 131072);
    CHECK(cost(b, hal::Cost::syscall) == 4);  // two reads of zeros, two writes
    CHECK(cost(b, hal::Cost::copy_record) == 2);
    CHECK(cost(b, hal::Cost::io_build) == 4);      // two of data, two flushes
    CHECK(cost(b, hal::Cost::request_prep) == 6);  // 128 KiB is two requests of 64 KiB
    CHECK(requests(b).size() == 6);
  }
}

TEST_CASE("one call is split by the host's request size and by its segments") {
  Board b;
  JobTable& t = with_copy(b, FileDef::device, 262144, 1);
  t.copy.out.sync = 2;
  t.max_req_bytes = 131072;
  REQUIRE(fw::main() == 0);
  CHECK(requests(b) == Requests{{2048, 131072}, {2304, 131072}, {0, 0}});
  Board c;
  JobTable& u = with_copy(c, FileDef::device, 262144, 1);
  u.copy.out.sync = 2;
  u.max_segs = 16;
  u.max_seg_bytes = 4096;
  REQUIRE(fw::main() == 0);
  CHECK(requests(c).size() == 5);  // 16 segments of 4 KiB each, and the flush
}

TEST_CASE("writes beyond the dirty limit wait for write-back, and closing a device node writes the rest") {
  Board b;
  std::fill(b.medium.begin(), b.medium.end(), std::uint8_t{0xA5});
  JobTable& t = with_copy(b, FileDef::device, 65536, 32);
  REQUIRE(fw::main() == 0);
  CHECK(t.os_report.left_dirty_bytes == 0);
  CHECK(t.os_report.pages_written == 512);
  CHECK(t.os_report.flushes == 0);
  CHECK(std::all_of(b.medium.begin() + kMiB, b.medium.begin() + 3 * kMiB, [](auto v) { return v == 0; }));
  CHECK(b.medium[3 * kMiB] == 0xA5);
  CHECK(b.medium[kMiB - 1] == 0xA5);
}

TEST_CASE("a buffered file write leaves the system its dirty pages, fsync does not") {
  for (const std::uint32_t sync : {0u, 1u, 2u}) {
    Board b;
    JobTable& t = with_copy(b, FileDef::file, 65536, 6);
    t.copy.out.filesystem = static_cast<std::uint32_t>(FileSystem::ext4);
    t.copy.final_sync = sync;
    REQUIRE(fw::main() == 0);
    // 384 KiB: above 256 KiB write-back starts with all there is then; at most the background amount stays
    CHECK(t.os_report.left_dirty_bytes <= (sync ? 0u : 256u << 10));
    CHECK(t.os_report.pages_written + t.os_report.left_dirty_bytes / 4096 == 96);
    CHECK(t.os_report.commits == (sync ? 1u : 0u));
  }
}

TEST_CASE("a copy from a file through records of other sizes keeps every byte, and what stands behind it") {
  for (const bool direct : {false, true}) {
    INFO(direct);
    Board b;
    for (std::size_t i = 0; i < b.medium.size(); ++i)
      b.medium[i] = static_cast<std::uint8_t>(i * 7 + (i >> 9));
    const auto before = b.medium;
    JobTable& t = with_copy(b, FileDef::device, 4096, 1);
    t.copy.in.kind = FileDef::file;
    t.copy.in.start = 2 * kMiB;
    t.copy.in.size = t.copy.in.limit = 200'000;
    t.copy.in.offset = 512;
    t.copy.in.direct = direct;
    t.copy.bytes = ~std::uint64_t{0};
    t.copy.obs = 10'000;
    REQUIRE(fw::main() == 0);
    const std::size_t n = 200'000 - 512;  // 48 records of 4096 and 2880 bytes; 19 of 10000 and 9488
    CHECK((t.copy.in_full == 48 && t.copy.in_part == 1));
    CHECK((t.copy.out_full == 19 && t.copy.out_part == 1));
    CHECK(t.copy.copied == n);
    CHECK(std::memcmp(&b.medium[kMiB], &before[2 * kMiB + 512], n) == 0);
    CHECK(std::memcmp(&b.medium[kMiB + n], &before[kMiB + n], kMiB - n) == 0);
  }
}

TEST_CASE("O_DIRECT passes the cache by: no page of it, one I/O per call") {
  Board b;
  JobTable& t = with_copy(b, FileDef::device, 65536, 4);
  t.copy.out.direct = 1;
  REQUIRE(fw::main() == 0);
  CHECK(cost(b, hal::Cost::page_add) == 0);
  CHECK(cost(b, hal::Cost::copy_byte) == 0);
  CHECK(cost(b, hal::Cost::io_submit) == 4);
  CHECK(cost(b, hal::Cost::page_pin) == 64);
  CHECK(requests(b).size() == 4);
}

TEST_CASE("a page that cannot be read ends the copy with an error and no endless retry") {
  Board b;
  b.data_crc_fault = [](unsigned index, std::uint32_t) { return index == 18; };
  JobTable& t = with_copy(b, FileDef::none, 4096, 1);
  t.copy.in.kind = FileDef::device;
  t.copy.in.size = t.copy.in.limit = kMiB;
  t.copy.bytes = ~std::uint64_t{0};
  REQUIRE(fw::main() == 0);
  CHECK(t.errors >= 1);
  CHECK(t.copy.copied == 0);
}

TEST_CASE("buffered jobs read back what they wrote, from the cache and from the device") {
  Board b;
  JobTable& t = with_copy(b, FileDef::none, 4096, 1);
  t.copy.active = 0;
  t.job_count = 2;
  for (unsigned i = 0; i < 2; ++i) {
    JobDef& d = t.jobs[i];
    d.kind = i ? JobKind::randwrite : JobKind::write;
    d.block_bytes = i ? 3072 : 16384;  // parts of pages, and whole ones
    d.size = 3 * kMiB / 2 / d.block_bytes * d.block_bytes;
    d.offset = i * 4 * kMiB;
    d.iodepth = 1;
    d.verify = 1;
    d.buffered = 1;
    d.seed = 3 + i;
    d.rwmix_read = 50;
  }
  REQUIRE(fw::main() == 0);
  CHECK(t.done == 1);
  CHECK((t.errors == 0 && t.verify_errors == 0));
  CHECK(t.os_report.pages_read > 0);
}
