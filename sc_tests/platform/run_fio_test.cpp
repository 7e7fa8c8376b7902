// The whole front end on a machine of a few lines: events in, report, files and exit status out.
#include "platform/run_fio.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "platform/json_text.hpp"
#include "platform/output_file.hpp"
#include "platform/recorder.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

sc_time at_ns(std::uint64_t ns) { return sc_time::from_value(ns * 1000); }

/// Serves each I/O of the job table as one request of `service_ns`, one after the other.
struct FakeMachine : Machine {
  std::uint64_t service = 4;
  Context ctx;
  fw::JobTable table{};
  CpuObserver* observer = nullptr;
  sc_time time = at_ns(5000);
  unsigned wrong_blocks = 0;
  bool break_a_rule = false;
  bool ran = false;

  void declare(ParamRegistry& r) override {
    r.add("fake.service_us", service, "us", 1, 1000, "life of a request");
  }
  void build(const Options& o) override { table.use_cqe = o.cqe.value_or(true); }
  Context& context() override { return ctx; }
  fw::JobTable& job_table() override { return table; }
  std::uint64_t device_bytes() const override { return 1 << 20; }
  unsigned max_iodepth() const override { return 32; }
  void set_observer(CpuObserver* o) override { observer = o; }
  sc_time now() const override { return time; }
  int exit_status() const override { return 0; }
  CpuUsage cpu_usage() const override { return {1000, 3000, 4}; }
  std::vector<StallRow> stalls() const override { return {{"dma", "no grant", 7, 28000}}; }
  std::vector<UtilisationRow> utilisation() const override { return {{"DAT", 50}}; }
  std::vector<CounterRow> counters() const override { return {{"sdhci.commands", 9}}; }

  void run() override {
    ran = true;
    observer->cpu_event(hal::Event::ready, 0, 2048, 0, 0, time);
    for (unsigned j = 0; j < table.job_count; ++j)
      for (std::uint64_t done = 0; done < table.jobs[j].io_bytes; done += table.jobs[j].block_bytes)
        one_io(j, done);
    table.done = 1;
    table.verify_errors = wrong_blocks;
    if (break_a_rule) ctx.finding("dma.crosses_128m", "fake", {0x8000000}, "A range crosses.", time);
  }
  void one_io(unsigned job, std::uint64_t offset) {
    const bool write = table.jobs[job].kind == fw::JobKind::write;
    observer->cpu_event(hal::Event::io_begin, 3, std::uint64_t{job} << 32 | write, offset,
                        table.jobs[job].block_bytes, time);
    observer->cpu_event(hal::Event::request_begin, 5, 3ULL << 32 | write, offset / 512,
                        table.jobs[job].block_bytes, time);
    ctx.spans.request_begin(5, time, write, offset / 512, table.jobs[job].block_bytes);
    ctx.spans.request_issue(5, SpanRecorder::kLegacyTag, time);
    const sc_time end = time + at_ns(service * 1000);
    CauseGraph* graph = ctx.spans.hardware_begin(SpanRecorder::kLegacyTag, time);
    ctx.spans.hardware_end(SpanRecorder::kLegacyTag, graph->add(kRootNode, Span::wire, end));
    time = end;
    ctx.spans.irq_taken(time);
    ctx.spans.request_end(5, time);
    observer->cpu_event(hal::Event::request_end, 5, 0, 0, 0, time);
    observer->cpu_event(hal::Event::io_end, 3, 0, 0, 0, time);
  }
};

struct Result {
  int status = -1;
  std::string out, err;
  bool ran = false;
};

Result run(const std::vector<std::string>& args, const std::function<void(FakeMachine&)>& prepare = {}) {
  const ConfigSource source{
      {{"platform/presets/generic.toml", "description = \"fake\"\nfake.service_us = 10\n"}}};
  std::ostringstream out, err;
  Result r;
  bool ran = false;
  struct Watched : FakeMachine {
    bool& flag;
    explicit Watched(bool& f) : flag(f) {}
    ~Watched() override { flag = ran; }
  };
  r.status = run_program(args,
                         [&] {
                           auto machine = std::make_unique<Watched>(ran);
                           if (prepare) prepare(*machine);
                           return std::unique_ptr<Machine>(std::move(machine));
                         },
                         source, {out, err, false});
  r.out = out.str();
  r.err = err.str();
  r.ran = ran;
  return r;
}

const std::vector<std::string> kJob = {"--name=a", "--rw=read", "--bs=4k", "--size=64k", "--direct=1"};

std::vector<std::string> fio(std::vector<std::string> platform, std::vector<std::string> job = kJob) {
  std::vector<std::string> args = {"fio"};
  args.insert(args.end(), platform.begin(), platform.end());
  args.emplace_back("--");
  args.insert(args.end(), job.begin(), job.end());
  return args;
}

std::string temporary(const std::string& name) {
  return (std::filesystem::temp_directory_path() / ("vp_run_" + std::to_string(::getpid()) + "_" + name))
      .string();
}

}  // namespace

TEST_CASE("a run prints fio's report, and where the time went when asked") {
  const Result r = run(fio({"--explain"}));
  CHECK(r.status == 0);
  CHECK(r.err.empty());
  // 16 I/Os of 10 us: 100000 IOPS, 4096 B / 10 us = 409.6 MB/s = 390.6 MiB/s.
  CHECK(r.out.find("  read: IOPS=100k, BW=391MiB/s (410MB/s)(64.0KiB/1msec)\n") != std::string::npos);
  CHECK(r.out.find("  mmcblk0: ios=16/0, merge=0/0, ticks=0/0, in_queue=0, util=100.00%\n") !=
        std::string::npos);
  CHECK(r.out.find("Where the time went: 16 requests; slowest 1 %: 1 requests\n") != std::string::npos);
  CHECK(r.out.find("Verdict: link_rate\n") != std::string::npos);
  CHECK(run(fio({})).out.find("Verdict") == std::string::npos);
}

TEST_CASE("the JSON document carries our numbers under one extra key") {
  const Result r = run(fio({"--output-format=json", "-p", "fake.service_us=20", "--seed=9", "--cqe=off"}));
  CHECK(r.status == 0);
  const Json j = Json::parse(r.out);
  CHECK(j["jobs"][0]["read"]["iops"].get<double>() == Approx(50000.0));
  CHECK(j["jobs"][0]["usr_cpu"].get<double>() == Approx(100.0 * 1000 / 320000));  // 1 us of 16 * 20 us
  const Json& own = j["emmc-vp"];
  CHECK(own["cqe"] == false);
  CHECK(own["seed"] == 9);
  CHECK(own["parameters"]["fake.service_us"]["value"] == 20);
  CHECK(own["parameters"]["fake.service_us"]["kind"] == "user");
  CHECK(own["spans"]["requests"] == 16);
  CHECK(own["spans"]["latency_total_ps"] == 16 * 20'000'000);
  CHECK(own["verdict"]["cause"] == "link_rate");
  CHECK(own["stalls"][0]["cycles"] == 7);
  CHECK(own["counters"]["sdhci.commands"] == 9);
}

TEST_CASE("two runs print the same bytes") {
  const auto args = fio({"--output-format=json"});
  CHECK(run(args).out == run(args).out);
}

TEST_CASE("a broken hardware rule ends with 3, wrong data with 4") {
  CHECK(run(fio({}), [](FakeMachine& m) { m.break_a_rule = true; }).status == 3);
  CHECK(run(fio({}), [](FakeMachine& m) { m.wrong_blocks = 2; }).status == 4);
  const Result both = run(fio({}), [](FakeMachine& m) { m.break_a_rule = true, m.wrong_blocks = 2; });
  CHECK(both.status == 3);
  CHECK(both.out.find("Findings: hardware rules that were broken\n  dma.crosses_128m") != std::string::npos);
}

TEST_CASE("bad input ends with 2, one line, and nothing is run or written") {
  const std::string file = temporary("report.json");
  for (const auto& args :
       {fio({"--output=" + file}, {"--name=a", "--iodpth=1"}), fio({"--output=" + file, "--platform=generc"}),
        fio({"--output=" + file, "-p", "fake.service_us=0"}),
        fio({"--output=" + file}, {"--name=a", "--size=2m"}), fio({"--output=" + file, "--seed=x"}),
        std::vector<std::string>{"fioo"}}) {
    const Result r = run(args);
    INFO(r.err);
    CHECK(r.status == 2);
    CHECK(r.out.empty());
    CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    CHECK_FALSE(r.ran);
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK_FALSE(std::filesystem::exists(file + ".tmp"));
  }
}

TEST_CASE("the report goes to a file whole, and fio's own --output counts too") {
  const std::string file = temporary("out.txt");
  CHECK(run(fio({"--output=" + file})).out.empty());
  CHECK(read_whole_file(file, "report").find("Disk stats") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file + ".tmp"));
  std::filesystem::remove(file);
  auto job = kJob;
  job.push_back("--output=" + file);
  job.push_back("--output-format=json");
  CHECK(run(fio({}, job)).out.empty());
  CHECK(Json::parse(read_whole_file(file, "report")).contains("emmc-vp"));
  std::filesystem::remove(file);
}

TEST_CASE("ignored options are listed in one line on stderr, results stay on stdout") {
  auto job = kJob;
  job.insert(job.end(), {"--eta-newline=1", "--thread"});
  const Result r = run(fio({}, job));
  CHECK(r.status == 0);
  CHECK(r.err == "fio: ignored here: eta-newline, thread\n");
}

TEST_CASE("help, version, params and list answer on stdout") {
  CHECK(run({"--help"}).out.find("--platform") != std::string::npos);
  CHECK(run({"--version"}).out.rfind("emmc-vp ", 0) == 0);
  CHECK(run({"list"}).out.find("generic  fake") != std::string::npos);
  const Result params = run({"params"});
  CHECK(params.status == 0);
  CHECK(params.out.find("fake.service_us  10") != std::string::npos);
  CHECK(Json::parse(run({"params", "--output-format=json"}).out)["parameters"][0]["default"] == "4");
}

TEST_CASE("a waveform of chosen requests begins and ends with them") {
  const std::string file = temporary("w.vcd");
  const Result r = run(fio({"--vcd=" + file, "--vcd-window=requests:2..3"}),
                       [](FakeMachine& m) { m.ctx.trace.add_vector("fake.level", 4); });
  CHECK(r.status == 0);
  CHECK(std::filesystem::exists(file));
  std::filesystem::remove(file);
  std::filesystem::remove(std::filesystem::path(file).replace_extension("gtkw"));
  std::filesystem::remove(file + ".gtkw");
}

TEST_CASE("the recorder keeps depth, disk ticks and utilisation of overlapping requests") {
  Recorder rec({false, true});
  rec.cpu_event(hal::Event::ready, 0, 0, 0, 0, at_ns(1000));
  // Job 0: two I/Os in flight; the disk is busy 2000..6000 and 7000..8000 of 1000..8000.
  rec.cpu_event(hal::Event::io_begin, 0, 0, 0, 4096, at_ns(2000));
  rec.cpu_event(hal::Event::request_begin, 0, 0, 0, 4096, at_ns(2000));
  rec.cpu_event(hal::Event::io_submitted, 0, 0, 0, 0, at_ns(2500));
  rec.cpu_event(hal::Event::io_begin, 1, 0, 4096, 4096, at_ns(3000));
  rec.cpu_event(hal::Event::request_begin, 1, 1ULL << 32, 8, 4096, at_ns(3000));
  rec.cpu_event(hal::Event::io_submitted, 1, 0, 0, 0, at_ns(3100));
  rec.cpu_event(hal::Event::request_end, 0, 0, 0, 0, at_ns(5000));
  rec.cpu_event(hal::Event::io_end, 0, 0, 0, 0, at_ns(5000));
  rec.cpu_event(hal::Event::request_end, 1, 0, 0, 0, at_ns(6000));
  rec.cpu_event(hal::Event::io_end, 1, 0, 0, 0, at_ns(6000));
  // Job 1: one write and a failed sync.
  rec.cpu_event(hal::Event::io_begin, 0, 1ULL << 32 | 1, 0, 512, at_ns(7000));
  rec.cpu_event(hal::Event::request_begin, 0, 1, 0, 512, at_ns(7000));
  rec.cpu_event(hal::Event::request_end, 0, 0, 0, 0, at_ns(8000));
  rec.cpu_event(hal::Event::io_end, 0, 0, 0, 0, at_ns(8000));
  rec.cpu_event(hal::Event::io_begin, 0, 1ULL << 32 | 3, 0, 0, at_ns(8000));
  rec.cpu_event(hal::Event::io_end, 0, 5, 0, 0, at_ns(8000));
  const FioResults r = rec.results(at_ns(9000), {3000, 6000, 3}, "v");
  CHECK(r.clones[0].dir[0].ios == 2);
  CHECK(r.clones[0].dir[0].slat.max() == 500);
  CHECK(r.clones[0].dir[0].clat.max() == 2900);
  CHECK(r.clones[0].dir[0].lat.mean() == Approx(3000.0));
  CHECK(r.clones[0].depths.counts[0] == 1);
  CHECK(r.clones[0].depths.counts[1] == 1);
  CHECK(r.clones[0].runtime_ns() == 5000);
  CHECK(r.clones[0].user_ns == Approx(2000.0));  // two of three I/Os
  CHECK(r.clones[1].dir[1].bytes == 512);
  CHECK(r.clones[1].error == 5);
  CHECK(rec.failed_ios() == 1);
  CHECK(r.disk.ios[0] == 2);
  CHECK(r.disk.ios[1] == 1);
  CHECK(r.disk.ticks_ns[0] == 6000);
  CHECK(r.disk.ticks_ns[1] == 1000);
  CHECK(r.disk.open_ns == 5000);
  CHECK(r.disk.run_ns == 7000);
}
