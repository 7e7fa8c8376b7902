// Reading TOML: every file of the platform (presets, parts, scenarios, measured rows) reports its errors the same way.
#pragma once

#include <string>
#include <toml.hpp>
#include <utility>
#include <vector>

namespace vp {

using TomlEntries = std::vector<std::pair<std::string, const toml::value*>>;

/// @param file  what errors name  @throws InputError with file and line when the text is not TOML
toml::value parse_toml(const std::string& file, const std::string& text);

/// A table's entries in the file's order: toml11 keeps tables unordered, and the order of settings, overrides and errors
/// must not depend on that.
TomlEntries in_file_order(const toml::value& table);

}  // namespace vp
