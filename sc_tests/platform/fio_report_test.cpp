// fio's report: layout of a known data set, keys of the JSON schema.
#include "platform/fio_report.hpp"

#include <set>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

IoSample io(std::uint64_t begin, std::uint64_t end, IoSample::Dir dir = IoSample::Dir::read,
            std::uint64_t bytes = 1048576, unsigned depth = 1) {
  IoSample s;
  s.dir = dir;
  s.bytes = bytes;
  s.begin_ns = s.submitted_ns = begin;
  s.end_ns = end;
  s.depth = depth;
  return s;
}

/// Four 1 MiB reads of 4, 5, 5 and 6 ms, back to back.
FioResults four_reads() {
  FioResults r;
  r.version = "0.1.0";
  JobStats job;
  std::uint64_t t = 0;
  for (const std::uint64_t ms : {4, 5, 5, 6}) {
    job.add(io(t, t + ms * 1'000'000));
    t += ms * 1'000'000;
  }
  job.user_ns = 0.02 * 20e6;  // 2 % of 20 ms
  job.system_ns = 0.13 * 20e6;
  job.context_switches = 9;
  r.clones = {job};
  r.end_ns = t;
  r.disk.ios[0] = 8;
  r.disk.ticks_ns[0] = 25'682'000;
  r.disk.open_ns = 19'000'000;
  r.disk.run_ns = 20'000'000;
  return r;
}

FioRun th1520_run() {
  return parse_fio({"--filename=/dev/mmcblk0", "--direct=1", "--rw=randread", "--bs=1M", "--ioengine=sync",
                    "--iodepth=256", "--size=4M", "--numjobs=1", "--group_reporting", "--name=iops-test-job",
                    "--readonly"});
}

std::set<std::string> keys(const Json& j) {
  std::set<std::string> out;
  for (const auto& [key, value] : j.items()) out.insert(key);
  return out;
}

}  // namespace

TEST_CASE("numbers are shortened as fio shortens them") {
  CHECK(fio_number(1048576, 4, true, "B") == "1024KiB");
  CHECK(fio_number(67108864, 4, true, "B") == "64.0MiB");
  CHECK(fio_number(67108864, 4, false, "B") == "67.1MB");
  CHECK(fio_number(4096, 4, true, "B") == "4096B");
  CHECK(fio_number(65536, 4, true, "B") == "64.0KiB");
  CHECK(fio_number(4ULL << 30, 4, true, "B") == "4096MiB");
  CHECK(fio_number(10ULL << 30, 4, true, "B") == "10.0GiB");
  CHECK(fio_number(85333, 4, false, "") == "85.3k");
  CHECK(fio_number(418999, 4, false, "") == "419k");  // no room for a decimal: rounded
  CHECK(fio_number(4836900, 6, false, "") == "4836.9k");
  CHECK(fio_number(1173000, 6, false, "") == "1173.0k");
  CHECK(fio_number(0, 4, true, "B/s") == "0B/s");
}

TEST_CASE("the normal report of a tiny data set is fio's, line by line") {
  // 4 MiB in 20 ms: 209715200 B/s = 200 MiB/s = 209.7 MB/s (fio: 210MB/s). clat 4, 5, 5, 6 ms: mean 5 ms,
  // deviation sqrt(2/3) ms = 816.50 us. 4 ms lies in the bucket 3997696..4030463 ns (middle 4014080 -> 4015
  // us), 5 ms in 4980736..5046271 (5013504 -> 5014), 6 ms in 5963776..6029311 (5996544 -> 5997).
  const std::string want =
      "iops-test-job: (g=0): rw=randread, bs=(R) 1024KiB-1024KiB, (W) 1024KiB-1024KiB, (T) 1024KiB-1024KiB, "
      "ioengine=sync, "
      "iodepth=256\n"
      "emmc-vp-0.1.0 (fio-3.33 compatible report, simulated time)\n"
      "Starting 1 process\n"
      "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n"
      "\n"
      "iops-test-job: (groupid=0, jobs=1): err= 0: pid=1: Thu Jan  1 00:00:00 1970\n"
      "  read: IOPS=200, BW=200MiB/s (210MB/s)(4096KiB/20msec)\n"
      "    clat (usec): min=4000, max=6000, avg=5000.00, stdev=816.50\n"
      "     lat (usec): min=4000, max=6000, avg=5000.00, stdev=816.50\n"
      "    clat percentiles (usec):\n"
      "     |  1.00th=[ 4015],  5.00th=[ 4015], 10.00th=[ 4015], 20.00th=[ 4015],\n"
      "     | 30.00th=[ 5014], 40.00th=[ 5014], 50.00th=[ 5014], 60.00th=[ 5014],\n"
      "     | 70.00th=[ 5014], 80.00th=[ 5997], 90.00th=[ 5997], 95.00th=[ 5997],\n"
      "     | 99.00th=[ 5997], 99.50th=[ 5997], 99.90th=[ 5997], 99.95th=[ 5997],\n"
      "     | 99.99th=[ 5997]\n"
      "  lat (msec)   : 10=100.00%\n"
      "  cpu          : usr=2.00%, sys=13.00%, ctx=9, majf=0, minf=0\n"
      "  IO depths    : 1=100.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=0.0%, 32=0.0%, >=64=0.0%\n"
      "     submit    : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
      "     complete  : 0=0.0%, 4=100.0%, 8=0.0%, 16=0.0%, 32=0.0%, 64=0.0%, >=64=0.0%\n"
      "     issued rwts: total=4,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
      "     latency   : target=0, window=0, percentile=100.00%, depth=256\n"
      "\n"
      "Run status group 0 (all jobs):\n"
      "   READ: bw=200MiB/s (210MB/s), 200MiB/s-200MiB/s (210MB/s-210MB/s), io=4096KiB (4194kB), "
      "run=20-20msec\n"
      "\n"
      "Disk stats (read/write):\n"
      "  mmcblk0: ios=8/0, merge=0/0, ticks=25/0, in_queue=25, util=95.00%\n";
  CHECK(fio_text(th1520_run(), four_reads()) == want);
}

TEST_CASE("short latencies are shown in nanoseconds, long ones in milliseconds") {
  const FioRun run = th1520_run();
  FioResults r = four_reads();
  JobStats fast;
  fast.add(io(0, 1500));
  fast.add(io(1500, 3000));
  r.clones = {fast};
  CHECK(fio_text(run, r).find("    clat (nsec): min=1500, max=1500, avg=1500.00, stdev= 0.00\n") !=
        std::string::npos);
  JobStats slow;  // 100 and 300 ms: mean 200, deviation sqrt(2) * 100
  slow.add(io(0, 100'000'000));
  slow.add(io(100'000'000, 400'000'000));
  r.clones = {slow};
  const std::string text = fio_text(run, r);
  CHECK(text.find("    clat (msec): min=100, max=300, avg=200.00, stdev=141.42\n") != std::string::npos);
  CHECK(text.find("clat percentiles (msec):\n     |  1.00th=[  101]") != std::string::npos);
  CHECK(text.find("  lat (msec)   : 250=50.00%, 500=50.00%\n") != std::string::npos);
}

TEST_CASE("mixed jobs report both directions, syncs, and are merged by group_reporting") {
  const FioRun run = parse_fio({"--rw=randrw", "--bs=4k", "--ioengine=libaio", "--iodepth=8", "--numjobs=2",
                                "--group_reporting", "--direct=1", "--name=mix"});
  FioResults r = four_reads();
  JobStats a;
  a.synchronous = false;
  a.add(io(0, 100'000, IoSample::Dir::read, 4096, 3));
  a.add(io(0, 200'000, IoSample::Dir::write, 4096, 4));
  a.add(io(200'000, 900'000, IoSample::Dir::sync, 0));
  JobStats b = a;
  r.clones = {a, b};
  const std::string text = fio_text(run, r);
  CHECK(text.find("mix: (groupid=0, jobs=2): err= 0") != std::string::npos);
  CHECK(text.find("iodepth=8\n...\nemmc-vp") != std::string::npos);
  CHECK(text.find("Starting 2 processes\n") != std::string::npos);
  CHECK(text.find("  write: IOPS=2222, BW=8889KiB/s (9102kB/s)(8192B/1msec); 0 zone resets\n") !=
        std::string::npos);  // 2 in 0.9 ms: 9102222 B/s
  CHECK(text.find("    slat (nsec): min=0, max=0, avg= 0.00, stdev= 0.00\n") != std::string::npos);
  CHECK(text.find("  fsync/fdatasync/sync_file_range:\n    sync (nsec): min=700000, max=700000") !=
        std::string::npos);
  CHECK(text.find("issued rwts: total=2,2,0,2 short") != std::string::npos);
  CHECK(text.find("IO depths    : 1=0.0%, 2=50.0%, 4=50.0%") != std::string::npos);
  CHECK(text.find("  WRITE: bw=") != std::string::npos);

  FioRun apart = run;
  apart.jobs[0].group_reporting = false;
  CHECK(fio_report_jobs(apart, r).size() == 2);
}

TEST_CASE("the JSON document has the keys of fio 3.x, nested as fio nests them") {
  const Json j = fio_json(th1520_run(), four_reads());
  CHECK(keys(j) == std::set<std::string>{"fio version", "timestamp", "timestamp_ms", "time", "global options",
                                         "jobs", "disk_util"});
  const Json& job = j["jobs"][0];
  CHECK(keys(job) == std::set<std::string>{"jobname",
                                           "groupid",
                                           "error",
                                           "eta",
                                           "elapsed",
                                           "job options",
                                           "read",
                                           "write",
                                           "trim",
                                           "sync",
                                           "job_runtime",
                                           "usr_cpu",
                                           "sys_cpu",
                                           "ctx",
                                           "majf",
                                           "minf",
                                           "iodepth_level",
                                           "iodepth_submit",
                                           "iodepth_complete",
                                           "latency_ns",
                                           "latency_us",
                                           "latency_ms",
                                           "latency_depth",
                                           "latency_target",
                                           "latency_percentile",
                                           "latency_window"});
  for (const char* dir : {"read", "write", "trim"})
    CHECK(keys(job[dir]) == std::set<std::string>{"io_bytes",  "io_kbytes",   "bw_bytes",    "bw",
                                                  "iops",      "runtime",     "total_ios",   "short_ios",
                                                  "drop_ios",  "slat_ns",     "clat_ns",     "lat_ns",
                                                  "bw_min",    "bw_max",      "bw_agg",      "bw_mean",
                                                  "bw_dev",    "bw_samples",  "iops_min",    "iops_max",
                                                  "iops_mean", "iops_stddev", "iops_samples"});
  CHECK(keys(job["read"]["clat_ns"]) ==
        std::set<std::string>{"min", "max", "mean", "stddev", "N", "percentile"});
  CHECK(job["read"]["clat_ns"]["percentile"].size() == 17);
  CHECK(keys(job["iodepth_level"]) == std::set<std::string>{"1", "2", "4", "8", "16", "32", ">=64"});
  CHECK(keys(job["iodepth_submit"]) == std::set<std::string>{"0", "4", "8", "16", "32", "64", ">=64"});
  CHECK(job["latency_ms"].size() == 12);
  CHECK(job["latency_us"].size() == 10);
  CHECK(keys(j["disk_util"][0]) == std::set<std::string>{"name", "read_ios", "write_ios", "read_merges",
                                                         "write_merges", "read_ticks", "write_ticks",
                                                         "in_queue", "util"});
}

TEST_CASE("the JSON numbers of a tiny data set follow from its arithmetic") {
  const Json j = fio_json(th1520_run(), four_reads());
  const Json& read = j["jobs"][0]["read"];
  CHECK(j["jobs"][0]["jobname"] == "iops-test-job");
  CHECK(j["global options"]["filename"] == "/dev/mmcblk0");
  CHECK(j["jobs"][0]["job options"]["name"] == "iops-test-job");
  CHECK(read["io_bytes"] == 4194304);
  CHECK(read["io_kbytes"] == 4096);
  CHECK(read["bw_bytes"] == 209715200);  // 4 MiB / 20 ms
  CHECK(read["bw"] == 204800);
  CHECK(read["iops"].get<double>() == Approx(200.0));
  CHECK(read["runtime"] == 20);
  CHECK(read["total_ios"] == 4);
  CHECK(read["clat_ns"]["mean"].get<double>() == Approx(5e6));
  CHECK(read["clat_ns"]["percentile"]["50.000000"] == 5013504);
  CHECK(read["slat_ns"]["N"] == 0);
  CHECK(j["disk_util"][0]["read_ticks"] == 25);
  CHECK(j["disk_util"][0]["util"].get<double>() == Approx(95.0));
}

TEST_CASE("JSON text is laid out as fio lays it out, doubles with six decimals") {
  const Json j = {{"a", 1},
                  {"b", {{"c", 0.5}, {"d", "x\"y"}}},
                  {"e", Json::array({1, Json::object()})},
                  {"f", Json::array()}};
  CHECK(json_text(j) ==
        "{\n  \"a\" : 1,\n  \"b\" : {\n    \"c\" : 0.500000,\n    \"d\" : \"x\\\"y\"\n  },\n  \"e\" : [\n    "
        "1,\n    {}\n  ],\n"
        "  \"f\" : []\n}\n");
  CHECK(Json::parse(json_text(j))["b"]["c"] == 0.5);
}
