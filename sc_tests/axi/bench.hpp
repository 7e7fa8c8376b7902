// One AXI system: masters, interconnect, SRAM; and a client that notes when things happen, in cycles.
#pragma once

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/axi/interconnect.hpp"
#include "models/axi/master_port.hpp"
#include "models/memory/sram.hpp"
#include "sc_tests/catch.hpp"

namespace axi_test {

using namespace vp;
using Transfer = AxiMasterPort::Transfer;

constexpr double kHz = 200e6;  // A = 5 ns
constexpr std::uint64_t kPeriodPs = 5000;
constexpr std::uint64_t kSram = 0x1000'0000;

inline std::uint64_t to_cycles(sc_time t) {
  REQUIRE(t.value() % kPeriodPs == 0);
  return t.value() / kPeriodPs;
}

struct Recorder : AxiMasterPort::Client {
  struct Seen {
    const Transfer* transfer;
    std::uint64_t cycle;
  };
  std::vector<Seen> left, done, issued;
  void axi_left(Transfer& t) override { left.push_back({&t, to_cycles(sc_core::sc_time_stamp())}); }
  void axi_done(Transfer& t) override { done.push_back({&t, to_cycles(sc_core::sc_time_stamp())}); }
  void axi_issued(Transfer& t) override { issued.push_back({&t, to_cycles(sc_core::sc_time_stamp())}); }
};

struct System {
  Context ctx;
  ClockDomain clock{"axi", kHz};
  InterconnectParams fabric_params;
  SramParams sram_params;
  std::vector<AxiMasterParams> master_params;
  std::unique_ptr<AxiInterconnect> fabric;
  std::unique_ptr<Sram> sram;
  std::vector<std::unique_ptr<AxiMasterPort>> ports;
  std::deque<Recorder> clients;
  std::deque<Transfer> transfers;
  std::vector<std::byte> buffer = std::vector<std::byte>(1 << 16);

  explicit System(std::size_t masters = 1) : master_params(masters) {}

  void build() {
    fabric = std::make_unique<AxiInterconnect>("fabric", ctx, clock, fabric_params);
    sram = std::make_unique<Sram>("sram", clock, sram_params);
    for (std::size_t i = 0; i < master_params.size(); ++i) {
      const std::string name{'m', static_cast<char>('0' + i)};
      ports.push_back(std::make_unique<AxiMasterPort>(name.c_str(), ctx, clock, master_params[i]));
      const unsigned m = fabric->add_master(name, static_cast<unsigned>(master_params[i].qos));
      ports[i]->socket.bind(fabric->master_socket(m));
      ports[i]->set_client(clients.emplace_back());
    }
    const unsigned t = fabric->add_target("sram", kSram, sram_params.size);
    fabric->target_socket(t).bind(sram->socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  Transfer& start(bool is_write, std::uint64_t address, std::uint32_t bytes, std::size_t master = 0) {
    Transfer& t = transfers.emplace_back();
    t.is_write = is_write;
    t.address = address;
    t.bytes = bytes;
    t.data = buffer.data();
    ports[master]->start(t);
    return t;
  }
  void run() { sc_core::sc_start(); }
  AxiMasterPort& port() { return *ports[0]; }
};

}  // namespace axi_test
