#include <numeric>

#include "sc_tests/cpu/bench.hpp"

using namespace bench;
using Times = std::vector<std::uint64_t>;

TEST_CASE("a register access takes its core side, then its path, and is seen between the two") {
  Platform p;
  p.bus.device_delay = ns(35);
  Times now;
  NativeCore& cpu = p.core([&] {
    hal::read32(kDevice);
    now.push_back(hal::now_ns());
    hal::write32(kDevice, 0);
    now.push_back(hal::now_ns());
    return 0;
  });
  sc_core::sc_start();
  CHECK(now == Times{20 + 35, 20 + 35 + 10 + 35});
  REQUIRE(p.bus.seen.size() == 2);
  CHECK(p.bus.seen[0].time_ns == 20);
  CHECK(p.bus.seen[1].time_ns == 20 + 35 + 10);
  CHECK(cpu.counters().mmio_reads == 1);
  CHECK(cpu.counters().mmio_writes == 1);
  CHECK(cpu.counters().mmio_time == ns(100));
  CHECK(cpu.counters().busy == ns(100));
}

TEST_CASE("register accesses are 8 to 64 bits wide and little-endian") {
  Platform p;
  p.bus.device_value = 0x8877665544332211;
  p.core([&] {
    CHECK(hal::read8(kDevice) == 0x11);
    CHECK(hal::read16(kDevice) == 0x2211);
    CHECK(hal::read32(kDevice) == 0x44332211);
    CHECK(hal::read64(kDevice) == 0x8877665544332211);
    hal::write8(kDevice + 1, 0xA1);
    hal::write16(kDevice + 2, 0xB1B2);
    hal::write32(kDevice + 4, 0xC1C2C3C4);
    hal::write64(kDevice + 8, 0xD1D2D3D4D5D6D7D8);
    return 0;
  });
  sc_core::sc_start();
  REQUIRE(p.bus.seen.size() == 8);
  const std::uint64_t written[] = {0xA1, 0xB1B2, 0xC1C2C3C4, 0xD1D2D3D4D5D6D7D8};
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(p.bus.seen[i].bytes == 1u << i);
    CHECK(p.bus.seen[4 + i].bytes == 1u << i);
    CHECK(p.bus.seen[4 + i].value == written[i]);
    CHECK(p.bus.seen[4 + i].address == kDevice + (1u << i));
  }
}

TEST_CASE("a register access keeps its address, width and value when an interrupt is taken on its way") {
  Platform p;
  Handler h;
  std::uint16_t got = 0;
  p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::write64(kDevice + 8, 0xD1D2D3D4D5D6D7D8);  // core side 0 to 10, interrupt at 5
    got = hal::read16(kDevice + 16);                // core side 20, interrupt 5 after its start
    return 0;
  });
  p.acknowledge_by_write();
  p.bus.device_value = 0x2211;
  p.raise_at(5);
  p.raise_at(1000 + 10 + 300 + 10 + 5);  // the first handler (entry, its write, exit), the write's own 10
  sc_core::sc_start();
  REQUIRE(p.bus.seen.size() == 4);
  CHECK(p.bus.seen[0].address == kDevice);  // the handlers' acknowledgement
  CHECK(p.bus.seen[1].address == kDevice + 8);
  CHECK(p.bus.seen[1].is_write);
  CHECK(p.bus.seen[1].bytes == 8);
  CHECK(p.bus.seen[1].value == 0xD1D2D3D4D5D6D7D8);
  CHECK(p.bus.seen[2].address == kDevice);
  CHECK(p.bus.seen[3].address == kDevice + 16);
  CHECK_FALSE(p.bus.seen[3].is_write);
  CHECK(p.bus.seen[3].bytes == 2);
  CHECK(got == 0x2211);
}

TEST_CASE("an access that nobody answers is a finding and reads as all ones") {
  Platform p;
  p.core([&] {
    CHECK(hal::read16(0x999000) == 0xFFFF);
    CHECK(hal::read64(0x999000) == ~0ULL);
    hal::write32(0x999004, 1);
    return 0;
  });
  sc_core::sc_start();
  CHECK(p.ctx.findings.count("cpu.bus_error") == 3);
  CHECK(p.ctx.findings.kept()[2].addresses == std::vector<std::uint64_t>{0x999004});
  CHECK(p.ctx.findings.kept()[2].time == ns(20 + 20 + 10));
}

TEST_CASE(
    "an interrupt in the middle of priced work starts its handler there and the rest of the work follows") {
  Platform p;
  Handler h;
  std::uint64_t end = 0;
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::cost(hal::Cost::request_prep);  // 0 to 8000
    end = hal::now_ns();
    return 0;
  });
  p.acknowledge_by_write();
  p.bus.device_delay = ns(35);
  p.raise_at(3000);
  sc_core::sc_start();
  CHECK(h.entered_ns == Times{3000 + 1000});
  CHECK(p.bus.seen[0].time_ns == 4000 + 10);
  CHECK(end == 8000 + 1000 + 10 + 35 + 300);
  CHECK(cpu.counters().interrupts == 1);
  CHECK(cpu.counters().busy == ns(end));
  CHECK(cpu.counters().cost_time[static_cast<std::size_t>(hal::Cost::request_prep)] == ns(8000));
}

TEST_CASE("an acknowledged level line is low before the next instruction: no second entry") {
  Platform p;
  Handler h;
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::irq_enable(true);
    for (int i = 0; i < 100; ++i) {
      hal::write32(kDevice + 4, 0);
      hal::wait_for_interrupt();
    }
    return 0;
  });
  p.bus.on_device = [&](const Seen& s) {
    if (s.address == kDevice) return cpu.set_irq(0, false);
    p.at(700, [&] { cpu.set_irq(0, true); });
  };
  sc_core::sc_start();
  CHECK(cpu.halted());
  CHECK(cpu.counters().interrupts == 100);
  // per round: write 10, asleep until 700 after the access, wake 500, entry 1000, write 10, exit 300
  REQUIRE(h.entered_ns.size() == 100);
  CHECK(h.entered_ns[0] == 10 + 700 + 500 + 1000);
  CHECK(h.entered_ns[99] == 10 + 700 + 500 + 1000 + 99 * (10 + 700 + 500 + 1000 + 10 + 300));
}

TEST_CASE("a line that stays high interrupts again when the handler has ended, never inside it") {
  Platform p;
  Times entered;
  struct Self {
    Platform& p;
    Times& entered;
    int depth = 0;
  } self{p, entered};
  NativeCore& cpu = p.core([&] {
    hal::set_irq_handler(
        [](void* context) {
          auto& s = *static_cast<Self*>(context);
          CHECK(++s.depth == 1);
          s.entered.push_back(hal::now_ns());
          hal::irq_enable(false);  // the usual save and restore does not open the handler to interrupts
          hal::irq_enable(true);
          hal::cost(hal::Cost::irq_handler);  // the line is high all along
          hal::relax();
          if (s.entered.size() == 3) hal::write32(kDevice, 1);
          --s.depth;
        },
        &self);
    hal::irq_enable(true);
    hal::cost(hal::Cost::request_prep);
    CHECK(hal::now_ns() == 8000 + 3 * (1000 + 1500 + 50 + 300) + 10);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(2000);
  sc_core::sc_start();
  const std::uint64_t round = 1000 + 1500 + 50 + 300;
  CHECK(entered == Times{3000, 3000 + round, 3000 + 2 * round});
  CHECK(cpu.counters().interrupts == 3);
}

TEST_CASE("a masked interrupt waits until interrupts are enabled") {
  Platform p;
  Handler h;
  p.core([&] {
    h.install();
    hal::cost(hal::Cost::request_prep);  // interrupts are off at reset
    CHECK(h.entered_ns.empty());
    hal::irq_enable(true);
    CHECK(h.entered_ns == Times{8000 + 1000});
    hal::irq_enable(false);
    hal::cost(hal::Cost::request_prep);
    hal::read32(kDevice);
    CHECK(h.entered_ns.size() == 1);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(100);
  p.raise_at(12000);
  sc_core::sc_start();
  CHECK(h.entered_ns.size() == 1);
}

TEST_CASE("an interrupt during a register access is taken when the access has ended") {
  Platform p;
  Handler h;
  p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::read32(kDevice + 8);  // core side 0 to 20, path 20 to 520
    hal::cost(hal::Cost::request_prep);
    CHECK(hal::now_ns() == 20 + 500 + 8000 + 1000 + 10 + 500 + 300);
    return 0;
  });
  p.acknowledge_by_write();
  p.bus.device_delay = ns(500);
  p.raise_at(100);
  sc_core::sc_start();
  CHECK(h.entered_ns == Times{520 + 1000});
}

TEST_CASE("WFI with interrupts off returns after the wake-up time and runs no handler") {
  Platform p;
  Handler h;
  Times now;
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::wait_for_interrupt();
    now.push_back(hal::now_ns());
    hal::wait_for_interrupt();  // still high: at once
    now.push_back(hal::now_ns());
    return 0;
  });
  p.raise_at(5000);
  sc_core::sc_start();
  CHECK(now == Times{5500, 5500});
  CHECK(h.entered_ns.empty());
  CHECK(cpu.counters().wakes == 1);
  CHECK(cpu.counters().busy == ns(500));
}

TEST_CASE("WFI with interrupts on returns after the handler") {
  Platform p;
  Handler h;
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::wait_for_interrupt();
    CHECK(hal::now_ns() == 5000 + 500 + 1000 + 10 + 300);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(5000);
  sc_core::sc_start();
  CHECK(h.entered_ns == Times{5000 + 500 + 1000});
  CHECK(cpu.counters().busy == ns(500 + 1000 + 10 + 300));
}

TEST_CASE("an interrupt taken on the way into WFI ends it: no wake-up is lost") {
  Platform p;
  Handler h;
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::read32(kDevice + 8);  // 20 + 500: the core's time runs ahead of the kernel's
    hal::wait_for_interrupt();
    CHECK(hal::now_ns() == 520 + 1000 + 10 + 500 + 300);
    return 7;
  });
  p.acknowledge_by_write();
  p.bus.device_delay = ns(500);
  p.raise_at(100);
  sc_core::sc_start();
  CHECK(cpu.exit_status() == 7);
  CHECK(cpu.counters().wakes == 0);
}

TEST_CASE("a wait with a deadline ends there to the nanosecond, or at the interrupt before it") {
  Platform p;
  p.core([&] {
    CHECK_FALSE(hal::wait_for_interrupt_until(4000));
    CHECK(hal::now_ns() == 4000);
    CHECK_FALSE(hal::wait_for_interrupt_until(3000));  // already past
    CHECK(hal::now_ns() == 4000);
    CHECK(hal::wait_for_interrupt_until(9000));
    CHECK(hal::now_ns() == 6000 + 500);
    CHECK(hal::wait_for_interrupt_until(~0ULL));  // high: at once
    return 0;
  });
  p.raise_at(6000);
  sc_core::sc_start();
  CHECK(p.cores[0]->halted());
  CHECK(p.cores[0]->counters().wakes == 1);
}

TEST_CASE("a delay is not busy, and a handler inside it does not prolong it") {
  Platform p;
  Handler h;
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::delay_ns(10'000);
    CHECK(hal::now_ns() == 10'000);
    hal::delay_ns(10'000);  // the handler from 19'500 ends after the delay
    CHECK(hal::now_ns() == 19'500 + 1000 + 10 + 300);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(3000);
  p.raise_at(19'500);
  sc_core::sc_start();
  CHECK(h.entered_ns == Times{4000, 20'500});
  CHECK(cpu.counters().busy == ns(2 * (1000 + 10 + 300)));
}

TEST_CASE("a poll loop on memory sees what another process writes") {
  Platform p;
  p.core([&] {
    auto* flag = static_cast<volatile std::uint32_t*>(hal::ram(kRam + 0x10, 4));
    while (*flag == 0) hal::relax();
    CHECK(hal::now_ns() == 1050);  // turns of 50 ns: the one that ends after 1020
    return 0;
  });
  p.at(1020, [&] { p.bus.ram[0x10] = 1; });
  sc_core::sc_start();
  CHECK(p.cores[0]->halted());
}

TEST_CASE("RAM pointers are cached per region") {
  Platform p;
  p.core([&] {
    CHECK(hal::ram(kRam, kRamBytes) == p.bus.ram);
    CHECK(hal::ram(kRam + 0x123, 1) == p.bus.ram + 0x123);
    return 0;
  });
  sc_core::sc_start();
  CHECK(p.bus.dmi_requests == 1);
}

TEST_CASE("memory that is not RAM stops the core with a finding") {
  Platform p;
  bool went_on = false;
  NativeCore& cpu = p.core([&] {
    hal::cost(hal::Cost::request_prep);
    hal::ram(kRam + kRamBytes - 4, 8);  // four bytes too many
    went_on = true;
    return 0;
  });
  sc_core::sc_start();
  CHECK_FALSE(went_on);
  CHECK(cpu.halted());
  CHECK(cpu.exit_status() == NativeCore::kStatusBadRam);
  REQUIRE(p.ctx.findings.count("cpu.bad_ram") == 1);
  CHECK(p.ctx.findings.kept()[0].addresses ==
        std::vector<std::uint64_t>{kRam + kRamBytes - 4, kRam + kRamBytes + 3});
  CHECK(p.ctx.findings.kept()[0].time == ns(8000));
}

TEST_CASE("a halted core tells when and with what status") {
  Platform p;
  NativeCore& cpu = p.core([&] {
    hal::cost(hal::Cost::request_prep);
    hal::halt(42);
    return 1;
  });
  std::uint64_t told = 0;
  sc_core::sc_spawn([&] {
    sc_core::wait(cpu.halted_event());
    told = sc_core::sc_time_stamp().value() / 1000;
  });
  sc_core::sc_start(ns(7999));
  CHECK_FALSE(cpu.halted());
  sc_core::sc_start();
  CHECK(cpu.halted());
  CHECK(cpu.exit_status() == 42);
  CHECK(told == 8000);
}

TEST_CASE("two cores do not mix") {
  Platform p;
  CHECK_THROWS_AS(hal::now_ns(), std::logic_error);  // no firmware runs here
  Times a, b;
  const auto firmware = [](Times& log, unsigned n, std::uint64_t offset) {
    return [&log, n, offset] {
      for (unsigned i = 0; i < 50; ++i) {
        hal::write32(kDevice + offset, i);
        hal::cost(hal::Cost::irq_handler, n);
        log.push_back(hal::now_ns());
      }
      return static_cast<int>(n);
    };
  };
  NativeCore& first = p.core(firmware(a, 2, 0), "cpu0");
  NativeCore& second = p.core(firmware(b, 3, 4), "cpu1");
  sc_core::sc_start();
  for (unsigned i = 0; i < 50; ++i) {
    CHECK(a[i] == (i + 1) * (10 + 2 * 1500));
    CHECK(b[i] == (i + 1) * (10 + 3 * 1500));
  }
  CHECK(first.exit_status() == 2);
  CHECK(second.exit_status() == 3);
  CHECK(first.counters().mmio_writes == 50);
}

TEST_CASE("marks reach the observer with the core's time, and requests become spans without a gap") {
  struct Observer : CpuObserver {
    std::vector<std::pair<hal::Event, std::uint64_t>> seen;
    void cpu_event(hal::Event what, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t,
                   sc_time now) override {
      seen.emplace_back(what, now.value() / 1000);
    }
  } observer;
  Platform p;
  Handler h;
  std::vector<RequestRecord> done;
  p.ctx.spans.on_request_done([&](const RequestRecord& r) { done.push_back(r); });
  NativeCore& cpu = p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::event(hal::Event::request_begin, 5, 1, 800, 4096);
    hal::delay_ns(200);
    hal::event(hal::Event::request_issue, 5, 32);
    hal::cost(hal::Cost::request_prep);
    hal::write32(kDevice + 4, 0);  // the device takes over inside the access
    hal::wait_for_interrupt();
    hal::event(hal::Event::request_end, 5);
    return 0;
  });
  cpu.set_observer(&observer);
  p.bus.device_delay = ns(35);
  p.bus.on_device = [&](const Seen& s) {
    if (s.address == kDevice) return cpu.set_irq(0, false);
    REQUIRE(p.ctx.spans.hardware_begin(SpanRecorder::kLegacyTag, sc_core::sc_time_stamp()) != nullptr);
  };
  p.at(20'000, [&] {
    CauseGraph* g = p.ctx.spans.graph(SpanRecorder::kLegacyTag);
    REQUIRE(g != nullptr);
    p.ctx.spans.hardware_end(SpanRecorder::kLegacyTag, g->add(kRootNode, Span::wire, ns(20'000)));
    cpu.set_irq(0, true);
  });
  sc_core::sc_start();
  REQUIRE(done.size() == 1);
  const RequestRecord& r = done[0];
  CHECK(r.is_write);
  CHECK(r.lba == 800);
  CHECK(r.bytes == 4096);
  CHECK(r.times[Span::queue_wait] == ns(200).value());
  CHECK(r.times[Span::driver_submit] == ns(8000).value());
  CHECK(r.times[Span::wire] == ns(20'000 - 8210).value());
  CHECK(r.times[Span::interrupt_latency] == ns(500 + 1000).value());
  CHECK(r.times[Span::mmio] == ns(10 + 10 + 35).value());  // the command's core side, the acknowledge
  CHECK(r.times[Span::driver_complete] == ns(300).value());
  CHECK(r.times.total() == (r.end - r.begin).value());
  const std::uint64_t end = 20'000 + 500 + 1000 + 10 + 35 + 300;
  using E = hal::Event;
  CHECK(observer.seen ==
        decltype(observer.seen){{E::request_begin, 0}, {E::request_issue, 200}, {E::request_end, end}});
}

TEST_CASE("work before and after an interruption is charged to the request, the handler's accesses too") {
  Platform p;
  Handler h;
  std::vector<RequestRecord> done;
  p.ctx.spans.on_request_done([&](const RequestRecord& r) { done.push_back(r); });
  p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::event(hal::Event::request_begin, 1);
    hal::event(hal::Event::request_issue, 1, 32);
    hal::cost(hal::Cost::request_prep);
    hal::event(hal::Event::request_end, 1);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(3000);
  sc_core::sc_start();
  REQUIRE(done.size() == 1);
  CHECK(done[0].times[Span::mmio] == ns(10).value());
  CHECK(done[0].times[Span::driver_submit] == ns(8000 + 1000 + 300).value());
  CHECK(done[0].times.total() == ns(8000 + 1000 + 10 + 300).value());
}

TEST_CASE("a register access interrupted on its core side is charged as one on both sides of the handler") {
  Platform p;
  Handler h;
  std::vector<RequestRecord> done;
  p.ctx.spans.on_request_done([&](const RequestRecord& r) { done.push_back(r); });
  p.core([&] {
    h.install();
    hal::irq_enable(true);
    hal::event(hal::Event::request_begin, 1);
    hal::event(hal::Event::request_issue, 1, 32);
    hal::read32(kDevice + 8);  // core side 0 to 20, interrupted at 15
    hal::event(hal::Event::request_end, 1);
    return 0;
  });
  p.acknowledge_by_write();
  p.raise_at(15);
  sc_core::sc_start();
  CHECK(h.entered_ns == Times{15 + 1000});
  REQUIRE(p.bus.seen.size() == 2);
  CHECK(p.bus.seen[1].time_ns == 20 + 1000 + 10 + 300);
  REQUIRE(done.size() == 1);
  CHECK(done[0].times[Span::mmio] == ns(15 + 10 + 5).value());
  CHECK(done[0].times[Span::driver_submit] == ns(1000 + 300).value());
}

TEST_CASE("every cost of the core is a parameter in nanoseconds with its documented default") {
  CpuParams params;
  ParamRegistry r;
  params.declare(r, "cpu");
  const std::pair<const char*, const char*> expected[] = {{"mmio_read_ns", "20"},
                                                          {"mmio_write_ns", "10"},
                                                          {"irq_entry_ns", "1000"},
                                                          {"irq_exit_ns", "300"},
                                                          {"wfi_wake_ns", "500"},
                                                          {"relax_ns", "50"},
                                                          {"io_user_ns", "15000"},
                                                          {"io_submit_ns", "6000"},
                                                          {"page_pin_ns", "200"},
                                                          {"request_prep_ns", "8000"},
                                                          {"dma_map_ns", "150"},
                                                          {"descriptor_ns", "30"},
                                                          {"irq_handler_ns", "1500"},
                                                          {"request_complete_ns", "5000"},
                                                          {"dma_unmap_ns", "100"},
                                                          {"io_complete_ns", "6000"},
                                                          {"verify_byte_ns", "0.5"},
                                                          // the operating system's path
                                                          {"copy_record_ns", "150"},
                                                          {"syscall_ns", "400"},
                                                          {"zero_byte_ns", "0.12"},
                                                          {"page_lookup_ns", "80"},
                                                          {"page_add_ns", "500"},
                                                          {"page_end_ns", "100"},
                                                          {"page_dirty_ns", "900"},
                                                          {"page_writeback_ns", "350"},
                                                          {"copy_byte_ns", "0.35"},
                                                          {"copy_far_byte_ns", "0"},
                                                          {"io_build_ns", "3000"},
                                                          {"task_switch_ns", "4000"},
                                                          {"journal_commit_ns", "30000"},
                                                          {"journal_block_ns", "1500"}};
  for (const auto& [key, value] : expected) {
    const Param* p = r.find(std::string("cpu.") + key);
    REQUIRE(p != nullptr);
    CHECK(p->value_text() == value);
    CHECK(p->unit == "ns");
  }
  CHECK(r.all().size() == std::size(expected));
}

TEST_CASE("half a nanosecond per byte adds up exactly") {
  Platform p;
  p.params.cost_ns[static_cast<std::size_t>(hal::Cost::verify_byte)] = 0.5;
  NativeCore& cpu = p.core([&] {
    hal::cost(hal::Cost::verify_byte, 4095);
    CHECK(hal::now_ns() == 2047);
    return 0;
  });
  sc_core::sc_start();
  CHECK(cpu.counters().busy.value() == 4095 * 500);
}
