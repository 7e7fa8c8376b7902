#include <sys/mman.h>
#include <unistd.h>

#include "models/memory/dram.hpp"
#include "platform/linux/stream.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

TEST_CASE(
    "memory backed by another process's file keeps its pointers, and what the file leaves out is gone") {
  constexpr std::uint64_t kPage = 4096;
  HostMemory memory({{0, 64 * kPage}});
  std::byte* const before = memory.ptr(16 * kPage, kPage);
  const guest::Fd file(::memfd_create("guest", 0));
  REQUIRE(::ftruncate(file.get(), 64 * kPage) == 0);
  const char text[] = "from the other side";
  REQUIRE(::pwrite(file.get(), text, sizeof text, 16 * kPage) == static_cast<ssize_t>(sizeof text));
  memory.back_with({8 * kPage, 40 * kPage}, file.get(), 8 * kPage);
  CHECK(memory.ptr(16 * kPage, kPage) == before);
  CHECK(std::memcmp(before, text, sizeof text) == 0);
  before[0] = std::byte{'F'};
  char seen = 0;
  REQUIRE(::pread(file.get(), &seen, 1, 16 * kPage) == 1);
  CHECK(seen == 'F');
  CHECK(memory.ptr(7 * kPage, 1) == nullptr);
  CHECK(memory.ptr(48 * kPage - 1, 1) != nullptr);
  CHECK(memory.ptr(48 * kPage, 1) == nullptr);
  CHECK_THROWS_AS(memory.back_with({0, kPage}, file.get(), 0), std::invalid_argument);
}
