// `emmc-vp params` and `emmc-vp list`.
#pragma once

#include <string>

#include "models/core/params.hpp"
#include "platform/config.hpp"
#include "platform/json_text.hpp"

namespace vp {

/// Key, value, unit, default, range, kind, source, doc.
std::string params_text(const ParamRegistry& registry, const LoadedPreset& preset);
Json params_json(const ParamRegistry& registry, const LoadedPreset& preset);
/// The parameters that differ from their default, for a report.
Json changed_params_json(const ParamRegistry& registry);
/// Presets, parts, scenarios with their descriptions.
std::string list_text(const ConfigSource& source);
Json list_json(const ConfigSource& source);

}  // namespace vp
