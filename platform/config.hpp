// Presets and device parts: TOML files that set parameters, each value with its origin.
//
//   description = "LicheePi 4A"        inherits = "generic"        part = "mlc-32g"
//   [sdhci]
//   fifo_bytes = { value = 8192, kind = "choice", source = "not published; two 4 KiB halves" }
//
// Order: what `inherits` names, then the part, then the file's own values; -p comes last. Tables nest into
// dotted keys. An error names file, line, key and the nearest valid word; nothing is set twice silently
// within one file (TOML).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/core/params.hpp"

namespace vp {

/// Where preset and part files come from. The default finds the ones compiled into the program.
struct ConfigSource {
  struct File {
    std::string name;  ///< "platform/presets/th1520.toml"
    std::string_view text;
  };
  std::vector<File> files;
  static ConfigSource embedded();
};

struct LoadedPreset {
  std::string name;  ///< as asked for
  std::string description;
  std::string part;  ///< empty: none
};

/// Sets parameters from preset `name` (a compiled-in one, or the path of a TOML file). Throws InputError.
LoadedPreset load_preset(ParamRegistry& registry, const std::string& name, const ConfigSource& source);
/// Applies "key=value" texts in order. Throws InputError.
void apply_overrides(ParamRegistry& registry, const std::vector<std::string>& overrides);

struct ConfigEntry {
  std::string name, description;
};
/// Names and descriptions of presets, parts or scenarios: `folder` is "presets", "parts" or "scenarios".
std::vector<ConfigEntry> list_config(const ConfigSource& source, const std::string& folder);

}  // namespace vp
