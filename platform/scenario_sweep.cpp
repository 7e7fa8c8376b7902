#include "platform/scenario_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "platform/dd_options.hpp"
#include "platform/fio_options.hpp"
#include "platform/platform_choice.hpp"

namespace vp {
namespace {

const std::string kWorkload = "workload.";

bool is_option(const std::string& key) {
  const auto& keys = scenario_option_keys();
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

/// What `run`'s own command line asks for.
std::vector<Assignment> from_command_line(const Options& o) {
  std::vector<Assignment> list;
  const auto add = [&](const char* key, std::string text) {
    list.push_back({key, std::move(text), fmt::format("emmc-vp: --{}: ", key)});
  };
  if (o.platform_given) add("platform", o.platform);
  if (o.part) add("part", *o.part);
  if (o.timing_given) add("timing", o.timing == TimingStyle::at ? "at" : "lt");
  if (o.cqe) add("cqe", *o.cqe ? "on" : "off");
  if (o.queue) add("queue", *o.queue);
  if (o.cpu_given) add("cpu", o.cpu);
  if (o.seed_given) add("seed", fmt::format("{}", o.seed));
  for (const std::string& text : o.overrides) {
    const auto equals = text.find('=');
    list.push_back({text.substr(0, equals), text.substr(equals + 1), "-p: "});
  }
  return list;
}

std::string option_text(const Assignment& a) {
  if (a.key != "cqe") return a.text;
  if (a.text == "true" || a.text == "on") return "on";
  if (a.text == "false" || a.text == "off") return "off";
  throw InputError(fmt::format("{}cqe = {}: write true or false", a.where, a.text));
}

/// `cqe` and `queue` say the same: the later one counts.
bool replaced(const std::string& key, const std::vector<Assignment>& set) {
  if (key != "cqe" && key != "queue") return false;
  const auto last = std::find_if(set.rbegin(), set.rend(),
                                 [](const Assignment& a) { return a.key == "cqe" || a.key == "queue"; });
  return last != set.rend() && last->key != key;
}

std::vector<std::string> command_line(const Point& p) {
  std::vector<std::string> words = {p.tool, "--quiet"};
  for (const std::string& key : scenario_option_keys())
    for (auto a = p.set.rbegin(); a != p.set.rend(); ++a)
      if (a->key == key && !replaced(key, p.set)) {
        words.push_back(fmt::format("--{}={}", key, option_text(*a)));
        break;
      }
  for (const Assignment& a : p.set)
    if (!is_option(a.key) && a.key.rfind(kWorkload, 0) != 0) {
      words.push_back("-p");
      words.push_back(a.key + "=" + a.text);
    }
  words.push_back("--output-format=json");
  words.push_back("--");
  words.insert(words.end(), p.workload.begin(), p.workload.end());
  return words;
}

void set_word(const std::string& tool, std::vector<std::string>& words, const std::string& key,
              const std::string& value) {
  if (tool == "fio") return set_fio_word(words, key, value);
  const std::string operand = key + "=";
  std::erase_if(words, [&](const std::string& w) { return w.rfind(operand, 0) == 0; });
  words.push_back(operand + value);
}

Point make_point(const Scenario& scenario, const std::vector<Assignment>& line,
                 std::vector<std::size_t> index) {
  Point p;
  p.set = scenario.fixed;
  p.set.insert(p.set.end(), line.begin(), line.end());
  for (std::size_t i = 0; i < index.size(); ++i) {
    const Setting& s = scenario.axes[i].settings[index[i]];
    p.parameters[scenario.axes[i].name] = s.value;
    p.set.insert(p.set.end(), s.set.begin(), s.set.end());
  }
  p.index = std::move(index);
  p.tool = scenario.tool;
  p.workload = scenario.workload;
  for (const Assignment& a : p.set)
    if (a.key.rfind(kWorkload, 0) == 0) set_word(p.tool, p.workload, a.key.substr(kWorkload.size()), a.text);
  p.arguments = command_line(p);
  return p;
}

/// Which settings of each axis --only leaves.
std::vector<std::vector<std::size_t>> chosen(const Scenario& scenario, const std::vector<std::string>& only) {
  std::vector<std::vector<std::size_t>> keep(scenario.axes.size());
  for (const std::string& text : only) {
    const auto equals = text.find('=');
    const std::string name = text.substr(0, equals),
                      label = equals == std::string::npos ? "" : text.substr(equals + 1);
    std::vector<std::string> names, labels;
    bool found = false;
    for (std::size_t i = 0; i < scenario.axes.size(); ++i) {
      names.push_back(scenario.axes[i].name);
      if (scenario.axes[i].name != name) continue;
      for (std::size_t s = 0; s < scenario.axes[i].settings.size(); ++s) {
        labels.push_back(scenario.axes[i].settings[s].label);
        if (labels.back() != label) continue;
        found = true;
        if (std::find(keep[i].begin(), keep[i].end(), s) == keep[i].end()) keep[i].push_back(s);
      }
    }
    if (!found)
      throw InputError(fmt::format("emmc-vp run: --only={}: did you mean '{}={}'?", text,
                                   labels.empty() ? nearest_word(name, names) : name,
                                   labels.empty() ? label : nearest_word(label, labels)));
  }
  for (std::size_t i = 0; i < keep.size(); ++i) {
    for (std::size_t s = 0; keep[i].empty() && s < scenario.axes[i].settings.size(); ++s) {
      keep[i].resize(scenario.axes[i].settings.size());
      for (std::size_t k = 0; k < keep[i].size(); ++k) keep[i][k] = k;
    }
    std::sort(keep[i].begin(), keep[i].end());
  }
  return keep;
}

/// The words before a fio error's own position say whose fault it is: the override's, else the workload's.
[[noreturn]] void fio_error(const Scenario& scenario, const Point& point, const std::string& text) {
  for (auto a = point.set.rbegin(); a != point.set.rend(); ++a)
    if (a->key.rfind(kWorkload, 0) == 0 &&
        text.find("--" + a->key.substr(kWorkload.size())) != std::string::npos)
      throw InputError(a->where + a->key + ": " + text);
  throw InputError(scenario.workload_where + "workload: " + text);
}

}  // namespace

void set_fio_word(std::vector<std::string>& words, const std::string& key, const std::string& value) {
  const std::string flag = "--" + key, text = flag + "=" + value;
  bool found = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].rfind(flag + "=", 0) == 0) {
      words[i] = text;
      found = true;
    } else if (words[i] == flag) {
      if (i + 1 < words.size() && words[i + 1].rfind("--", 0) != 0)
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      words[i] = text;
      found = true;
    }
  }
  if (found) return;
  const auto job = std::find_if(words.begin(), words.end(), [](const std::string& w) {
    return w == "--name" || w.rfind("--name=", 0) == 0 || w.rfind("--", 0) != 0;
  });
  words.insert(job, text);
}

std::vector<Point> expand(const Scenario& scenario, const Options& options) {
  const std::vector<Assignment> line = from_command_line(options);
  const auto keep = chosen(scenario, options.only);
  std::vector<std::vector<std::size_t>> indices = {{}};
  for (const auto& axis : keep) {
    std::vector<std::vector<std::size_t>> longer;
    for (const auto& index : indices)
      for (const std::size_t s : axis) {
        longer.push_back(index);
        longer.back().push_back(s);
      }
    indices = std::move(longer);
  }
  std::vector<Point> points;
  for (auto& index : indices) points.push_back(make_point(scenario, line, std::move(index)));
  return points;
}

void check_points(const Scenario& scenario, const std::vector<Point>& points, const MachineFactory& factory,
                  const ConfigSource& source) {
  for (const Point& p : points) {
    const auto machine = factory();
    ParamRegistry registry;
    machine->declare(registry);
    Options options;
    std::string platform_where;
    for (const Assignment& a : p.set) {
      if (a.key == "platform") options.platform = a.text, platform_where = a.where;
      if (a.key == "part") options.part = a.text, platform_where = a.where;
    }
    try {
      load_platform(registry, options, source);
    } catch (const InputError& e) {
      throw InputError(platform_where + e.what());
    }
    for (const Assignment& a : p.set)
      if (!is_option(a.key) && a.key.rfind(kWorkload, 0) != 0)
        registry.set(a.key, a.text, a.where, ParamKind::user);
    FioRun run;
    try {
      if (p.tool == "dd")
        parse_dd(p.workload);
      else
        run = parse_fio(p.workload);
    } catch (const InputError& e) {
      fio_error(scenario, p, e.what());
    }
    if (run.output || run.output_format)
      throw InputError(scenario.workload_where +
                       "workload: output and output-format belong to emmc-vp run: leave them out here");
    // A platform option's value is read as its own run would read it.
    try {
      parse_options(p.arguments);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", scenario.file, e.what()));
    }
  }
}

}  // namespace vp
