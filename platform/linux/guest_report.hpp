// What the hardware did during a guest's run, as text or JSON. Goes to stderr or a file: stdout is the guest's.
#pragma once

#include <string>
#include <vector>

#include "platform/config.hpp"
#include "platform/explain.hpp"
#include "platform/linux/guest_platform.hpp"
#include "platform/options.hpp"
#include "platform/session.hpp"

namespace vp::guest {

std::vector<CounterRow> guest_counters(const GuestPlatform& platform);
std::string guest_report(const Options& options, const LoadedPreset& preset, const GuestPlatform& platform,
                         const PciIdentity& identity, const Context& context, const Explain& explain);

}  // namespace vp::guest
