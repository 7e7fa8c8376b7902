// The statistics a fio report is made of, in bounded memory: running mean and deviation, fio's latency
// histogram, the coarse latency and depth distributions, bandwidth and IOPS samples.
//
// Modelled: fio 3.x as its HOWTO describes it: latencies are counted in buckets of 1/64 relative width (64
// sub-buckets per power of two, 29 powers), percentiles are a bucket's middle, deviations are of the sample
// (n - 1), bandwidth is sampled every 500 ms. Not modelled: logs per I/O, trim, steady state. Times come in
// nanoseconds of simulated time; nothing here reads a clock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace vp {

/// Minimum, maximum, mean and sample deviation of a stream (Welford's update).
class RunningStat {
 public:
  void add(std::uint64_t value);
  /// Joins two streams of the same kind (latencies): the result is that of one stream with all samples.
  void merge(const RunningStat& other);
  /// Joins two rates that existed at the same time (bandwidth of two jobs): they add up.
  void merge_parallel(const RunningStat& other);

  std::uint64_t count() const { return count_; }
  std::uint64_t min() const { return count_ ? min_ : 0; }
  std::uint64_t max() const { return max_; }
  double mean() const { return mean_; }
  double stdev() const;

 private:
  std::uint64_t count_ = 0, min_ = ~0ULL, max_ = 0;
  double mean_ = 0, squares_ = 0;  ///< squares_: sum of squared distances from the mean
};

/// fio's latency histogram: exact below 128 ns, then 64 buckets per power of two; the last one takes the
/// rest.
class LatencyHistogram {
 public:
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kPerGroup = 1u << kBits;
  static constexpr unsigned kGroups = 29;
  static constexpr unsigned kBuckets = kGroups * kPerGroup;

  static unsigned bucket_of(std::uint64_t ns);
  /// The value a bucket is reported as: its middle.
  static std::uint64_t value_of(unsigned bucket);

  void add(std::uint64_t ns) { ++counts_[bucket_of(ns)], ++total_; }
  void merge(const LatencyHistogram& other);
  std::uint64_t total() const { return total_; }
  /// One value per wanted percentile (rising, 0 < p <= 100): the first bucket whose running count reaches it.
  std::vector<std::uint64_t> percentiles(const std::vector<double>& wanted) const;

 private:
  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t total_ = 0;
};

/// fio's default list.
const std::vector<double>& default_percentiles();

/// The "lat (usec) : 250=…" lines: ten ranges below 1 us, ten below 1 ms, twelve above.
struct LatencyRanges {
  static constexpr std::array<std::uint64_t, 12> kUpper = {2,   4,   10,  20,   50,   100,
                                                           250, 500, 750, 1000, 2000, ~0ULL};
  std::array<std::uint64_t, 10> nsec{}, usec{};
  std::array<std::uint64_t, 12> msec{};
  void add(std::uint64_t ns);
  void merge(const LatencyRanges& other);
};

/// Seven ranges as in "IO depths" (1, 2, 4 … 32, >=64) or "submit" and "complete" (0, 4, 8 … 64, >=64).
struct DepthMap {
  std::array<std::uint64_t, 7> counts{};
  void add_depth(std::uint64_t depth);
  void add_batch(std::uint64_t ios);
  void merge(const DepthMap& other);
  std::uint64_t total() const;
};

/// One direction of one job.
struct DirectionStats {
  std::uint64_t bytes = 0, ios = 0;
  RunningStat slat, clat, lat;  ///< slat stays empty for synchronous engines, as in fio
  LatencyHistogram histogram;   ///< of clat
  RunningStat bw_kib, iops;     ///< one sample per 500 ms with traffic
  void merge(const DirectionStats& other);

  /// Accounts for traffic ended `since_start_ns` after the job's start; closes 500 ms windows as time passes.
  void sample(std::uint64_t since_start_ns, std::uint64_t moved_bytes);

 private:
  std::uint64_t window_end_ns_ = 500'000'000;
  std::uint64_t window_bytes_ = 0, window_ios_ = 0;
};

/// One I/O as the recorder saw it.
struct IoSample {
  enum class Dir : std::uint8_t { read, write, trim, sync };
  unsigned job = 0;
  Dir dir = Dir::read;
  std::uint64_t bytes = 0;
  std::uint64_t begin_ns = 0, submitted_ns = 0, end_ns = 0;
  unsigned depth = 1;  ///< I/Os of the job in flight when this one was submitted, itself included
  int error = 0;
};

/// One job.
struct JobStats {
  static constexpr unsigned kDirs = 3;  ///< read, write, trim
  bool synchronous = true;              ///< engine without submission latency
  std::uint64_t start_ns = 0, end_ns = 0;
  std::array<DirectionStats, kDirs> dir;
  std::uint64_t syncs = 0;
  RunningStat sync_lat;
  LatencyHistogram sync_histogram;
  LatencyRanges ranges;
  DepthMap depths, submits, completes;
  int error = 0;
  std::uint64_t errors = 0;
  double user_ns = 0, system_ns = 0;  ///< CPU time charged to the job
  std::uint64_t context_switches = 0;
  std::uint64_t total_runtime_ns = 0;  ///< merged jobs: sum of their run times (CPU shares refer to it)

  void add(const IoSample& io);
  void merge(const JobStats& other);
  std::uint64_t runtime_ns() const { return end_ns > start_ns ? end_ns - start_ns : 0; }
  /// As fio prints it: microseconds rounded up to milliseconds, so that a run is never 0 long.
  std::uint64_t runtime_ms() const { return (runtime_ns() + 999'999) / 1'000'000; }
  /// Bytes per second and I/Os per second over the exact run time (fio itself divides by rounded
  /// milliseconds).
  double bytes_per_second(unsigned d) const;
  double ios_per_second(unsigned d) const;
  std::uint64_t rw_ios() const { return dir[0].ios + dir[1].ios + dir[2].ios; }
};

}  // namespace vp
