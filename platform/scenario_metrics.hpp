// The numbers of one point, taken from its run's JSON report.
//
//   iops, bw_bytes, clat_mean_us, clat_p99_us, lat_mean_us      of all jobs and directions (p99: the largest)
//   ios, requests, bytes_per_request                            the program's I/Os; requests of the block layer
//   service_us          time per request with one open: the disk's open time / requests, as iostat's svctm. With one
//                       request at a time it is the latency; with a queue it is the time between completions
//   latency_us          mean life of a request without queue_wait
//   span.NAME           mean us per request, as --explain shows it
//   part.NAME           service_us shared out by the spans: with one request at a time the span itself
//   dat_us              time per request with data on the DAT lines;  util.NAME: percent of the run
//   stall.CAUSE         us per request
//   NAME.NAME           counters, over the whole run, card set-up included
//   findings, boundary findings by rule (finding.RULE), data_errors, io_errors, driver_errors, simulated_us, exit_status
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/json_text.hpp"

namespace vp {

class Metrics {
 public:
  void set(const std::string& name, double value) { values_[name] = value; }
  /// "x/request" is x divided by the requests. A counter that is not in the report counted nothing.
  std::optional<double> get(const std::string& name) const;
  bool empty() const { return values_.empty(); }
  const std::map<std::string, double>& all() const { return values_; }
  Json json() const;

 private:
  std::map<std::string, double> values_;
};

/// `report`: what `emmc-vp fio --output-format=json` prints. Throws std::exception when a key is missing.
Metrics metrics_of(const Json& report, int exit_status);

}  // namespace vp
