// The whole path: firmware on the native core, HSMMC driver, system DMA, SD card set-up, card. Each case is one machine.
#include <map>

#include "platform/config.hpp"
#include "platform/session.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

struct Run : CpuObserver {
  std::unique_ptr<Machine> machine = make_machine();
  ParamRegistry registry;
  std::vector<std::uint64_t> errors;  ///< status words of driver errors
  std::map<std::string, std::uint64_t> counters;
  std::vector<std::uint64_t> request_bytes, request_ns;
  std::map<std::uint32_t, sc_time> begun;
  sc_time ready, end;
  std::uint64_t failed = 0;

  explicit Run(const std::string& preset = "am335x") {
    machine->declare(registry);
    load_preset(registry, preset, ConfigSource::embedded());
    // a quick card: what is under test here is the host
    set("sd_card.write_command_us", "200");
    set("sd_card.write_mb_per_s", "40");
    set("sd_card.read_mb_per_s", "40");
    set("sd_card.power_up_us", "1000");
  }
  void set(const std::string& key, const std::string& value) {
    registry.set(key, value, "test: ", ParamKind::user);
  }
  void build(TimingStyle style = TimingStyle::at) {
    Options o;
    o.timing = style;
    machine->build(o);
    machine->set_observer(this);
  }
  fw::JobDef& job(fw::JobKind kind, std::uint32_t block, std::uint64_t bytes) {
    fw::JobTable& t = machine->job_table();
    fw::JobDef& j = t.jobs[t.job_count++];
    j = fw::JobDef{};
    j.kind = kind;
    j.block_bytes = block;
    j.iodepth = 1;
    j.size = j.io_bytes = bytes;
    j.seed = 7;
    return j;
  }
  void go(int status = 0) {
    machine->run();
    end = machine->now();
    REQUIRE(machine->exit_status() == status);
    for (const CounterRow& c : machine->counters()) counters[c.name] = c.value;
  }
  /// Everything went well and every byte is where it belongs.
  void check_good() {
    CHECK(machine->job_table().errors == 0);
    CHECK(machine->job_table().verify_errors == 0);
    CHECK(machine->data_errors() == 0);
    CHECK(machine->context().findings.empty());
    CHECK(failed == 0);
  }
  void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t, std::uint64_t c,
                 sc_time now) override {
    if (what == hal::Event::ready) ready = now;
    if (what == hal::Event::driver_error) errors.push_back(a);
    if (what == hal::Event::request_begin) request_bytes.push_back(c), begun[id] = now;
    if (what == hal::Event::request_end && a != 0) ++failed;
  }
};

}  // namespace

TEST_CASE("an SD card comes up at 48 MHz on four lines in High Speed") {
  Run r;
  r.build();
  r.job(fw::JobKind::read, 4096, 4096);
  r.go();
  r.check_good();
  CHECK(r.machine->job_table().card_mode == static_cast<std::uint32_t>(fw::CardMode::hs52));
  CHECK(r.machine->job_table().card_clock_hz == 48000000);
  CHECK(r.machine->job_table().card_sectors == 7948206080 / 512);
  CHECK(r.errors.empty());
}

TEST_CASE("what is written comes back, checked by the firmware and by the payload check") {
  Run r;
  r.build();
  r.job(fw::JobKind::randwrite, 65536, 4 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.counters["check.payload_bytes"] == 2 * (4 << 20));
  // one request and one transfer per block, and the registers of set-up: SCR, CMD6 twice, SD Status
  CHECK(r.counters["hsmmc.dma_requests"] == 2 * (4 << 20) / 512 + 4);
  CHECK(r.counters["dma.transfers"] == r.counters["hsmmc.dma_requests"]);
  CHECK(r.errors.empty());
}

TEST_CASE("by reservation the same bytes move with the same commands, requests and host interrupts") {
  Run r;
  r.build(TimingStyle::lt);
  r.job(fw::JobKind::randwrite, 65536, 4 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.counters["hsmmc.dma_requests"] == 2 * (4 << 20) / 512 + 4);
  CHECK(r.counters["mmc_bus.cmd25"] == 64);
  CHECK(r.counters["mmc_bus.cmd18"] == 64);
}

TEST_CASE("max_segs pages bound a request, and each request costs five host interrupts") {
  Run r;
  r.set("hsmmc.max_segs", "64");
  r.build();
  r.job(fw::JobKind::write, 1 << 20, 4 << 20);
  r.go();
  r.check_good();
  // 64 pages of 4 KiB: four requests per MiB. CMD25 CC and TC, CMD12 CC and TC, CMD13 CC.
  CHECK(r.request_bytes == std::vector<std::uint64_t>(16, 256 * 1024));
  CHECK(r.counters["mmc_bus.cmd25"] == 16);
  CHECK(r.counters["mmc_bus.cmd12"] == 16);
  CHECK(r.counters["mmc_bus.cmd13"] == 16 + 1);  // one ACMD13 in set-up
  // 64 sets in batches of 20 are four: three reloads and the end.
  CHECK(r.counters["dma.interrupts"] == 16 * 4 + 4);
  const std::uint64_t set_up = r.counters["hsmmc.command_complete"] - 16 * 3;
  CHECK(r.counters["hsmmc.interrupts"] <= 16 * 5 + set_up + 8);
  CHECK(r.counters["hsmmc.transfer_complete"] >= 16 * 2);
}

TEST_CASE("with 1024 segments a MiB is one request of 256 linked sets in thirteen batches") {
  Run r;
  r.set("hsmmc.max_segs", "1024");
  r.build();
  r.job(fw::JobKind::write, 1 << 20, 4 << 20);
  r.go();
  r.check_good();
  CHECK(r.request_bytes == std::vector<std::uint64_t>(4, 1 << 20));
  CHECK(r.counters["dma.interrupts"] == 4 * 13 + 4);
  CHECK(r.counters["dma.links"] >= 4 * (256 - 13));
}

TEST_CASE("linked-list mode needs one DMA interrupt per request whatever its segments") {
  Run r;
  r.set("hsmmc.max_segs", "1024");
  r.set("hsmmc.linked_list", "true");
  r.build();
  r.job(fw::JobKind::write, 1 << 20, 2 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.counters["dma.interrupts"] == 4 + 4);
  CHECK(r.counters["dma.descriptors_fetched"] == 4 * 256 + 4);
}

TEST_CASE("a CPU too slow to reload misses an event, and no byte is lost") {
  Run r;
  r.set("hsmmc.max_segs", "64");
  r.set("hsmmc.max_linked", "2");
  r.set("cpu.irq_entry_ns", "60000");  // three blocks' time on the wire
  r.build();
  r.job(fw::JobKind::write, 256 << 10, 1 << 20).verify = 1;
  r.go();
  CHECK(r.machine->job_table().errors == 0);
  CHECK(r.machine->job_table().verify_errors == 0);
  CHECK(r.machine->data_errors() == 0);
  CHECK(r.counters["dma.missed_events"] > 0);
}

TEST_CASE("PIO moves the same data without a DMA") {
  Run r;
  r.set("driver.dma", "pio");
  r.build();
  r.job(fw::JobKind::randwrite, 16384, 256 << 10).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.counters["hsmmc.dma_requests"] ==
        r.counters["mmc_bus.blocks_read"] + r.counters["mmc_bus.blocks_written"]);
  CHECK(r.counters["dma.transfers"] == 0);
}

TEST_CASE("a card with CMD23 needs no CMD12, the host sends the count by itself") {
  Run r;
  r.set("sd_card.cmd23", "true");
  r.build();
  r.job(fw::JobKind::write, 65536, 1 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.counters["mmc_bus.cmd12"] == 0);
  CHECK(r.counters["hsmmc.auto_commands"] == 32);
}

TEST_CASE("CMD23 by software works as well") {
  Run r;
  r.set("sd_card.cmd23", "true");
  r.set("driver.auto_cmd23", "false");
  r.build();
  r.job(fw::JobKind::write, 65536, 1 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.counters["mmc_bus.cmd23"] == 32);
  CHECK(r.counters["hsmmc.auto_commands"] == 0);
}

TEST_CASE("an eMMC works behind this host too, at 48 MHz on eight lines") {
  Run r;
  r.set("platform.card", "emmc");
  r.set("driver.bus_width", "8");
  r.build();
  r.job(fw::JobKind::randwrite, 65536, 2 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.machine->job_table().card_clock_hz == 48000000);
}

TEST_CASE("an SD card works behind an SDHCI host too") {
  Run r("generic");
  r.set("platform.card", "sd");
  r.set("driver.max_mode", "hs52");
  r.build();
  r.job(fw::JobKind::randwrite, 65536, 2 << 20).verify = 1;
  r.go();
  r.check_good();
  CHECK(r.machine->job_table().card_clock_hz == 50000000);
}

namespace {
void recovers(const std::string& fault) {
  Run r;
  r.set("mmc_bus.faults", fault);
  r.build();
  r.job(fw::JobKind::write, 65536, 512 << 10).verify = 1;
  r.go();
  r.check_good();
  CHECK(!r.errors.empty());
}
}  // namespace

TEST_CASE("a read block with a wrong CRC is read again") { recovers("read_crc:cmd=18:block=17:skip=2"); }
TEST_CASE("a read block with a wrong end bit is read again") { recovers("read_end_bit:cmd=18:block=3"); }
TEST_CASE("a write the card refuses is written again") { recovers("write_crc:cmd=25:block=40"); }
TEST_CASE("a write without CRC status is written again after the data timeout") {
  recovers("write_no_status:cmd=25:block=40");
}
TEST_CASE("a write command without an answer is sent again") { recovers("no_response:cmd=25:skip=1"); }
TEST_CASE("a corrupted read command is sent again") { recovers("command_crc:cmd=18:skip=1"); }
TEST_CASE("a stop whose response is damaged is recovered from") { recovers("response_crc:cmd=12:skip=1"); }
TEST_CASE("data later than the timeout are read again") {
  recovers("late_data:cmd=18:block=9:extra_us=9000000");
}
TEST_CASE("busy that outlasts every limit fails the request, not the machine") {
  Run r;
  r.set("mmc_bus.faults", "stuck_busy:cmd=12:count=9:extra_us=90000000");
  r.set("driver.request_timeout_ms", "100");
  r.build();
  r.job(fw::JobKind::write, 65536, 65536);
  r.go();
  CHECK(r.machine->job_table().errors == 1);
  CHECK(!r.errors.empty());
}
