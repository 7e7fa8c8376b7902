#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "sc_tests/cpu/bench.hpp"

using namespace bench;
using Times = std::vector<std::uint64_t>;

TEST_CASE("claim gives the lowest pending enabled line, and blocks it until complete") {
  Platform p;
  CHECK_THROWS_AS(p.intc.set_irq(32, true), std::logic_error);
  p.core([&] {
    hal::write32(kIntcBase + intc::kEnable, 0x8000'0028);  // lines 3, 5, 31
    CHECK(hal::read32(kIntcBase + intc::kEnable) == 0x8000'0028);
    CHECK(hal::read32(kIntcBase + intc::kClaim) == 0);
    p.intc.set_irq(2, true);  // not enabled
    CHECK_FALSE(p.intc.output.level());
    p.intc.set_irq(31, true);
    p.intc.set_irq(5, true);
    p.intc.set_irq(3, true);
    CHECK(p.intc.output.level());
    CHECK(hal::read32(kIntcBase + intc::kPending) == 0x8000'002C);
    CHECK(hal::read32(kIntcBase + intc::kClaim) == 3 + 1);
    CHECK(hal::read32(kIntcBase + intc::kClaim) == 5 + 1);
    CHECK(hal::read32(kIntcBase + intc::kClaim) == 31 + 1);
    CHECK_FALSE(p.intc.output.level());  // all claimed, though still high
    CHECK(hal::read32(kIntcBase + intc::kClaim) == 0);
    hal::write32(kIntcBase + intc::kComplete, 5 + 1);  // its line is still high
    CHECK(p.intc.output.level());
    p.intc.set_irq(5, false);
    CHECK_FALSE(p.intc.output.level());
    hal::write32(kIntcBase + intc::kComplete, 0);   // no line
    hal::write32(kIntcBase + intc::kComplete, 33);  // no line
    CHECK_FALSE(p.intc.output.level());
    hal::write32(kIntcBase + intc::kEnable, 0);
    hal::write32(kIntcBase + intc::kComplete, 3 + 1);
    CHECK_FALSE(p.intc.output.level());
    hal::write32(kIntcBase + intc::kEnable, 1u << 3);
    CHECK(p.intc.output.level());
    return 0;
  });
  sc_core::sc_start();
  CHECK(p.cores[0]->halted());
}

TEST_CASE("a register access of the interrupt controller takes the core side and its bus cycles") {
  Platform p;
  p.core([&] {
    hal::read32(kIntcBase + intc::kPending);
    CHECK(hal::now_ns() == 20 + 2 * 10);
    hal::write32(kIntcBase + intc::kEnable, 1);
    CHECK(hal::now_ns() == 40 + 10 + 2 * 10);
    return 0;
  });
  sc_core::sc_start();
  CHECK(p.cores[0]->halted());
}

TEST_CASE("an interrupt goes from a device through the controller to the handler and back") {
  Platform p;
  struct Self {
    Platform& p;
    Times lines, entered;
  } self{p, {}, {}};
  NativeCore& cpu = p.core([&] {
    hal::set_irq_handler(
        [](void* context) {
          auto& s = *static_cast<Self*>(context);
          s.entered.push_back(hal::now_ns());
          while (const std::uint32_t number = hal::read32(kIntcBase + intc::kClaim)) {
            s.lines.push_back(number - 1);
            s.p.intc.set_irq(number - 1, false);
            hal::write32(kIntcBase + intc::kComplete, number);
          }
        },
        &self);
    hal::write32(kIntcBase + intc::kEnable, ~0u);
    hal::irq_enable(true);
    hal::wait_for_interrupt();
    return 0;
  });
  p.intc.output.connect(cpu, 0);
  p.at(5000, [&] {
    p.intc.set_irq(9, true);
    p.intc.set_irq(4, true);
  });
  sc_core::sc_start();
  CHECK(self.lines == Times{4, 9});
  CHECK(self.entered == Times{5000 + 500 + 1000});
  CHECK(cpu.counters().interrupts == 1);
  CHECK(cpu.halted());
}

TEST_CASE("MTIME is computed from its frequency when it is read") {
  TimerParams t;
  t.tick_hz = 24e6;  // period 41'667 ps at the kernel's resolution
  Platform p(t);
  p.core([&] {
    hal::delay_ns(1'000'000);
    // the read reaches the register 20 ns later
    CHECK(hal::read64(kTimerBase + timer::kMtime) == 1'000'020'000ULL / 41'667);
    hal::write32(kTimerBase + timer::kMtime, 0);  // read only
    CHECK(hal::read32(kTimerBase + timer::kMtime) ==
          (1'000'020'000ULL + 20'000 + 10'000 + 20'000 + 20'000) / 41'667);
    return 0;
  });
  sc_core::sc_start();
  CHECK(p.cores[0]->halted());
}

TEST_CASE("the timer interrupt rises when MTIME reaches MTIMECMP and falls when that is moved") {
  TimerParams t;
  t.tick_hz = 100e6;  // 10 ns
  Platform p(t);
  NativeCore& cpu = p.core([&] {
    CHECK(hal::read64(kTimerBase + timer::kMtimecmp) == ~0ULL);
    hal::write64(kTimerBase + timer::kMtimecmp, 9999);  // replaced before it comes
    hal::write64(kTimerBase + timer::kMtimecmp, 300);   // likewise, though it would come first
    hal::write64(kTimerBase + timer::kMtimecmp, 500);   // 5000 ns
    hal::wait_for_interrupt();
    CHECK(hal::now_ns() == 5000 + 500);
    hal::write64(kTimerBase + timer::kMtimecmp, 1000);
    CHECK_FALSE(p.timer->irq.level());
    hal::wait_for_interrupt();
    CHECK(hal::now_ns() == 10'000 + 500);
    hal::write64(kTimerBase + timer::kMtimecmp, ~0ULL);
    CHECK_FALSE(p.timer->irq.level());
    hal::write64(kTimerBase + timer::kMtimecmp, 3);  // long past: at once
    CHECK(p.timer->irq.level());
    return 0;
  });
  p.timer->irq.connect(cpu, 0);
  sc_core::sc_start();
  CHECK(cpu.halted());
  CHECK(cpu.counters().wakes == 2);
}

TEST_CASE("accesses that the register blocks cannot serve are answered with an error") {
  Platform p;
  sc_time delay;
  tlm::tlm_generic_payload payload;
  unsigned char data[16] = {};
  const auto answer = [&](std::uint64_t address, unsigned bytes) {
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(data);
    payload.set_data_length(bytes);
    payload.set_streaming_width(bytes);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    p.bus.to_intc->b_transport(payload, delay);
    return payload.get_response_status();
  };
  p.core([&] {
    CHECK(answer(0, 4) == tlm::TLM_OK_RESPONSE);
    CHECK(answer(0, 8) == tlm::TLM_OK_RESPONSE);
    CHECK(answer(0, 3) == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(answer(0, 16) == tlm::TLM_BURST_ERROR_RESPONSE);
    CHECK(answer(0xFFE, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    CHECK(answer(0x1000, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return 0;
  });
  sc_core::sc_start();
  CHECK(p.cores[0]->halted());
}

TEST_CASE("every register of the interrupt controller and the timer has its reset value") {
  Platform p;
  for (const RegDef& r : intc::kRegisters) CHECK(p.intc.registers().get(r.offset) == r.reset);
  for (const RegDef& r : timer::kRegisters) CHECK(p.timer->registers().get(r.offset) == r.reset);
}

TEST_CASE("the waveform shows the core running, in its handler and asleep") {
  const std::string file =
      (std::filesystem::temp_directory_path() / fmt::format("vp_cpu_wave_{}.vcd", ::getpid())).string();
  Platform p;
  Handler h;
  p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::cost(hal::Cost::irq_handler);  // 1500
    hal::wait_for_interrupt();
    hal::halt(0);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(5000);
  p.ctx.trace.open(file);
  sc_core::sc_start();
  p.ctx.trace.close(sc_core::sc_time_stamp());
  std::string vcd;
  std::FILE* f = std::fopen(file.c_str(), "rb");
  REQUIRE(f);
  for (int c; (c = std::fgetc(f)) != EOF;) vcd += static_cast<char>(c);
  std::fclose(f);
  std::remove(file.c_str());
  std::remove((file.substr(0, file.size() - 4) + ".gtkw").c_str());
  const auto code = [&](const std::string& name) {  // "$var kind width code name $end"
    const std::size_t end = vcd.find(fmt::format(" {} $end", name), vcd.find("$scope module cpu "));
    const std::size_t begin = vcd.rfind(' ', end - 1) + 1;
    return vcd.substr(begin, end - begin);
  };
  const std::string s = code("state"), i = code("irq");
  const auto at = [](std::uint64_t ns_) { return fmt::format("#{}\n", ns_ * 1000); };
  CHECK(vcd.find(fmt::format("srun {}\n", s)) != std::string::npos);
  CHECK(vcd.find(fmt::format("{}swfi {}\n{}", at(1500), s, at(5000))) != std::string::npos);
  CHECK(vcd.find(fmt::format("{}1{}\nsrun {}\n{}sirq {}\n{}0{}\n{}srun {}\n", at(5000), i, s, at(5500), s,
                             at(6510), i, at(6810), s)) != std::string::npos);
}
