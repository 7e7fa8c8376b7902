// iozone's command line, its job table, its arithmetic and its text.
#include <sstream>

#include "models/core/params.hpp"
#include "platform/iozone_options.hpp"
#include "platform/iozone_report.hpp"
#include "platform/options.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> out;
  for (std::string w; in >> w;) out.push_back(w);
  return out;
}
IozoneRun parsed(const std::string& line) { return parse_iozone(words(line)); }
std::string error_of(const std::string& line) {
  try {
    parsed(line);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}
sc_time at_us(std::uint64_t us) { return sc_time::from_value(us * 1'000'000); }

}  // namespace

TEST_CASE("iozone's throughput line is understood: sizes, tests, threads") {
  const IozoneRun run = parsed("-s 8192k -r 4k -i 0 -i 1 -i 2 -i 8 -I -t 4");
  CHECK(run.threads == 4);
  CHECK(run.file_bytes == 8u << 20);
  CHECK(run.record_bytes == 4096);
  CHECK_FALSE(run.flush);
  CHECK(run.tests == std::vector<IozoneTest>{IozoneTest::write, IozoneTest::rewrite, IozoneTest::read,
                                             IozoneTest::reread, IozoneTest::random_read, IozoneTest::mixed,
                                             IozoneTest::random_write});
}

TEST_CASE("letters may be joined and values may stand beside their letter, as getopt has it") {
  const IozoneRun run = parsed("-Ies1m -r32 -i8 -t2 -F a b");
  CHECK(run.flush);
  CHECK(run.file_bytes == 1u << 20);
  CHECK(run.record_bytes == 32u << 10);  // no letter: KiB
  CHECK(run.files == std::vector<std::string>{"a", "b"});
  CHECK(run.tests == std::vector<IozoneTest>{IozoneTest::mixed});
}

TEST_CASE("bad iozone lines are one line that says how to mend it") {
  const std::pair<const char*, const char*> cases[] = {{"-s 10k -r 4k -i 0 -I -t 1", "multiple"},
                                                       {"-i 0 -I", "add -t N"},
                                                       {"-i 0 -t 1", "add -I"},
                                                       {"-I -t 1", "no test"},
                                                       {"-i 3 -I -t 1", "-i 3"},
                                                       {"-i 0 -I -t 0", "at least one"},
                                                       {"-i 0 -I -t 2 -F a", "one per thread"},
                                                       {"-i 0 -I -t 2 -Z", "'-Z'"},
                                                       {"-i 0 -I -t x", "not a whole number"},
                                                       {"-i 0 -I -t", "needs a value"},
                                                       {"-s 0 -i 0 -I -t 1", "out of range"},
                                                       {"-i 0 -I -t 1 extra", "unexpected 'extra'"},
                                                       {"-s 8q -i 0 -I -t 1", "not a whole number"}};
  for (const auto& [line, part] : cases) {
    INFO(line);
    const std::string error = error_of(line);
    CHECK(error.rfind("iozone: ", 0) == 0);
    CHECK(error.find(part) != std::string::npos);
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("files, records and threads that do not fit the machine are refused") {
  const IozoneLimits limits{64u << 20, 64u << 20, 4096, fw::kMaxJobs};
  const auto error = [&](const std::string& line) {
    try {
      check_iozone(parsed(line), limits);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(error("-s 32m -r 4k -i 0 -I -t 2").empty());
  CHECK(error("-s 32m -r 4k -i 0 -I -t 3").find("-s 32768k times -t 3") != std::string::npos);
  CHECK(error("-s 4k -r 4k -i 0 -I -t 129").find("at most 128 threads") != std::string::npos);
  CHECK(error("-s 16m -r 16m -i 0 -i 1 -I -t 2").find("buffers") != std::string::npos);
}

TEST_CASE("each thread of each test is a job: own file, phases in order, even threads read in the mix") {
  const IozoneRun run = parsed("-s 64k -r 4k -i 0 -i 8 -I -e -t 3");
  fw::JobTable table{};
  fill_job_table(table, run, 1);
  REQUIRE(table.job_count == 3 * 3);
  for (unsigned i = 0; i < 9; ++i) {
    const fw::JobDef& d = table.jobs[i];
    CHECK(d.phase == i / 3);
    CHECK(d.offset == (i % 3) * 65536u);
    CHECK(d.size == 65536);
    CHECK(d.io_bytes == 65536);
    CHECK(d.block_bytes == 4096);
    CHECK(d.iodepth == 1);
    CHECK(d.stop_together == 1);
    CHECK(d.end_sync == 1);
  }
  CHECK(table.jobs[0].kind == fw::JobKind::write);
  CHECK(table.jobs[6].kind == fw::JobKind::randread);
  CHECK(table.jobs[7].kind == fw::JobKind::randwrite);
  CHECK(table.jobs[8].kind == fw::JobKind::randread);
}

// Two children of one test. Child 0 moves 8 KiB in 1000 us, child 1 4 KiB in 2000 us, both from the test's beginning:
// 8 / 0.001 = 8000, 4 / 0.002 = 2000, together 10000; the parent sees 12 KiB in 2000 us = 6000.
TEST_CASE("children, parent, least, most, mean and smallest transfer follow iozone's definitions") {
  const IozoneRun run = parsed("-s 8k -r 4k -i 2 -I -t 2");
  IozoneRecorder recorder(run);
  const auto io = [&](std::uint32_t slot, std::uint64_t job, std::uint64_t begin, std::uint64_t end) {
    recorder.cpu_event(hal::Event::io_begin, slot, job << 32, 0, 4096, at_us(begin));
    recorder.cpu_event(hal::Event::io_end, slot, 0, 0, 0, at_us(end));
  };
  io(0, 0, 10'000, 10'400);
  io(1, 1, 10'100, 12'000);
  io(0, 0, 10'400, 11'000);
  io(2, 2, 20'000, 21'000);  // the next test
  const auto results = recorder.results();
  REQUIRE(results.size() == 2);
  CHECK(results[0].children == Approx(10'000));
  CHECK(results[0].parent == Approx(6'000));
  CHECK(results[0].min == Approx(2'000));
  CHECK(results[0].max == Approx(8'000));
  CHECK(results[0].avg == Approx(5'000));
  CHECK(results[0].min_xfer == 4);
  CHECK(results[1].children == Approx(4'000));
  CHECK(recorder.failed_ios() == 0);
  CHECK(recorder.bytes_done() == 4 * 4096);

  const std::string text = iozone_text(run, results, "1.2.3");
  CHECK(text.find("\n\tChildren see throughput for  2 random readers \t=   10000.00 kB/sec\n") !=
        std::string::npos);
  CHECK(text.find("\n\tParent sees throughput for  2 random readers \t=    6000.00 kB/sec\n") !=
        std::string::npos);
  CHECK(text.find("\n\tMin throughput per process \t\t\t=    2000.00 kB/sec \n") != std::string::npos);
  CHECK(text.find("\n\tMax throughput per process \t\t\t=    8000.00 kB/sec \n") != std::string::npos);
  CHECK(text.find("\n\tAvg throughput per process \t\t\t=    5000.00 kB/sec\n") != std::string::npos);
  CHECK(text.find("\n\tMin xfer \t\t\t\t\t=       4.00 kB\n") != std::string::npos);
  CHECK(text.find("Children see throughput for  2 random writers \t=") != std::string::npos);
  CHECK(text.find("iozone test complete.") != std::string::npos);
}

TEST_CASE("the option --queue names the mode, --cqe says the same, and a contradiction is an error") {
  CHECK(parse_options({"fio", "--queue=hsq"}).queue == "hsq");
  CHECK(parse_options({"iozone", "--queue=software", "--", "-t", "1"}).command == Command::iozone);
  CHECK_NOTHROW(parse_options({"fio", "--queue=cqe", "--cqe=on"}));
  CHECK_NOTHROW(parse_options({"fio", "--queue=none", "--cqe=off"}));
  for (const char* bad : {"--cqe=off", "--cqe=on"}) {
    INFO(bad);
    CHECK_THROWS_AS(parse_options({"fio", "--queue=software", bad}), InputError);
  }
  CHECK_THROWS_AS(parse_options({"fio", "--queue=cqe", "--cqe=off"}), InputError);
  CHECK_THROWS_AS(parse_options({"fio", "--queue=fast"}), InputError);
}
