// The statistics of a fio report against sorting and against closed forms.
#include "platform/fio_stats.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

IoSample sample(std::uint64_t begin, std::uint64_t end, IoSample::Dir dir = IoSample::Dir::read,
                std::uint64_t bytes = 4096) {
  IoSample s;
  s.dir = dir;
  s.bytes = bytes;
  s.begin_ns = s.submitted_ns = begin;
  s.end_ns = end;
  return s;
}

}  // namespace

TEST_CASE("mean and deviation of 2, 4, 4, 4, 5, 5, 7, 9 are 5 and the root of 32/7") {
  RunningStat s;
  for (const std::uint64_t v : {2, 4, 4, 4, 5, 5, 7, 9}) s.add(v);
  CHECK(s.count() == 8);
  CHECK(s.min() == 2);
  CHECK(s.max() == 9);
  CHECK(s.mean() == Approx(5.0).epsilon(1e-12));
  CHECK(s.stdev() == Approx(std::sqrt(32.0 / 7.0)).epsilon(1e-12));  // sum of squares 32, n - 1 = 7
}

TEST_CASE("one sample has no deviation, none has no extremes") {
  RunningStat s;
  CHECK(s.min() == 0);
  CHECK(s.max() == 0);
  CHECK(s.stdev() == 0);
  s.add(17);
  CHECK(s.mean() == 17);
  CHECK(s.stdev() == 0);
}

TEST_CASE("merged latencies equal one stream, merged rates add up") {
  RunningStat a, b, all;
  for (const std::uint64_t v : {10, 20, 40}) a.add(v), all.add(v);
  for (const std::uint64_t v : {5, 100}) b.add(v), all.add(v);
  RunningStat joined = a;
  joined.merge(b);
  CHECK(joined.mean() == Approx(all.mean()).epsilon(1e-12));
  CHECK(joined.stdev() == Approx(all.stdev()).epsilon(1e-12));
  CHECK(joined.min() == 5);
  CHECK(joined.max() == 100);
  RunningStat empty;
  empty.merge(a);
  CHECK(empty.mean() == Approx(70.0 / 3));
  a.merge_parallel(b);
  CHECK(a.min() == 15);
  CHECK(a.max() == 140);
  CHECK(a.mean() == Approx(70.0 / 3 + 105.0 / 2));
}

TEST_CASE("histogram buckets are exact below 128 ns and 1/64 wide above") {
  for (std::uint64_t v = 0; v < 128; ++v)
    CHECK(LatencyHistogram::value_of(LatencyHistogram::bucket_of(v)) == v);
  // fio prints these for known values: 128..129 -> 129, 41216 is the middle of 40960..41471.
  CHECK(LatencyHistogram::value_of(LatencyHistogram::bucket_of(128)) == 129);
  CHECK(LatencyHistogram::value_of(LatencyHistogram::bucket_of(41000)) == 41216);
  CHECK(LatencyHistogram::value_of(LatencyHistogram::bucket_of(13'697'024)) == 13'697'024);
  std::uint64_t last = 0;
  for (unsigned bucket = 0; bucket < LatencyHistogram::kBuckets; ++bucket) {
    const std::uint64_t value = LatencyHistogram::value_of(bucket);
    CHECK(LatencyHistogram::bucket_of(value) == bucket);
    CHECK((bucket == 0 || value > last));
    last = value;
  }
  CHECK(LatencyHistogram::bucket_of(~0ULL) == LatencyHistogram::kBuckets - 1);
}

TEST_CASE("percentiles agree with a sort within half a bucket") {
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> values;
  LatencyHistogram h;
  for (unsigned i = 0; i < 20000; ++i) {
    const unsigned magnitude = 10 + random() % 16;
    const std::uint64_t v = 1000 + random() % (1ULL << magnitude);
    values.push_back(v);
    h.add(v);
  }
  std::sort(values.begin(), values.end());
  const auto& wanted = default_percentiles();
  const auto got = h.percentiles(wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto rank = static_cast<std::size_t>(std::ceil(wanted[i] / 100.0 * values.size() - 1e-9));
    // 99.9 is not a binary fraction: a percentile that falls between two samples may be either.
    const double low = static_cast<double>(values[rank - 1]);
    const double high = static_cast<double>(values[std::min(rank, values.size() - 1)]);
    INFO(wanted[i]);
    CHECK(static_cast<double>(got[i]) >= low - low / 128 - 1);
    CHECK(static_cast<double>(got[i]) <= high + high / 128 + 1);
  }
}

TEST_CASE("latency ranges and depth maps put values where fio puts them") {
  LatencyRanges r;
  r.add(1);              // nsec 2
  r.add(999);            // nsec 1000
  r.add(1'999);          // usec 2: 1 us
  r.add(2'000);          // usec 4
  r.add(749'999);        // usec 750
  r.add(1'000'000);      // msec 2
  r.add(4'778'000);      // msec 10
  r.add(1'999'000'000);  // msec 2000
  r.add(2'000'000'000);  // msec >=2000
  CHECK(r.nsec[0] == 1);
  CHECK(r.nsec[9] == 1);
  CHECK(r.usec[0] == 1);
  CHECK(r.usec[1] == 1);
  CHECK(r.usec[8] == 1);
  CHECK(r.msec[0] == 1);
  CHECK(r.msec[2] == 1);
  CHECK(r.msec[10] == 1);
  CHECK(r.msec[11] == 1);
  DepthMap depths;
  for (const std::uint64_t d : {1, 2, 3, 4, 8, 16, 32, 63, 64, 256}) depths.add_depth(d);
  CHECK(depths.counts == std::array<std::uint64_t, 7>{1, 2, 1, 1, 1, 2, 2});
  DepthMap batches;
  for (const std::uint64_t n : {0, 1, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65}) batches.add_batch(n);
  CHECK(batches.counts == std::array<std::uint64_t, 7>{1, 2, 2, 2, 2, 2, 1});
}

TEST_CASE("bandwidth is sampled per half second with traffic") {
  JobStats job;
  // 2 I/Os of 512 KiB in the first window, none in the second, 1 in the third, 1 that closes the third.
  for (const std::uint64_t end_ms : {100, 400, 1100, 1600})
    job.add(sample(end_ms * 1'000'000 - 1000, end_ms * 1'000'000, IoSample::Dir::read, 524288));
  const DirectionStats& d = job.dir[0];
  CHECK(d.bw_kib.count() == 2);
  CHECK(d.bw_kib.max() == 2048);  // 1 MiB in 0.5 s
  CHECK(d.bw_kib.min() == 1024);
  CHECK(d.iops.max() == 4);
  CHECK(d.iops.mean() == Approx(3.0));
}

TEST_CASE("an asynchronous engine splits latency into submission and completion") {
  JobStats job;
  job.synchronous = false;
  IoSample s = sample(1000, 9000);
  s.submitted_ns = 3000;
  job.add(s);
  CHECK(job.dir[0].slat.mean() == 2000);
  CHECK(job.dir[0].clat.mean() == 6000);
  CHECK(job.dir[0].lat.mean() == 8000);
  JobStats sync;
  sync.add(s);
  CHECK(sync.dir[0].slat.count() == 0);
  CHECK(sync.dir[0].clat.mean() == 8000);
}

TEST_CASE("a failed I/O moves no bytes and leaves the job's error") {
  JobStats job;
  IoSample s = sample(0, 1000);
  s.error = 5;
  job.add(s);
  CHECK(job.error == 5);
  CHECK(job.dir[0].ios == 0);
  CHECK(job.dir[0].bytes == 0);
}
