#include "platform/fio_stats.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vp {

void RunningStat::add(std::uint64_t value) {
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  ++count_;
  const double v = static_cast<double>(value);
  const double delta = v - mean_;
  mean_ += delta / static_cast<double>(count_);
  squares_ += delta * (v - mean_);
}

void RunningStat::merge(const RunningStat& other) {
  if (other.count_ == 0) return;
  const double a = static_cast<double>(count_), b = static_cast<double>(other.count_);
  const double delta = other.mean_ - mean_;
  squares_ += other.squares_ + delta * delta * a * b / (a + b);
  mean_ = (mean_ * a + other.mean_ * b) / (a + b);
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
}

void RunningStat::merge_parallel(const RunningStat& other) {
  if (other.count_ == 0) return;
  min_ = min() + other.min_;
  max_ += other.max_;
  mean_ += other.mean_;
  squares_ += other.squares_;
  count_ += other.count_;
}

double RunningStat::stdev() const {
  return count_ > 1 ? std::sqrt(squares_ / (static_cast<double>(count_) - 1.0)) : 0.0;
}

unsigned LatencyHistogram::bucket_of(std::uint64_t ns) {
  const unsigned width = static_cast<unsigned>(std::bit_width(ns));
  if (width <= kBits + 1) return static_cast<unsigned>(ns);
  const unsigned shift = width - 1 - kBits;  // low bits that the bucket does not tell apart
  if (shift + 1 >= kGroups) return kBuckets - 1;
  return (shift + 1) * kPerGroup + (static_cast<unsigned>(ns >> shift) & (kPerGroup - 1));
}

std::uint64_t LatencyHistogram::value_of(unsigned bucket) {
  if (bucket < 2 * kPerGroup) return bucket;
  const unsigned shift = bucket / kPerGroup - 1;
  const std::uint64_t low = static_cast<std::uint64_t>(kPerGroup + bucket % kPerGroup) << shift;
  return low + (std::uint64_t{1} << shift) / 2;
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  for (unsigned i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  total_ += other.total_;
}

std::vector<std::uint64_t> LatencyHistogram::percentiles(const std::vector<double>& wanted) const {
  std::vector<std::uint64_t> values;
  std::uint64_t sum = 0;
  for (unsigned bucket = 0; bucket < kBuckets && values.size() < wanted.size(); ++bucket) {
    if (counts_[bucket] == 0) continue;
    sum += counts_[bucket];
    while (values.size() < wanted.size() &&
           static_cast<long double>(sum) >= static_cast<long double>(wanted[values.size()]) / 100.0L * total_)
      values.push_back(value_of(bucket));
  }
  values.resize(wanted.size(), 0);
  return values;
}

const std::vector<double>& default_percentiles() {
  static const std::vector<double> list = {1,  5,  10, 20,   30,   40,    50,    60,   70,
                                           80, 90, 95, 99.0, 99.5, 99.90, 99.95, 99.99};
  return list;
}

namespace {

template <std::size_t N>
void add_all(std::array<std::uint64_t, N>& to, const std::array<std::uint64_t, N>& from) {
  for (std::size_t i = 0; i < N; ++i) to[i] += from[i];
}

/// The first range whose upper bound (exclusive) is above `value`.
std::size_t range_of(std::uint64_t value) {
  const auto& upper = LatencyRanges::kUpper;
  const auto it = std::upper_bound(upper.begin(), upper.end(), value);
  return std::min(static_cast<std::size_t>(it - upper.begin()), upper.size() - 1);
}

}  // namespace

void LatencyRanges::add(std::uint64_t ns) {
  if (ns < 1000)
    ++nsec[range_of(ns)];
  else if (ns < 1'000'000)
    ++usec[range_of(ns / 1000)];
  else
    ++msec[range_of(ns / 1'000'000)];
}

void LatencyRanges::merge(const LatencyRanges& other) {
  add_all(nsec, other.nsec);
  add_all(usec, other.usec);
  add_all(msec, other.msec);
}

void DepthMap::add_depth(std::uint64_t depth) {
  const unsigned width = static_cast<unsigned>(std::bit_width(depth));
  ++counts[std::min(width == 0 ? 0u : width - 1, 6u)];
}

void DepthMap::add_batch(std::uint64_t ios) {
  const unsigned width = static_cast<unsigned>(std::bit_width(ios == 0 ? 0 : ios - 1));
  const unsigned index = ios == 0 ? 0 : ios <= 4 ? 1 : std::min(width - 1, 6u);
  ++counts[index];
}

void DepthMap::merge(const DepthMap& other) { add_all(counts, other.counts); }

std::uint64_t DepthMap::total() const {
  std::uint64_t sum = 0;
  for (const auto c : counts) sum += c;
  return sum;
}

void DirectionStats::merge(const DirectionStats& other) {
  bytes += other.bytes;
  ios += other.ios;
  slat.merge(other.slat);
  clat.merge(other.clat);
  lat.merge(other.lat);
  histogram.merge(other.histogram);
  bw_kib.merge_parallel(other.bw_kib);
  iops.merge_parallel(other.iops);
}

void DirectionStats::sample(std::uint64_t since_start_ns, std::uint64_t moved_bytes) {
  constexpr std::uint64_t kWindowNs = 500'000'000;
  if (since_start_ns >= window_end_ns_) {
    if (window_ios_ != 0) {
      bw_kib.add(window_bytes_ * 2 / 1024);  // per second, from half a second
      iops.add(window_ios_ * 2);
    }
    window_bytes_ = window_ios_ = 0;
    window_end_ns_ = (since_start_ns / kWindowNs + 1) * kWindowNs;
  }
  window_bytes_ += moved_bytes;
  ++window_ios_;
}

void JobStats::add(const IoSample& io) {
  end_ns = std::max(end_ns, io.end_ns);
  total_runtime_ns = runtime_ns();
  if (io.error != 0) {
    ++errors;
    if (error == 0) error = io.error;
    return;
  }
  if (io.dir == IoSample::Dir::sync) {
    ++syncs;
    sync_lat.add(io.end_ns - io.begin_ns);
    sync_histogram.add(io.end_ns - io.begin_ns);
    return;
  }
  DirectionStats& d = dir[static_cast<unsigned>(io.dir)];
  const std::uint64_t submitted =
      synchronous ? io.begin_ns : std::clamp(io.submitted_ns, io.begin_ns, io.end_ns);
  const std::uint64_t clat = io.end_ns - submitted;
  d.bytes += io.bytes;
  ++d.ios;
  if (!synchronous) d.slat.add(submitted - io.begin_ns);
  d.clat.add(clat);
  d.lat.add(io.end_ns - io.begin_ns);
  d.histogram.add(clat);
  d.sample(io.end_ns - std::min(start_ns, io.end_ns), io.bytes);
  ranges.add(clat);
  depths.add_depth(io.depth);
  submits.add_batch(1);
  completes.add_batch(1);
}

void JobStats::merge(const JobStats& other) {
  start_ns = std::min(start_ns, other.start_ns);
  end_ns = std::max(end_ns, other.end_ns);
  for (unsigned d = 0; d < kDirs; ++d) dir[d].merge(other.dir[d]);
  syncs += other.syncs;
  sync_lat.merge(other.sync_lat);
  sync_histogram.merge(other.sync_histogram);
  ranges.merge(other.ranges);
  depths.merge(other.depths);
  submits.merge(other.submits);
  completes.merge(other.completes);
  if (error == 0) error = other.error;
  errors += other.errors;
  user_ns += other.user_ns;
  system_ns += other.system_ns;
  context_switches += other.context_switches;
  total_runtime_ns += other.total_runtime_ns;
  synchronous = synchronous && other.synchronous;
}

double JobStats::bytes_per_second(unsigned d) const {
  return runtime_ns() == 0 ? 0.0
                           : static_cast<double>(dir[d].bytes) * 1e9 / static_cast<double>(runtime_ns());
}

double JobStats::ios_per_second(unsigned d) const {
  return runtime_ns() == 0 ? 0.0 : static_cast<double>(dir[d].ios) * 1e9 / static_cast<double>(runtime_ns());
}

}  // namespace vp
