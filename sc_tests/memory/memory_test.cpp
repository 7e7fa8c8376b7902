// Data, address space and TLM answers of the memory targets.
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>

#include "models/memory/dram.hpp"
#include "models/memory/sram.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

struct Initiator : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
  explicit Initiator(sc_core::sc_module_name n) : sc_module(n) {}
  sc_time delay;
  tlm::tlm_response_status access(bool is_write, std::uint64_t address, void* data, unsigned bytes) {
    tlm::tlm_generic_payload t;
    is_write ? t.set_write() : t.set_read();
    t.set_address(address);
    t.set_data_ptr(static_cast<unsigned char*>(data));
    t.set_data_length(bytes);
    t.set_streaming_width(bytes);
    delay = sc_time();
    socket->b_transport(t, delay);
    return t.get_response_status();
  }
};

}  // namespace

TEST_CASE("DRAM answers at 0x4000_0000 and above 4 GiB, and nowhere else") {
  ClockDomain clock("axi", 200e6);
  Dram dram("dram", clock, DramParams{});
  Initiator cpu("cpu");
  cpu.socket.bind(dram.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const std::uint64_t gib = 1ULL << 30;
  for (const std::uint64_t a : {kDramBase, kDramBase + 2 * gib - 8, 4 * gib, 6 * gib - 8}) {
    std::uint64_t out = a ^ 0x0123'4567'89AB'CDEF, in = 0;
    CHECK(cpu.access(true, a, &out, 8) == tlm::TLM_OK_RESPONSE);
    CHECK(cpu.access(false, a, &in, 8) == tlm::TLM_OK_RESPONSE);
    CHECK(in == out);
    CHECK(std::memcmp(dram.ptr(a, 8), &out, 8) == 0);
  }
  std::uint64_t x = 0;
  for (const std::uint64_t a :
       {kDramBase - 8, kDramBase + 2 * gib - 4, 4 * gib - 4, 6 * gib, ~std::uint64_t{7}})
    CHECK(cpu.access(false, a, &x, 8) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(dram.ptr(kDramBase + 2 * gib - 4, 8) == nullptr);
}

TEST_CASE("untouched memory costs nothing and reads as zero") {
  HostMemory m({{0x4000'0000, 1ULL << 36}});
  CHECK(m.resident_bytes() == 0);
  *m.ptr(0x4000'0000 + (1ULL << 35), 1) = std::byte{1};
  CHECK(m.resident_bytes() <= 2 << 20);  // one page, or one huge page
  CHECK(*m.ptr(0x4000'0000 + (1ULL << 35) + 1, 1) == std::byte{0});
}

TEST_CASE("overlapping memory banks are refused") {
  CHECK_THROWS_AS(HostMemory({{0, 4096}, {4095, 4096}}), std::invalid_argument);
}

TEST_CASE("SRAM by b_transport takes first beat latency and one A per beat") {
  ClockDomain clock("axi", 200e6);
  Sram sram("sram", clock, SramParams{});
  Initiator cpu("cpu");
  cpu.socket.bind(sram.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::uint64_t data[2] = {1, 2};
  cpu.access(true, 0, data, 16);
  CHECK(cpu.delay == sc_time((2 + 1) * 5, sc_core::SC_NS));
  cpu.access(false, 0, data, 16);
  CHECK(cpu.delay == sc_time((4 + 2) * 5, sc_core::SC_NS));
}

TEST_CASE("a direct memory pointer covers the bank that holds the address") {
  ClockDomain clock("axi", 200e6);
  Dram dram("dram", clock, DramParams{});
  Initiator cpu("cpu");
  cpu.socket.bind(dram.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  tlm::tlm_generic_payload t;
  tlm::tlm_dmi dmi;
  t.set_address(0x1'2345'6789);
  REQUIRE(cpu.socket->get_direct_mem_ptr(t, dmi));
  CHECK(dmi.get_start_address() == 0x1'0000'0000);
  CHECK(dmi.get_end_address() == 0x1'7FFF'FFFF);
  CHECK(reinterpret_cast<std::byte*>(dmi.get_dmi_ptr()) == dram.ptr(0x1'0000'0000, 1));
  t.set_address(0x1000);
  CHECK_FALSE(cpu.socket->get_direct_mem_ptr(t, dmi));
}
