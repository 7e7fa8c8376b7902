#include "platform/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "platform/toml_text.hpp"

namespace vp {
namespace {

const std::string kFolder = "platform/measured/";

/// What a row takes from its run or file when it does not say itself.
struct Defaults {
  std::optional<std::string> metric, kind;
  std::optional<double> band_percent;
};

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {
    seed_.name = std::filesystem::path(file).stem().string();
  }

  MeasuredSeed read(const std::string& text) {
    const toml::value root = parse_toml(file_, text);
    only(root, {"description", "metric", "kind", "band_percent", "criteria", "run"});
    seed_.description = word(need(root, "description"), "description");
    const Defaults defaults = read_defaults(root, {});
    if (const auto* c = entry(root, "criteria")) read_criteria(*c);
    const toml::value& runs = need(root, "run");
    if (!runs.is_array() || runs.as_array().empty()) bad(runs, "run", "must be [[run]] tables, one at least");
    for (const toml::value& run : runs.as_array()) read_run(run, defaults);
    return std::move(seed_);
  }

 private:
  [[noreturn]] void bad(const toml::value& v, const std::string& key, const std::string& remedy) const {
    throw InputError(fmt::format("{}:{}: {}: {}", file_, v.location().line(), key, remedy));
  }
  /// Every key must be one of `keys`; the first wrong one in the order of names is told.
  void only(const toml::value& table, const std::vector<std::string>& keys) const {
    if (!table.is_table()) bad(table, "value", "must be a table");
    std::vector<std::string> wrong;
    for (const auto& [key, value] : table.as_table())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) wrong.push_back(key);
    if (wrong.empty()) return;
    const std::string& key = *std::min_element(wrong.begin(), wrong.end());
    bad(table.as_table().at(key), key,
        fmt::format("unknown key: did you mean '{}'?", nearest_word(key, keys)));
  }
  static const toml::value* entry(const toml::value& table, const char* key) {
    const auto it = table.as_table().find(key);
    return it == table.as_table().end() ? nullptr : &it->second;
  }
  const toml::value& need(const toml::value& table, const char* key) const {
    if (const auto* v = entry(table, key)) return *v;
    bad(table, key, "missing: add it");
  }
  std::string word(const toml::value& v, const std::string& key) const {
    if (!v.is_string() || v.as_string().str.empty()) bad(v, key, "must be a word in quotes");
    return v.as_string().str;
  }
  /// 0 or more.
  double number(const toml::value& v, const std::string& key) const {
    const bool is_number = v.is_integer() || v.is_floating();
    const double n = v.is_integer()    ? static_cast<double>(v.as_integer())
                     : v.is_floating() ? v.as_floating()
                                       : 0;
    if (!is_number || !(n >= 0)) bad(v, key, "must be a number, 0 or more");
    return n;
  }
  void choice(const toml::value& v, const std::string& key, const std::string& value,
              const std::vector<std::string>& choices) const {
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      bad(v, key, fmt::format("'{}' is unknown: did you mean '{}'?", value, nearest_word(value, choices)));
  }

  Defaults read_defaults(const toml::value& table, Defaults d) const {
    if (const auto* v = entry(table, "metric"))
      choice(*v, "metric", *(d.metric = word(*v, "metric")), metric_names());
    if (const auto* v = entry(table, "kind"))
      choice(*v, "kind", *(d.kind = word(*v, "kind")), {"fitted", "predicted"});
    if (const auto* v = entry(table, "band_percent")) d.band_percent = number(*v, "band_percent");
    return d;
  }
  void read_criteria(const toml::value& v) {
    only(v, {"median_error_percent", "sign_agreement_percent", "change_above_percent", "leave_one_out"});
    Criteria& c = seed_.criteria;
    if (const auto* n = entry(v, "median_error_percent"))
      c.median_error_percent = number(*n, "median_error_percent");
    if (const auto* n = entry(v, "sign_agreement_percent"))
      c.sign_agreement_percent = number(*n, "sign_agreement_percent");
    if (const auto* n = entry(v, "change_above_percent"))
      c.change_above_percent = number(*n, "change_above_percent");
    if (const auto* n = entry(v, "leave_one_out")) {
      if (!n->is_boolean()) bad(*n, "leave_one_out", "must be true or false");
      c.leave_one_out = n->as_boolean();
    }
  }
  std::optional<std::size_t> run_named(const std::string& label) const {
    for (std::size_t i = 0; i < seed_.runs.size(); ++i)
      if (seed_.runs[i].label == label) return i;
    return std::nullopt;
  }
  void read_run(const toml::value& v, const Defaults& file_defaults) {
    only(v, {"label", "command", "against", "metric", "kind", "band_percent", "rows"});
    MeasuredRun run;
    run.label = word(need(v, "label"), "label");
    if (run_named(run.label)) bad(v, run.label, "stands twice: give each run a label of its own");
    std::istringstream words(word(need(v, "command"), "command"));
    for (std::string w; words >> w;) run.command.push_back(w);
    if (std::find(run.command.begin(), run.command.end(), "--") == run.command.end())
      bad(need(v, "command"), "command", "has no `--` between the platform's options and the tool's");
    if (const auto* a = entry(v, "against"))
      if (run.against = run_named(word(*a, "against")); !run.against)
        bad(*a, "against", "names no run above it: give that run's label");
    const Defaults defaults = read_defaults(v, file_defaults);
    const toml::value& rows = need(v, "rows");
    if (!rows.is_array() || rows.as_array().empty()) bad(rows, "rows", "must be a list of rows, not empty");
    for (const toml::value& row : rows.as_array()) read_row(row, defaults, run);
    seed_.runs.push_back(std::move(run));
  }
  void read_row(const toml::value& v, const Defaults& run_defaults, MeasuredRun& run) const {
    only(v, {"label", "metric", "measured", "kind", "band_percent"});
    const Defaults d = read_defaults(v, run_defaults);
    if (!d.metric) bad(v, "metric", "missing: say what was measured");
    if (!d.kind) bad(v, "kind", "missing: say fitted or predicted");
    MeasuredRow row{*d.metric, *d.metric, number(need(v, "measured"), "measured"), *d.kind == "fitted",
                    d.band_percent};
    if (const auto* l = entry(v, "label")) row.label = word(*l, "label");
    for (const MeasuredRow& other : run.rows)
      if (other.label == row.label) bad(v, row.label, "stands twice in this run: give the rows labels");
    run.rows.push_back(std::move(row));
  }

  const std::string& file_;
  MeasuredSeed seed_;
};

}  // namespace

MeasuredSeed parse_measured(const std::string& file, const std::string& text) {
  return Reader(file).read(text);
}

std::vector<MeasuredSeed> load_measured(const ConfigSource& source) {
  std::vector<MeasuredSeed> seeds;
  for (const ConfigSource::File& file : source.files)
    if (file.name.rfind(kFolder, 0) == 0) seeds.push_back(parse_measured(file.name, std::string(file.text)));
  std::sort(seeds.begin(), seeds.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return seeds;
}

std::vector<MeasuredSeed> choose_seeds(std::vector<MeasuredSeed> seeds, const std::string& name) {
  if (name.empty()) return seeds;
  std::vector<std::string> names;
  std::vector<std::size_t> exact, begins_so;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    names.push_back(seeds[i].name);
    if (seeds[i].name == name) exact.push_back(i);
    if (seeds[i].name.rfind(name, 0) == 0) begins_so.push_back(i);
  }
  if (!exact.empty()) begins_so = exact;
  if (begins_so.size() != 1)
    throw InputError(fmt::format("emmc-vp validate: unknown seed '{}': did you mean '{}'? (there are {})",
                                 name, nearest_word(name, names), fmt::join(names, ", ")));
  return {std::move(seeds[begins_so.front()])};
}

}  // namespace vp
