// --vcd and --vcd-window: opens the waveform file of a run and limits what is written.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <stdexcept>

#include "models/core/context.hpp"
#include "models/core/params.hpp"
#include "platform/options.hpp"

namespace vp {

/// Opens the waveform file and lets the window follow requests or times.
class Waveforms {
 public:
  Waveforms(const Options& options, Context& context) : context_(context), on_(options.vcd.has_value()) {
    if (!on_) return;
    window_ = options.vcd_window;
    if (window_) context.trace.start_closed();
    try {
      context.trace.open(*options.vcd);
    } catch (const std::runtime_error& e) {
      throw InputError(fmt::format("emmc-vp: --vcd={}: {}: name a file in a directory you can write to",
                                   *options.vcd, e.what()));
    }
    if (!window_ || window_->by != VcdWindow::By::time) return;
    context.trace.window_begin(sc_time::from_value(window_->first));
    context.trace.window_end(sc_time::from_value(window_->last));
  }
  void request_begun(const RequestRecord& r) {
    if (by_requests() && r.serial == window_->first) context_.trace.window_begin(r.begin);
  }
  /// The window ends when all its requests are done; queued requests may finish in any order.
  void request_done(const RequestRecord& r) {
    if (!by_requests() || r.serial < window_->first || r.serial > window_->last) return;
    if (++done_ == window_->last - window_->first + 1) context_.trace.window_end(r.end);
  }
  void close(sc_time now) {
    if (on_) context_.trace.close(now);
  }

 private:
  bool by_requests() const { return on_ && window_ && window_->by == VcdWindow::By::requests; }
  Context& context_;
  bool on_;
  std::optional<VcdWindow> window_;
  std::uint64_t done_ = 0;
};

}  // namespace vp
