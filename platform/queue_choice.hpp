// Which queueing a run uses: --queue, --cqe and the preset brought together, and held against what host and device can.
#pragma once

#include "platform/builder.hpp"
#include "platform/options.hpp"

namespace vp {

/// Settles config.driver.queue and .cqe. Throws InputError when the host cannot.
void choose_queue(const Options& options, PlatformConfig& config);
/// Throws InputError when the device, whose queue holds `depth` tasks, cannot.
void check_queue(const PlatformConfig& config, unsigned depth);

}  // namespace vp
