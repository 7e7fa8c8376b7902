// `emmc-vp linux`: one command in a Linux guest whose eMMC is this platform.
#pragma once

#include "platform/run_fio.hpp"

namespace vp::guest {

/// Runs options.rest in the guest; returns its exit status, or one of ExitStatus. Throws InputError.
int run_linux(const Options& options, const ConfigSource& source, Streams streams);

}  // namespace vp::guest
