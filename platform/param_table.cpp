#include "platform/param_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace vp {
namespace {

std::string range_of(const Param& p) {
  if (!p.choices.empty()) return fmt::format("{}", fmt::join(p.choices, "|"));
  if (std::holds_alternative<std::string*>(p.ref)) return "text";
  return fmt::format("{}..{}", p.min, p.max);
}

Json value_of(const Param& p) {
  if (auto b = std::get_if<bool*>(&p.ref)) return **b;
  if (auto u = std::get_if<std::uint64_t*>(&p.ref)) return **u;
  if (auto d = std::get_if<double*>(&p.ref)) return **d;
  return *std::get<std::string*>(p.ref);
}

Json origin_json(const Param& p) {
  return {{"value", value_of(p)},
          {"unit", p.unit},
          {"default", p.default_text},
          {"kind", to_string(p.kind)},
          {"source", p.source}};
}

/// Every column as wide as its widest cell; the last one runs free.
template <std::size_t N>
std::string aligned(const std::vector<std::array<std::string, N>>& rows) {
  std::array<std::size_t, N> width{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < N; ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < N; ++i)
      line += fmt::format("{:<{}}{}", row[i], width[i], i + 1 == N ? "" : "  ");
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

constexpr std::array<std::string_view, 3> kFolders = {"presets", "parts", "scenarios"};

}  // namespace

std::string params_text(const ParamRegistry& registry, const LoadedPreset& preset) {
  std::string out =
      fmt::format("platform {}{}{}\n", preset.name, preset.part.empty() ? "" : ", part " + preset.part,
                  preset.description.empty() ? "" : ": " + preset.description);
  std::vector<std::array<std::string, 8>> rows = {
      {"key", "value", "unit", "default", "range", "kind", "source", "doc"}};
  for (const Param& p : registry.all())
    rows.push_back({p.key, p.value_text(), p.unit.empty() ? "-" : p.unit,
                    p.default_text.empty() ? "-" : p.default_text, range_of(p),
                    std::string(to_string(p.kind)), p.source.empty() ? "-" : p.source, p.doc});
  return out + aligned(rows);
}

Json params_json(const ParamRegistry& registry, const LoadedPreset& preset) {
  Json rows = Json::array();
  for (const Param& p : registry.all()) {
    Json row = {{"key", p.key}};
    row.update(origin_json(p));
    row["range"] = range_of(p);
    row["doc"] = p.doc;
    rows.push_back(std::move(row));
  }
  return {{"platform", preset.name},
          {"description", preset.description},
          {"part", preset.part},
          {"parameters", rows}};
}

Json changed_params_json(const ParamRegistry& registry) {
  Json out = Json::object();
  for (const Param& p : registry.all())
    if (p.value_text() != p.default_text) out[p.key] = origin_json(p);
  return out;
}

std::string list_text(const ConfigSource& source) {
  std::string out;
  for (const std::string_view folder : kFolders) {
    out += fmt::format("{}{}\n", out.empty() ? "" : "\n", folder);
    const auto entries = list_config(source, std::string(folder));
    std::vector<std::array<std::string, 2>> rows;
    for (const ConfigEntry& e : entries) rows.push_back({"  " + e.name, e.description});
    out += rows.empty() ? "  none\n" : aligned(rows);
  }
  return out;
}

Json list_json(const ConfigSource& source) {
  Json out;
  for (const std::string_view folder : kFolders) {
    Json rows = Json::array();
    for (const ConfigEntry& e : list_config(source, std::string(folder)))
      rows.push_back({{"name", e.name}, {"description", e.description}});
    out[std::string(folder)] = rows;
  }
  return out;
}

}  // namespace vp
