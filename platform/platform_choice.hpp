// --platform and --part together: which preset, on which device part.
#pragma once

#include "platform/config.hpp"
#include "platform/options.hpp"

namespace vp {

/// Loads options.platform. With --part, another part stands in the place of the preset's own, and its values also win
/// over what the preset says of its own part. Throws InputError.
LoadedPreset load_platform(ParamRegistry& registry, const Options& options, const ConfigSource& source);

}  // namespace vp
