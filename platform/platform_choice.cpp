#include "platform/platform_choice.hpp"

#include <fmt/format.h>

#include "platform/output_file.hpp"

namespace vp {
namespace {

constexpr const char* kOnlyPart = "platform/presets/--part.toml";

std::string part_text(const std::string& name, const ConfigSource& source) {
  for (const ConfigSource::File& f : source.files)
    if (f.name == fmt::format("platform/parts/{}.toml", name)) return std::string(f.text);
  return read_whole_file(name, "part");
}

/// `load_preset` says where in the made-up preset the part is named; the user named it on the command line.
LoadedPreset load_part_alone(ParamRegistry& registry, const std::string& part, ConfigSource source) {
  const std::string text = "part = '" + part + "'\n";
  source.files.push_back({kOnlyPart, text});
  try {
    return load_preset(registry, "--part", source);
  } catch (const InputError& e) {
    const std::string what = e.what(), where = fmt::format("{}:1: ", kOnlyPart);
    if (what.rfind(where, 0) == 0)
      throw InputError(fmt::format("emmc-vp: --part={}: {}", part, what.substr(where.size())));
    throw;
  }
}

}  // namespace

LoadedPreset load_platform(ParamRegistry& registry, const Options& options, const ConfigSource& source) {
  if (!options.part) return load_preset(registry, options.platform, source);
  if (options.part->find_first_of("'\n") != std::string::npos)
    throw InputError(fmt::format("emmc-vp: --part={}: not a part's name: see emmc-vp list", *options.part));
  // Before anything else: a bad part is reported under its own name.
  load_part_alone(registry, *options.part, source);
  ConfigSource swapped = source;
  const std::string text = part_text(*options.part, source);
  for (ConfigSource::File& f : swapped.files)
    if (f.name.rfind("platform/parts/", 0) == 0) f.text = text;
  LoadedPreset loaded = load_preset(registry, options.platform, swapped);
  load_part_alone(registry, *options.part, source);
  loaded.part = *options.part;
  return loaded;
}

}  // namespace vp
