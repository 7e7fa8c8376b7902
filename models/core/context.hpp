// What every model is given when it is built: where findings, logs, waveforms and spans go, and the timing style.
// One Context per platform; there are no globals.
#pragma once

#include <functional>
#include <string>

#include "models/core/clock.hpp"
#include "models/core/findings.hpp"
#include "models/core/spans.hpp"
#include "models/core/trace.hpp"

namespace vp {

/// TLM-2.0 coding style of the data path, chosen per run (--timing).
enum class TimingStyle { at, lt };

struct Context {
  TimingStyle timing = TimingStyle::at;
  Findings findings;
  Trace trace;
  SpanRecorder spans;
  std::function<void(const std::string&)> log_sink;  ///< null: silent
  std::function<void(const std::string&)> bus_log;   ///< null: silent; what goes over the card bus, line by line

  void log(const std::string& line) {
    if (log_sink) log_sink(line);
  }
  void finding(std::string rule, const std::string& path, std::vector<std::uint64_t> addresses,
               std::string text, sc_time at = sc_core::sc_time_stamp()) {
    findings.report({std::move(rule), at, path, std::move(addresses), std::move(text)});
  }
};

}  // namespace vp
