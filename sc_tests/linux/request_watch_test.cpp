#include "platform/linux/request_watch.hpp"

#include <vector>

#include "guest_memory.hpp"
#include "models/core/clock.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;
using namespace vp::guest;

namespace {

sc_time ns(std::uint64_t n) { return from_ps(n * 1000); }

struct Watched {
  GuestMemory memory;
  SpanRecorder spans;
  RequestWatch watch{spans, 0x200, memory.pointer()};
  std::vector<RequestRecord> done;
  Watched() {
    spans.on_request_done([this](const RequestRecord& r) { done.push_back(r); });
  }
  void write(std::uint32_t offset, std::uint32_t bytes, std::uint64_t value, std::uint64_t at) {
    watch.write(offset, bytes, value, ns(at));
  }
};

}  // namespace

TEST_CASE("a data command begins a request, its Transfer Complete ends it") {
  Watched w;
  w.write(0x04, 2, 0x7200, 10);  // BLOCK_SIZE 512, SDMA boundary bits beside it
  w.write(0x06, 2, 16, 20);      // BLOCK_COUNT
  w.write(0x08, 4, 0x1234, 30);  // ARGUMENT
  w.write(0x0C, 2, 0x0037, 40);  // TRANSFER_MODE
  w.write(0x0E, 2, 25 << 8 | 0x3A, 50);
  CHECK(w.spans.requests_begun() == 1);
  w.spans.hardware_begin(SpanRecorder::kLegacyTag, ns(55));
  w.spans.hardware_end(SpanRecorder::kLegacyTag, kRootNode);
  w.write(0x30, 4, 0x1, 60);  // Command Complete alone does not end it
  CHECK(w.done.empty());
  w.write(0x30, 4, 0x2, 90);
  REQUIRE(w.done.size() == 1);
  CHECK(w.done[0].is_write);
  CHECK(w.done[0].lba == 0x1234);
  CHECK(w.done[0].bytes == 16 * 512);
  CHECK(w.done[0].begin == ns(50));
  CHECK(w.done[0].end == ns(90));
  CHECK(w.done[0].times.total() == (w.done[0].end - w.done[0].begin).value());
}

TEST_CASE("mode and command in one 32-bit write begin a request too, and an error ends it") {
  Watched w;
  w.write(0x04, 4, 8 << 16 | 512, 10);
  w.write(0x0C, 4, std::uint64_t{18} << 24 | 0x3Au << 16 | 0x33, 20);
  CHECK(w.spans.requests_begun() == 1);
  w.write(0x32, 2, 0x20, 30);  // data CRC error acknowledged
  REQUIRE(w.done.size() == 1);
  CHECK_FALSE(w.done[0].is_write);
  CHECK(w.done[0].bytes == 8 * 512);
}

TEST_CASE("commands without user data begin nothing") {
  Watched w;
  for (const unsigned index : {6u, 8u, 13u, 21u, 12u, 23u}) w.write(0x0E, 2, index << 8 | 0x3A, 10);
  CHECK(w.spans.requests_begun() == 0);
}

TEST_CASE(
    "a doorbell begins a request per data task, and the completion notice ends exactly those it names") {
  Watched w;
  const std::uint64_t list = GuestMemory::kBase + 0x4000;
  w.write(0x200 + 0x20, 4, list, 1);
  w.write(0x200 + 0x24, 4, 0, 1);
  w.write(0x200 + 0x08, 4, 0x1101, 1);  // enabled, 128-bit task descriptors: slots of 32 bytes
  // Task descriptor: read flag bit 12, blocks in 31:16, address in 63:32 (JESD84-B51 annex B).
  w.memory.put(list + 3 * 32, std::uint64_t{0x2F} | 1 << 12 | 8ULL << 16 | 700ULL << 32);
  w.memory.put(list + 5 * 32, std::uint64_t{0x2F} | 256ULL << 16 | 900ULL << 32);
  w.write(0x200 + 0x28, 4, 1U << 3 | 1U << 5 | 1U << 31, 100);  // and a direct command
  CHECK(w.spans.requests_begun() == 2);
  w.write(0x200 + 0x2C, 4, 1U << 5, 200);
  REQUIRE(w.done.size() == 1);
  CHECK(w.done[0].is_write);
  CHECK(w.done[0].bytes == 256 * 512);
  CHECK(w.done[0].lba == 900);
  w.write(0x200 + 0x2C, 4, 1U << 3 | 1U << 5, 300);
  REQUIRE(w.done.size() == 2);
  CHECK_FALSE(w.done[1].is_write);
  CHECK(w.done[1].lba == 700);
  CHECK(w.done[1].bytes == 4096);
}

TEST_CASE("switching the queue off gives up what was open") {
  Watched w;
  w.write(0x200 + 0x08, 4, 0x1001, 1);
  w.write(0x200 + 0x20, 4, GuestMemory::kBase, 1);
  w.write(0x200 + 0x28, 4, 0x3, 10);
  w.write(0x200 + 0x08, 4, 0x1000, 20);
  CHECK(w.done.size() == 2);
}

namespace {

/// A DW-MMC with 64-bit descriptors as Linux drives it: IDSTS at 0x90.
struct WatchedDwmmc {
  GuestMemory memory;
  SpanRecorder spans;
  RequestWatch watch{spans, 0, memory.pointer(), 0x90};
  std::vector<RequestRecord> done;
  WatchedDwmmc() {
    spans.on_request_done([this](const RequestRecord& r) { done.push_back(r); });
    write(0x00, 1u << 25 | 1u << 5 | 1u << 4, 0);  // CTRL: USE_IDMAC, DMA_ENABLE, INT_ENABLE
  }
  void write(std::uint32_t offset, std::uint64_t value, std::uint64_t at) {
    watch.write(offset, 4, value, ns(at));
  }
  void command(unsigned index, bool data, std::uint64_t at) {
    write(0x2C, 1u << 31 | 1u << 29 | (data ? 1u << 9 : 0) | 1u << 6 | index, at);
  }
};

}  // namespace

TEST_CASE("DW-MMC: a request without CMD23 ends when data, IDMAC and its CMD12 are acknowledged") {
  WatchedDwmmc w;
  w.write(0x20, 16 * 512, 10);  // BYTCNT
  w.write(0x28, 0x1234, 20);    // CMDARG
  w.command(25, true, 50);
  CHECK(w.spans.requests_begun() == 1);
  w.write(0x44, 1u << 2, 60);  // CMD_DONE of CMD25
  w.write(0x90, 1u << 0, 70);  // TI
  w.write(0x44, 1u << 3, 80);  // DATA_OVER
  CHECK(w.done.empty());
  w.command(12, false, 85);
  w.write(0x44, 1u << 2, 90);
  REQUIRE(w.done.size() == 1);
  CHECK(w.done[0].is_write);
  CHECK(w.done[0].lba == 0x1234);
  CHECK(w.done[0].bytes == 16 * 512);
  CHECK(w.done[0].begin == ns(50));
  CHECK(w.done[0].end == ns(90));
}

TEST_CASE("DW-MMC: with CMD23, and for one block, data and IDMAC are enough, and an error ends a request") {
  WatchedDwmmc w;
  w.write(0x20, 8 * 512, 10);
  w.command(23, false, 20);
  w.command(18, true, 30);
  w.write(0x44, 1u << 3, 40);
  w.write(0x90, 1u << 1, 50);  // RI
  REQUIRE(w.done.size() == 1);
  CHECK_FALSE(w.done[0].is_write);
  w.write(0x20, 512, 60);
  w.command(17, true, 70);
  w.write(0x90, 1u << 1, 80);
  w.write(0x44, 1u << 3, 90);
  CHECK(w.done.size() == 2);
  w.command(18, true, 100);
  w.write(0x44, 1u << 7, 110);  // data CRC error
  CHECK(w.done.size() == 3);
  w.command(8, true, 120);  // EXT_CSD is no request
  w.write(0x44, 1u << 3, 130);
  CHECK(w.spans.requests_begun() == 3);
}
