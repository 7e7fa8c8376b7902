#include "platform/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "platform/embedded.hpp"
#include "platform/output_file.hpp"
#include "platform/toml_text.hpp"

namespace vp {
namespace {

constexpr unsigned kMaxInherits = 8;

std::string position(const std::string& file, const toml::value& v) {
  return fmt::format("{}:{}: ", file, v.location().line());
}

std::string scalar_text(const toml::value& v, const std::string& key, const std::string& where) {
  if (v.is_boolean()) return v.as_boolean() ? "true" : "false";
  if (v.is_integer()) return fmt::format("{}", v.as_integer());
  if (v.is_floating()) return fmt::format("{}", v.as_floating());
  if (v.is_string()) return v.as_string().str;
  throw InputError(fmt::format(
      "{}{}: must be a number, a word or true/false, or a table with value, kind and source", where, key));
}

ParamKind kind_of(const std::string& word, const std::string& key, const std::string& where) {
  static const std::vector<std::string> kNames = {"datasheet", "register", "fitted", "choice"};
  static constexpr ParamKind kKinds[] = {ParamKind::datasheet, ParamKind::reg, ParamKind::fitted,
                                         ParamKind::choice};
  const auto it = std::find(kNames.begin(), kNames.end(), word);
  if (it == kNames.end())
    throw InputError(fmt::format("{}{}: kind = {}: must be one of {}; did you mean '{}'?", where, key, word,
                                 fmt::join(kNames, ", "), nearest_word(word, kNames)));
  return kKinds[it - kNames.begin()];
}

class Loader {
 public:
  Loader(ParamRegistry& registry, const ConfigSource& source) : registry_(registry), source_(source) {}

  LoadedPreset preset(const std::string& name) {
    LoadedPreset loaded;
    loaded.name = name;
    load_file(name, "presets", "preset", loaded, 0);
    return loaded;
  }

 private:
  void load_file(const std::string& name, const std::string& folder, const std::string& what,
                 LoadedPreset& loaded, unsigned depth) {
    const auto [file, text] = find(name, folder, what);
    if (depth > kMaxInherits)
      throw InputError(
          fmt::format("{}: inherits: more than {} presets deep: break the circle", file, kMaxInherits));
    const toml::value root = parse_toml(file, text);
    if (const auto* base = entry(root, "inherits"))
      load_named(word(*base, "inherits", file), "presets", "preset", position(file, *base), loaded,
                 depth + 1);
    if (const auto* part = entry(root, "part")) {
      const std::string part_name = word(*part, "part", file);
      LoadedPreset ignored;
      load_named(part_name, "parts", "part", position(file, *part), ignored, depth + 1);
      loaded.part = part_name;
    }
    if (const auto* description = entry(root, "description"))
      loaded.description = word(*description, "description", file);
    for (const auto& [key, value] : in_file_order(root))
      if (key != "inherits" && key != "part" && key != "description") set(key, *value, file);
  }

  void load_named(const std::string& name, const std::string& folder, const std::string& what,
                  const std::string& where, LoadedPreset& loaded, unsigned depth) {
    try {
      find(name, folder, what);
    } catch (const InputError& e) {
      throw InputError(where + e.what());
    }
    load_file(name, folder, what, loaded, depth);
  }

  /// A compiled-in file by its stem, or a path.
  std::pair<std::string, std::string> find(const std::string& name, const std::string& folder,
                                           const std::string& what) {
    const std::string wanted = fmt::format("platform/{}/{}.toml", folder, name);
    std::vector<std::string> known;
    for (const ConfigSource::File& file : source_.files) {
      if (file.name == wanted) return {file.name, std::string(file.text)};
      const std::string prefix = fmt::format("platform/{}/", folder);
      if (file.name.rfind(prefix, 0) == 0)
        known.push_back(file.name.substr(prefix.size(), file.name.size() - prefix.size() - 5));
    }
    if (name.find('/') != std::string::npos || name.find(".toml") != std::string::npos)
      return {name, read_whole_file(name, what)};
    throw InputError(fmt::format(
        "unknown {} '{}': did you mean '{}'? ({})", what, name, nearest_word(name, known),
        known.empty() ? "none is built in" : fmt::format("there are {}", fmt::join(known, ", "))));
  }

  static const toml::value* entry(const toml::value& root, const char* key) {
    const auto it = root.as_table().find(key);
    return it == root.as_table().end() ? nullptr : &it->second;
  }

  static std::string word(const toml::value& v, const std::string& key, const std::string& file) {
    if (!v.is_string())
      throw InputError(fmt::format("{}{}: must be a word in quotes", position(file, v), key));
    return v.as_string().str;
  }

  void set(const std::string& key, const toml::value& v, const std::string& file) {
    const std::string where = position(file, v);
    if (!v.is_table()) {
      set_scalar(key, v, where, ParamKind::choice, {});
      return;
    }
    if (v.as_table().count("value") != 0 && !registry_.find(key + ".value"))
      set_with_origin(key, v, where);
    else
      for (const auto& [name, child] : in_file_order(v)) set(key + "." + name, *child, file);
  }

  void set_with_origin(const std::string& key, const toml::value& v, const std::string& where) {
    static const std::vector<std::string> kFields = {"value", "kind", "source"};
    ParamKind kind = ParamKind::choice;
    std::string source;
    for (const auto& [name, child] : in_file_order(v)) {
      if (name == "kind")
        kind = kind_of(scalar_text(*child, key + ".kind", where), key, where);
      else if (name == "source")
        source = scalar_text(*child, key + ".source", where);
      else if (name != "value")
        throw InputError(fmt::format("{}{}: unknown field '{}': did you mean '{}'?", where, key, name,
                                     nearest_word(name, kFields)));
    }
    set_scalar(key, v.as_table().at("value"), where, kind, source);
  }

  void set_scalar(const std::string& key, const toml::value& v, const std::string& where, ParamKind kind,
                  const std::string& source) {
    // A whole float is fine for a whole parameter: 198e6.
    std::string text = scalar_text(v, key, where);
    const Param* p = registry_.find(key);
    if (p && v.is_floating() && std::holds_alternative<std::uint64_t*>(p->ref)) {
      const double d = v.as_floating();
      if (d >= 0 && d < 1.8e19 && d == std::floor(d)) text = fmt::format("{}", static_cast<std::uint64_t>(d));
    }
    registry_.set(key, text, where, kind, source);
  }

  ParamRegistry& registry_;
  const ConfigSource& source_;
};

}  // namespace

ConfigSource ConfigSource::embedded() {
  ConfigSource source;
  for (unsigned i = 0; i < kEmbeddedFileCount; ++i)
    source.files.push_back({std::string(kEmbeddedFiles[i].name), kEmbeddedFiles[i].text});
  return source;
}

LoadedPreset load_preset(ParamRegistry& registry, const std::string& name, const ConfigSource& source) {
  try {
    return Loader(registry, source).preset(name);
  } catch (const InputError& e) {
    const std::string text = e.what();
    if (text.rfind("unknown preset", 0) == 0) throw InputError("emmc-vp: --platform=" + name + ": " + text);
    throw;
  }
}

void apply_overrides(ParamRegistry& registry, const std::vector<std::string>& overrides) {
  for (const std::string& text : overrides) {
    const auto equals = text.find('=');
    registry.set(text.substr(0, equals),
                 equals == std::string::npos ? std::string() : text.substr(equals + 1),
                 "-p: ", ParamKind::user, "command line");
  }
}

std::vector<ConfigEntry> list_config(const ConfigSource& source, const std::string& folder) {
  const std::string prefix = fmt::format("platform/{}/", folder);
  std::vector<ConfigEntry> entries;
  for (const ConfigSource::File& file : source.files) {
    if (file.name.rfind(prefix, 0) != 0 || file.name.size() < prefix.size() + 5) continue;
    const toml::value root = parse_toml(file.name, std::string(file.text));
    const std::string name = file.name.substr(prefix.size(), file.name.size() - prefix.size() - 5);
    entries.push_back({name, toml::find_or<std::string>(root, "description", "")});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

}  // namespace vp
