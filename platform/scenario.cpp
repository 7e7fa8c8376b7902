#include "platform/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "models/core/params.hpp"
#include "platform/output_file.hpp"
#include "platform/toml_text.hpp"

namespace vp {
namespace {

class Reader {
 public:
  explicit Reader(std::string file) { scenario_.file = std::move(file); }

  Scenario read(const std::string& text) {
    const toml::value root = parse_toml(scenario_.file, text);
    static const std::vector<std::string> kKeys = {
        "description", "platform",   "part",  "timing",   "cqe",      "queue",   "cpu",   "seed",
        "workload",    "parameters", "sweep", "analysis", "measured", "outputs", "expect"};
    for (const auto& [key, value] : in_file_order(root)) {
      known(key, *value, "key", kKeys);
      root_key(key, *value);
    }
    if (scenario_.workload.empty())
      throw InputError(
          scenario_.file +
          ": workload: missing: give fio's options as a [workload] table or a string, or dd's as a string");
    check_references();
    return std::move(scenario_);
  }

 private:
  std::string at(const toml::value& v) const {
    return fmt::format("{}:{}: ", scenario_.file, v.location().line());
  }
  [[noreturn]] void bad(const toml::value& v, const std::string& key, const std::string& remedy) const {
    throw InputError(fmt::format("{}{}: {}", at(v), key, remedy));
  }
  void known(const std::string& key, const toml::value& v, const char* what,
             const std::vector<std::string>& keys) const {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      throw InputError(fmt::format("{}unknown {} '{}': did you mean '{}'? (there are {})", at(v), what, key,
                                   nearest_word(key, keys), fmt::join(keys, ", ")));
  }

  std::string scalar(const toml::value& v, const std::string& key) const {
    if (v.is_boolean()) return v.as_boolean() ? "true" : "false";
    if (v.is_integer()) return fmt::format("{}", v.as_integer());
    if (v.is_string()) return v.as_string().str;
    if (!v.is_floating()) bad(v, key, "must be a number, a word or true/false");
    const double d = v.as_floating();  // 198e6 is a fine whole number
    if (d == std::floor(d) && std::fabs(d) < 9e18) return fmt::format("{}", static_cast<std::int64_t>(d));
    return fmt::format("{}", d);
  }
  Json json_of(const toml::value& v, const std::string& key) const {
    if (v.is_boolean()) return v.as_boolean();
    if (v.is_integer()) return v.as_integer();
    if (v.is_floating()) return v.as_floating();
    return scalar(v, key);
  }
  std::string word(const toml::value& v, const std::string& key) const {
    if (!v.is_string() || v.as_string().str.empty()) bad(v, key, "must be a word in quotes");
    return v.as_string().str;
  }
  double number(const toml::value& v, const std::string& key) const {
    if (v.is_integer()) return static_cast<double>(v.as_integer());
    if (!v.is_floating()) bad(v, key, "must be a number");
    return v.as_floating();
  }
  const toml::array& array(const toml::value& v, const std::string& key, const char* of) const {
    if (!v.is_array() || v.as_array().empty())
      bad(v, key, fmt::format("must be a list of {}, not empty", of));
    return v.as_array();
  }
  const toml::value& table(const toml::value& v, const std::string& key) const {
    if (!v.is_table()) bad(v, key, "must be a table");
    return v;
  }
  std::vector<std::string> words(const toml::value& v, const std::string& key) const {
    std::vector<std::string> list;
    for (const toml::value& w : array(v, key, "words")) list.push_back(word(w, key));
    return list;
  }
  AxisLabels labels(const toml::value& v, const std::string& key) const {
    AxisLabels list;
    for (const auto& [name, value] : in_file_order(table(v, key)))
      list.emplace_back(name, scalar(*value, key + "." + name));
    return list;
  }

  void root_key(const std::string& key, const toml::value& v) {
    if (key == "description")
      scenario_.description = word(v, key);
    else if (key == "workload")
      workload(v);
    else if (key == "parameters")
      flatten(table(v, key), "", scenario_.fixed);
    else if (key == "sweep")
      for (const toml::value& axis_table : array(v, key, "tables: write [[sweep]]"))
        sweep(table(axis_table, key));
    else if (key == "analysis" || key == "measured")
      one_or_more(key, v);
    else if (key == "outputs")
      scenario_.outputs = words(v, key);
    else if (key == "expect")
      expect(v);
    else
      scenario_.fixed.push_back({key, scalar(v, key), at(v)});
  }

  /// [analysis] and [[analysis]] are both fine.
  void one_or_more(const std::string& key, const toml::value& v) {
    const auto one = [&](const toml::value& t) {
      key == "analysis" ? analysis(table(t, key)) : measured(table(t, key));
    };
    if (v.is_table()) return one(v);
    for (const toml::value& t : array(v, key, "tables")) one(t);
  }

  void expect(const toml::value& v) {
    scenario_.expect.clear();
    for (const toml::value& s : array(v, "expect", "exit statuses")) {
      if (!s.is_integer() || s.as_integer() < 0 || s.as_integer() > 4)
        bad(s, "expect", "an exit status is 0 to 4");
      scenario_.expect.push_back(static_cast<int>(s.as_integer()));
    }
  }

  void flatten(const toml::value& t, const std::string& prefix, std::vector<Assignment>& to) const {
    for (const auto& [name, value] : in_file_order(t)) {
      const std::string key = prefix.empty() ? name : prefix + "." + name;
      if (value->is_table())
        flatten(*value, key, to);
      else
        to.push_back({key, scalar(*value, key), at(*value)});
    }
  }

  void workload(const toml::value& v) {
    scenario_.workload_where = at(v);
    if (v.is_string()) {
      scenario_.workload = split(v);
      std::vector<std::string>& words = scenario_.workload;
      if (words.empty() || (words.front() != "fio" && words.front() != "dd")) return;
      scenario_.tool = words.front();
      words.erase(words.begin());
    } else {
      for (const auto& [key, value] : in_file_order(table(v, "workload"))) {
        const std::string text = scalar(*value, "workload." + key);
        if (key == "readonly") {  // fio's one flag that takes no value
          if (text != "false") scenario_.workload.push_back("--readonly");
        } else {
          scenario_.workload.push_back(
              fmt::format("--{}={}", key, value->is_boolean() ? (value->as_boolean() ? "1" : "0") : text));
        }
      }
      const auto named = [](const std::string& w) { return w.rfind("--name=", 0) == 0; };
      // The job begins with its name: what stands before it would be global.
      std::stable_partition(scenario_.workload.begin(), scenario_.workload.end(), named);
      if (scenario_.workload.empty() || !named(scenario_.workload.front()))
        scenario_.workload.insert(scenario_.workload.begin(), "--name=job");
    }
  }

  /// Words of a pasted command line; quotes hold a word together.
  std::vector<std::string> split(const toml::value& v) const {
    std::vector<std::string> list;
    std::string current;
    bool open = false;
    char quote = 0;
    for (const char c : v.as_string().str) {
      if (quote != 0 ? c == quote : c == '"' || c == '\'') {
        quote = quote != 0 ? 0 : c;
        open = true;
      } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
        if (open) list.push_back(current);
        current.clear();
        open = false;
      } else {
        current += c;
        open = true;
      }
    }
    if (quote != 0) bad(v, "workload", fmt::format("a quote {} is not closed", quote));
    if (open) list.push_back(current);
    return list;
  }

  void sweep(const toml::value& t) {
    Axis axis;
    axis.where = at(t);
    std::string key;
    const toml::value *values = nullptr, *settings = nullptr;
    for (const auto& [name, v] : in_file_order(t)) {
      known(name, *v, "key of a sweep", {"name", "key", "values", "settings"});
      if (name == "name") axis.name = word(*v, "sweep.name");
      if (name == "key") key = word(*v, "sweep.key");
      if (name == "values") values = v;
      if (name == "settings") settings = v;
    }
    if (!values == !settings || (values && key.empty()) || (settings && !key.empty()))
      bad(t, "sweep", "needs either key and values, or settings");
    if (axis.name.empty())
      axis.name = key.substr(key.rfind('.') == std::string::npos ? 0 : key.rfind('.') + 1);
    if (axis.name.empty()) bad(t, "sweep.name", "missing: name the axis");
    if (values)
      for (const toml::value& v : array(*values, "sweep.values", "values")) {
        const std::string text = scalar(v, "sweep.values");
        axis.settings.push_back({json_of(v, "sweep.values"), text, {{key, text, at(v)}}});
      }
    else
      for (const auto& [name, v] : in_file_order(table(*settings, "sweep.settings"))) {
        Setting s{name, name, {}};
        flatten(table(*v, "sweep.settings." + name), "", s.set);
        axis.settings.push_back(std::move(s));
      }
    add_axis(t, std::move(axis));
  }

  void add_axis(const toml::value& t, Axis axis) {
    if (axis.settings.empty()) bad(t, "sweep.settings", "holds no setting: add one");
    if (scenario_.axis(axis.name))
      bad(t, "sweep.name", fmt::format("'{}' is there twice: give another name", axis.name));
    for (std::size_t i = 0; i < axis.settings.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (axis.settings[i].label == axis.settings[j].label)
          bad(t, "sweep",
              fmt::format("'{}' is there twice on axis {}: leave one out", axis.settings[i].label,
                          axis.name));
    scenario_.axes.push_back(std::move(axis));
  }

  void analysis(const toml::value& t) {
    Analysis a;
    a.where = at(t);
    for (const auto& [name, v] : in_file_order(t)) {
      known(name, *v, "key of an analysis",
            {"kind", "axis", "by", "baseline", "metric", "metrics", "tolerance_percent"});
      const std::string key = "analysis." + name;
      if (name == "kind") a.kind = kind(*v, key);
      if (name == "axis") a.axis = word(*v, key);
      if (name == "by") a.by = word(*v, key);
      if (name == "baseline" && v->is_table()) a.baseline_point = labels(*v, key);
      if (name == "baseline" && !v->is_table()) a.baseline = scalar(*v, key);
      if (name == "metric") a.metrics = {word(*v, key)};
      if (name == "metrics") a.metrics = words(*v, key);
      if (name == "tolerance_percent") a.tolerance_percent = number(*v, key);
    }
    if (!t.as_table().count("kind")) bad(t, "analysis.kind", "missing: say linear, knee or compare");
    if (!(a.tolerance_percent > 0)) bad(t, "analysis.tolerance_percent", "must be above 0");
    defaults(a);
    scenario_.analyses.push_back(std::move(a));
  }

  Analysis::Kind kind(const toml::value& v, const std::string& key) const {
    static const std::vector<std::string> kKinds = {"linear", "knee", "compare"};
    const std::string text = word(v, key);
    known(text, v, "analysis", kKinds);
    return static_cast<Analysis::Kind>(std::find(kKinds.begin(), kKinds.end(), text) - kKinds.begin());
  }

  static void defaults(Analysis& a) {
    if (!a.metrics.empty()) return;
    a.metrics = {a.kind == Analysis::Kind::knee ? "iops" : "service_us"};
  }

  void measured(const toml::value& t) {
    Measured m;
    m.where = at(t);
    for (const auto& [name, v] : in_file_order(t)) {
      known(name, *v, "key of a measured value", {"name", "metric", "value", "at", "source"});
      const std::string key = "measured." + name;
      if (name == "name") m.name = word(*v, key);
      if (name == "metric") m.metric = word(*v, key);
      if (name == "source") m.source = word(*v, key);
      if (name == "value") m.value = number(*v, key);
      if (name == "at") m.at = labels(*v, key);
    }
    if (m.name.empty() || m.metric.empty() || !t.as_table().count("value"))
      bad(t, "measured", "needs name, metric and value");
    scenario_.measured.push_back(std::move(m));
  }

  // --- names that must be there ---
  const Axis& must_be_axis(const std::string& name, const std::string& where, const std::string& key) const {
    if (const Axis* a = scenario_.axis(name)) return *a;
    std::vector<std::string> names;
    for (const Axis& a : scenario_.axes) names.push_back(a.name);
    if (name.empty())
      throw InputError(
          fmt::format("{}{}: missing: name one of the axes {}", where, key, fmt::join(names, ", ")));
    throw InputError(fmt::format("{}{}: there is no axis '{}': did you mean '{}'?", where, key, name,
                                 nearest_word(name, names)));
  }
  void must_be_setting(const Axis& axis, const std::string& label, const std::string& where,
                       const std::string& key) const {
    std::vector<std::string> names;
    for (const Setting& s : axis.settings) names.push_back(s.label);
    if (std::find(names.begin(), names.end(), label) != names.end()) return;
    throw InputError(fmt::format("{}{}: axis {} has no '{}': did you mean '{}'?", where, key, axis.name,
                                 label, nearest_word(label, names)));
  }
  void check_references() const {
    for (const Analysis& a : scenario_.analyses) {
      if (a.kind != Analysis::Kind::compare) must_be_axis(a.axis, a.where, "analysis.axis");
      if (a.kind == Analysis::Kind::linear)
        must_be_setting(must_be_axis(a.by, a.where, "analysis.by"), a.baseline, a.where, "analysis.baseline");
      if (a.kind == Analysis::Kind::compare && a.baseline_point.empty())
        throw InputError(a.where + "analysis.baseline: missing: write baseline = { axis = \"setting\" }");
      for (const auto& [axis, label] : a.baseline_point)
        must_be_setting(must_be_axis(axis, a.where, "analysis.baseline"), label, a.where,
                        "analysis.baseline." + axis);
    }
    for (const Measured& m : scenario_.measured)
      for (const auto& [axis, label] : m.at)
        must_be_setting(must_be_axis(axis, m.where, "measured.at"), label, m.where, "measured.at." + axis);
  }

  Scenario scenario_;
};

}  // namespace

const Axis* Scenario::axis(const std::string& wanted) const {
  for (const Axis& a : axes)
    if (a.name == wanted) return &a;
  return nullptr;
}

const std::vector<std::string>& scenario_option_keys() {
  static const std::vector<std::string> keys = {"platform", "part", "timing", "cqe", "queue", "cpu", "seed"};
  return keys;
}

Scenario parse_scenario(const std::string& file, const std::string& text) { return Reader(file).read(text); }

Scenario load_scenario(const std::string& name, const ConfigSource& source) {
  const std::string prefix = "platform/scenarios/", suffix = ".toml";
  std::vector<std::string> known;
  for (const ConfigSource::File& file : source.files) {
    if (file.name.rfind(prefix, 0) != 0) continue;
    const std::string stem =
        file.name.substr(prefix.size(), file.name.size() - prefix.size() - suffix.size());
    known.push_back(stem);
    if (stem != name) continue;
    Scenario s = parse_scenario(file.name, std::string(file.text));
    s.name = stem;
    return s;
  }
  if (name.find('/') == std::string::npos && name.find(suffix) == std::string::npos)
    throw InputError(
        fmt::format("emmc-vp run: unknown scenario '{}': did you mean '{}'? (there are {}; a file is named "
                    "with its .toml)",
                    name, nearest_word(name, known), fmt::join(known, ", ")));
  Scenario s = parse_scenario(name, read_whole_file(name, "scenario"));
  s.name = std::filesystem::path(name).stem().string();
  return s;
}

}  // namespace vp
