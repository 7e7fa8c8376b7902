// One dd command line on one machine: read it, set up, run, report.
#pragma once

#include "platform/front_end.hpp"

namespace vp {

/// Throws InputError for bad input.
int run_dd(const Options& options, Machine& machine, const ConfigSource& source, Streams streams);

}  // namespace vp
