// fio's command line and job files, as people write them.
#include "platform/fio_options.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/core/params.hpp"
#include "platform/fio_frontend.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

std::string error_of(const std::vector<std::string>& args) {
  try {
    parse_fio(args);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

/// A job with one wrong option.
std::string error_with(const std::string& option) { return error_of({"--name=a", option}); }

std::string check_error(const std::vector<std::string>& args, const FioLimits& limits) {
  try {
    check_fio(parse_fio(args), limits);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

struct JobFile {
  std::string path;
  explicit JobFile(const std::string& text) {
    static int count = 0;
    path = (std::filesystem::temp_directory_path() /
            ("vp_job_" + std::to_string(::getpid()) + "_" + std::to_string(count++) + ".fio"))
               .string();
    std::ofstream(path) << text;
  }
  ~JobFile() { std::filesystem::remove(path); }
};

constexpr std::uint64_t kGiB = 1ULL << 30;

}  // namespace

TEST_CASE("the command line of the TH1520 report is read as fio reads it") {
  const FioRun run = parse_fio({"--filename=/dev/mmcblk0", "--direct=1", "--rw=randread", "--bs=1M",
                                "--ioengine=sync", "--iodepth=256", "--size=4G", "--numjobs=1",
                                "--group_reporting", "--name=iops-test-job", "--readonly"});
  REQUIRE(run.jobs.size() == 1);
  const FioJob& job = run.jobs[0];
  CHECK(job.name == "iops-test-job");
  CHECK(job.filename == "/dev/mmcblk0");
  CHECK(job.direct);
  CHECK(job.rw == FioRw::randread);
  CHECK(job.block_bytes() == 1048576);
  CHECK(job.ioengine == "sync");
  CHECK(job.iodepth == 256);
  CHECK(job.effective_depth() == 1);  // a synchronous engine keeps one in flight
  CHECK(job.size->value == 4 * kGiB);
  CHECK(job.numjobs == 1);
  CHECK(job.group_reporting);
  CHECK(run.readonly);
  CHECK(run.ignored.empty());
  CHECK(run.notes.empty());
}

TEST_CASE("fio sizes use 1024 for k and, as fio does, 1000 for KiB") {
  const std::vector<std::pair<const char*, std::uint64_t>> sizes = {
      {"512", 512},        {"4k", 4096},     {"4K", 4096},    {"4kb", 4096},    {"4ki", 4096},
      {"4KiB", 4000},      {"1m", 1048576},  {"1M", 1048576}, {"2g", 2 * kGiB}, {"2G", 2 * kGiB},
      {"1t", 1024 * kGiB}, {"0x1000", 4096}, {"4096b", 4096}};
  for (const auto& [text, bytes] : sizes) {
    INFO(text);
    CHECK(fio_size(text, "") == bytes);
  }
  CHECK_THROWS_AS(fio_size("4q", ""), InputError);
  CHECK_THROWS_AS(fio_size("", ""), InputError);
  CHECK_THROWS_AS(fio_size("-4k", ""), InputError);
  CHECK_THROWS_AS(fio_size("1.5k", ""), InputError);
  CHECK_THROWS_AS(fio_size("99999999999t", ""), InputError);
}

TEST_CASE("fio times are seconds unless a suffix says otherwise") {
  CHECK(fio_time_ns("10", "") == 10'000'000'000);
  CHECK(fio_time_ns("10s", "") == 10'000'000'000);
  CHECK(fio_time_ns("250ms", "") == 250'000'000);
  CHECK(fio_time_ns("7us", "") == 7'000);
  CHECK(fio_time_ns("2m", "") == 120'000'000'000);
  CHECK_THROWS_AS(fio_time_ns("2 parsecs", ""), InputError);
}

TEST_CASE("options before the first --name hold for every job, later ones for their own") {
  const FioRun run =
      parse_fio({"--bs=4k", "--rw=randwrite", "--name=a", "--bs=8k", "--name=b", "--iodepth", "4"});
  REQUIRE(run.jobs.size() == 2);
  CHECK(run.jobs[0].block_bytes() == 8192);
  CHECK(run.jobs[1].block_bytes() == 4096);
  CHECK(run.jobs[1].rw == FioRw::randwrite);
  CHECK(run.jobs[0].iodepth == 1);
  CHECK(run.jobs[1].iodepth == 4);
}

TEST_CASE("a job file has globals, sections and comments") {
  const JobFile file(
      "; comment\n# another\n[global]\nbs = "
      "4k\nsize=1m\ndirect=1\n\n[first]\nrw=randread\nioengine=libaio\niodepth=32\n"
      "[second]\nrw=randrw\nrwmixwrite=30\nruntime=5\ntime_based\n");
  const FioRun run = parse_fio({file.path});
  REQUIRE(run.jobs.size() == 2);
  CHECK(run.jobs[0].name == "first");
  CHECK(run.jobs[0].effective_depth() == 32);
  CHECK(run.jobs[0].size->value == 1048576);
  CHECK(run.jobs[1].name == "second");
  CHECK(run.jobs[1].rwmix_read == 70);
  CHECK(run.jobs[1].time_based);
  CHECK(run.jobs[1].runtime_ns == 5'000'000'000);
  CHECK_FALSE(run.jobs[0].time_based);
}

TEST_CASE("an error in a job file names file, line, key and a remedy") {
  const JobFile unknown("[global]\nbs=4k\n[job]\niodpth=4\n");
  CHECK(error_of({unknown.path}) == unknown.path + ":4: unknown option 'iodpth': did you mean 'iodepth'?");
  const JobFile value("[job]\n\nbs=4q\n");
  CHECK(error_of({value.path}) ==
        value.path + ":3: bs=4q: '4q' is not a size: write a whole number with k, m, g or t (k is 1024)");
  const JobFile outside("bs=4k\n[job]\n");
  CHECK(error_of({outside.path}) ==
        outside.path + ":1: 'bs=4k' stands before the first section: begin with [global] or [job name]");
  const JobFile broken("[job\nbs=4k\n");
  CHECK(error_of({broken.path}) == broken.path + ":1: '[job' is not a section: write [global] or [job name]");
  const JobFile empty("# nothing\n");
  CHECK(error_of({empty.path}) == empty.path + ": holds no job: add a section [job name]");
  CHECK(error_of({"/nonexistent/x.fio"}) ==
        "/nonexistent/x.fio: cannot read the job file (No such file or directory): check the name");
}

TEST_CASE("an unknown or misspelt option is an error that names the nearest") {
  CHECK(error_with("--iodeth=4") == "fio: unknown option '--iodeth': did you mean '--iodepth'?");
  CHECK(error_with("--rw=radread") ==
        "fio: --rw=radread: must be one of read, write, randread, randwrite, rw, readwrite, randrw; did you "
        "mean 'randread'?");
  CHECK(error_with("--ioengine=libaoi") ==
        "fio: --ioengine=libaoi: must be one of sync, psync, vsync, pvsync, pvsync2, libaio, io_uring, "
        "posixaio; did you "
        "mean 'libaio'?");
  CHECK(error_with("--verify=crc33c") == "fio: --verify=crc33c: did you mean 'crc32c'?");
  CHECK(error_with("--output-format=jsn") ==
        "fio: --output-format=jsn: must be normal or json; did you mean 'json'?");
}

TEST_CASE("values are checked: numbers, truths, block multiples") {
  CHECK(error_with("--iodepth=0") == "fio: --iodepth=0: must be a whole number from 1 to 65536");
  CHECK(error_with("--iodepth=abc") == "fio: --iodepth=abc: must be a whole number from 1 to 65536");
  CHECK(error_with("--numjobs=65") == "fio: --numjobs=65: must be a whole number from 1 to 64");
  CHECK(error_with("--direct=2") == "fio: --direct=2: must be 0 or 1");
  CHECK(error_with("--bs=1000") == "fio: --bs=1000: 1000 bytes is not a multiple of the 512-byte block");
  CHECK(error_with("--bs=4KiB") ==
        "fio: --bs=4KiB: 4000 bytes is not a multiple of the 512-byte block (fio reads KiB as 1000 bytes: "
        "write 4k)");
  CHECK(error_with("--rwmixread=101") == "fio: --rwmixread=101: must be a whole number from 0 to 100");
  CHECK(error_with("--size=101%") == "fio: --size=101: must be a whole number from 0 to 100");
  CHECK(error_with("--bs") == "fio: --bs: needs a value: write --bs=…");
  CHECK(error_of({"--rw=read"}) == "fio: no job defined: add --name=NAME, or name a job file after --");
  CHECK(error_of({}) == "fio: no job defined: add --name=NAME, or name a job file after --");
}

TEST_CASE("readonly refuses a job that writes, as fio does") {
  const std::string text = error_of({"--name=a", "--rw=randwrite", "--readonly"});
  CHECK(text.find("trim and write operations are not allowed with the --readonly parameter") !=
        std::string::npos);
  CHECK(error_of({"--name=a", "--rw=randread", "--readonly"}) == "no error");
}

TEST_CASE("time_based needs a run time, as in fio") {
  CHECK(error_of({"--name=a", "--time_based"}).find("time_based requires a runtime/timeout setting") !=
        std::string::npos);
  CHECK(error_of({"--name=a", "--time_based", "--runtime=1"}) == "no error");
}

TEST_CASE("options without meaning here are listed, options that would change the I/O are refused") {
  const FioRun run =
      parse_fio({"--name=a", "--eta-newline=1", "--thread", "--invalidate=1", "--eta-newline=2"});
  CHECK(run.ignored == std::vector<std::string>{"eta-newline", "thread", "invalidate"});
  CHECK(error_with("--thinktime=10") ==
        "fio: --thinktime=10: not in this version yet: leave it out, or give its neutral value 0");
  CHECK(error_with("--thinktime=0") == "no error");
  CHECK(error_with("--loops=1") == "no error");
  CHECK(error_with("--stonewall") == "no error");  // the first job waits for nobody
  CHECK(error_of({"--name=a", "--name=b", "--stonewall"}).find("fio: --stonewall: not in this version yet") ==
        0);
  CHECK(error_with("--rw=randtrim").find("trim is not in this version yet") != std::string::npos);
}

TEST_CASE("buffered I/O is noted, and keeps one call of a job in flight whatever the engine") {
  CHECK(uses_page_cache(parse_fio({"--name=a", "--direct=1", "--name=b", "--direct=0"})));
  CHECK_FALSE(uses_page_cache(parse_fio({"--name=a", "--direct=1"})));
  CHECK(parse_fio({"--name=a", "--ioengine=libaio", "--iodepth=8"}).jobs[0].effective_depth() == 1);
  CHECK(parse_fio({"--name=a", "--ioengine=libaio", "--iodepth=8", "--direct=1"}).jobs[0].effective_depth() ==
        8);
  CHECK(parse_fio({"--name=a"}).notes.size() == 1);
  CHECK(parse_fio({"--name=a", "--direct=1"}).notes.empty());
  CHECK(parse_fio({"--name=a", "--buffered=0"}).notes.empty());
}

TEST_CASE("a region must fit the device and be made of blocks") {
  const FioLimits limits{1 * kGiB, 256, 64};
  CHECK(check_error({"--name=a", "--size=2g"}, limits) ==
        "fio: job 'a': size=2147483648: the device holds 1073741824 bytes from offset 0: choose a size up to "
        "that, or size=100%");
  CHECK(check_error({"--name=a", "--size=1g", "--offset=512"}, limits)
            .find("holds 1073741312 bytes from offset 512") != std::string::npos);
  CHECK(check_error({"--name=a", "--offset=1g"}, limits).find("the device ends at 1073741824 bytes") !=
        std::string::npos);
  CHECK(check_error({"--name=a", "--size=1000"}, limits).find("not a multiple of the 512-byte block") !=
        std::string::npos);
  CHECK(check_error({"--name=a", "--bs=1m", "--size=512k"}, limits)
            .find("smaller than one block of bs=1048576") != std::string::npos);
  CHECK(check_error({"--name=a", "--ioengine=libaio", "--iodepth=257"}, limits) ==
        "fio: job 'a': iodepth=257: must be at most 256");
  CHECK(check_error({"--name=a", "--ioengine=sync", "--iodepth=257"}, limits) == "no error");
  CHECK(check_error({"--name=a", "--numjobs=40", "--name=b", "--numjobs=40"}, limits)
            .find("80 jobs in all, but at most 64") != std::string::npos);
}

TEST_CASE("percentages and missing sizes refer to the device") {
  const FioLimits limits{1 * kGiB, 256, 64};
  const FioRun run =
      parse_fio({"--name=a", "--size=50%", "--offset=25%", "--name=b", "--offset=256m", "--io_size=8k"});
  const FioRegion a = fio_region(run.jobs[0], 0, limits);
  CHECK(a.offset == kGiB / 4);
  CHECK(a.size == kGiB / 2);
  CHECK(a.io_bytes == a.size);
  const FioRegion b = fio_region(run.jobs[1], 0, limits);
  CHECK(b.size == kGiB - (256ULL << 20));  // the rest of the device
  CHECK(b.io_bytes == 8192);
}

TEST_CASE("every clone of a job gets its own row and seed in the job table") {
  const FioLimits limits{1 * kGiB, 256, 64};
  const FioRun run = parse_fio({"--ioengine=io_uring", "--direct=1", "--iodepth=8", "--size=64m",
                                "--offset_increment=64m", "--fsync=16", "--verify=crc32c", "--norandommap",
                                "--name=a", "--rw=randrw", "--rwmixread=70", "--numjobs=2", "--name=b",
                                "--rw=write", "--bs=64k", "--runtime=1", "--time_based"});
  fw::JobTable table{};
  table.max_segs = 128;  // the machine's part
  fill_job_table(table, run, limits, 1);
  CHECK(table.magic == fw::kJobTableMagic);
  CHECK(table.max_segs == 128);
  REQUIRE(table.job_count == 3);
  CHECK(table.jobs[0].kind == fw::JobKind::randrw);
  CHECK(table.jobs[0].rwmix_read == 70);
  CHECK(table.jobs[0].iodepth == 8);
  CHECK(table.jobs[0].offset == 0);
  CHECK(table.jobs[1].offset == 64ULL << 20);
  CHECK(table.jobs[1].fsync_every == 16);
  CHECK(table.jobs[1].verify == 1);
  CHECK(table.jobs[1].norandommap == 1);
  CHECK(table.jobs[0].seed != table.jobs[1].seed);
  CHECK(table.jobs[2].kind == fw::JobKind::write);
  CHECK(table.jobs[2].block_bytes == 65536);
  CHECK(table.jobs[2].runtime_ns == 1'000'000'000);
  CHECK(table.jobs[2].time_based == 1);
  const std::uint64_t seed = table.jobs[0].seed;
  fill_job_table(table, run, limits, 2);
  CHECK(table.jobs[0].seed != seed);
}
