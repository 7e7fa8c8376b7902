#include "platform/run_validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>

#include "platform/leave_one_out.hpp"
#include "platform/output_file.hpp"
#include "platform/text_table.hpp"

namespace vp {
namespace {

void refuse_what_the_rows_say(const Options& o) {
  const auto refuse = [](const char* name) {
    throw InputError(fmt::format(
        "emmc-vp validate: --{} is for one run: take a row's command from the JSON report and add it there",
        name));
  };
  if (o.platform_given) refuse("platform");
  if (o.part) refuse("part");
  if (o.cqe) refuse("cqe");
  if (o.queue) refuse("queue");
  if (o.vcd) refuse("vcd");
  if (o.trace) refuse("trace");
  if (o.image) refuse("image");
  if (o.explain) refuse("explain");
}

/// The commands to run, each once, and which of them each run of each seed is; for seeds that ask for it also each run with
/// each fitted parameter varied.
struct Plan {
  std::vector<std::vector<std::string>> commands;
  std::map<const MeasuredRun*, std::size_t> command_of;
  std::map<const MeasuredSeed*, std::vector<FittedValue>> fitted_of;
  /// By run, and place in fitted_of: the command with that value varied.
  std::map<std::pair<const MeasuredRun*, std::size_t>, std::size_t> varied_of;
};

/// Of the seed's runs, which must agree in it. Throws InputError.
std::string platform_of(const MeasuredSeed& seed) {
  constexpr std::string_view kOption = "--platform=";
  std::string platform;
  for (const MeasuredRun& run : seed.runs)
    for (const std::string& word : run.command) {
      if (!word.starts_with(kOption)) continue;
      const std::string named = word.substr(kOption.size());
      if (!platform.empty() && named != platform)
        throw InputError(
            fmt::format("{}: leave_one_out: runs on {} and on {}: one preset must be fitted to all rows",
                        seed.name, platform, named));
      platform = named;
    }
  return platform;
}

void plan_variations(Plan& p, const MeasuredSeed& seed, const Options& options, const ConfigSource& source) {
  const std::vector<FittedValue>& values = p.fitted_of[&seed] =
      fitted_values(platform_of(seed), seed.name, source);
  for (const MeasuredRun& run : seed.runs)
    for (std::size_t k = 0; k < values.size(); ++k) {
      p.varied_of[{&run, k}] = p.commands.size();
      Options varied = options;
      varied.overrides.push_back(values[k].varied());
      p.commands.push_back(validate_arguments(run, varied));
    }
}

Plan plan(const std::vector<MeasuredSeed>& seeds, const Options& options, const ConfigSource& source) {
  Plan p;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const MeasuredSeed& seed : seeds) {
    for (const MeasuredRun& run : seed.runs) {
      std::vector<std::string> words = validate_arguments(run, options);
      const auto [it, is_new] = known.emplace(words, p.commands.size());
      if (is_new) p.commands.push_back(std::move(words));
      p.command_of[&run] = it->second;
    }
    if (seed.criteria.leave_one_out) plan_variations(p, seed, options, source);
  }
  return p;
}

std::optional<double> value_of(const ChildResult& child, const std::string& metric) {
  const Json report = child.status == 0 ? Json::parse(child.out, nullptr, false) : Json();
  return report.is_object() ? metric_value(metric, report) : std::nullopt;
}

/// d ln(model) / d ln(parameter) of a row; 0 when the run with the value varied has no result.
double sensitivity(const RowResult& r, const FittedValue& value, const ChildResult& varied) {
  const auto model = value_of(varied, r.row->metric);
  return model && *model > 0 ? std::log(*model / *r.model) / std::log(value.step) : 0;
}

void add_leave_one_out(SeedResult& result, const Plan& p, const std::vector<ChildResult>& children) {
  const auto found = p.fitted_of.find(result.seed);
  if (found == p.fitted_of.end()) return;
  std::vector<RowResult*> rows;
  std::vector<double> residuals;
  std::vector<std::vector<double>> sensitivities;
  for (RowResult& r : result.rows) {
    if (!r.model || *r.model <= 0 || r.row->measured <= 0) continue;
    rows.push_back(&r);
    residuals.push_back(std::log(r.row->measured / *r.model));
    std::vector<double>& s = sensitivities.emplace_back();
    for (std::size_t k = 0; k < found->second.size(); ++k)
      s.push_back(sensitivity(r, found->second[k], children[p.varied_of.at({r.run, k})]));
  }
  if (rows.size() <= found->second.size() || found->second.empty()) return;  // nothing is left to fit to
  for (const FittedValue& v : found->second) result.fit_keys.push_back(v.key);
  const std::vector<double> left = leave_one_out(residuals, sensitivities);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i]->left_out_error_percent = 100 * (std::exp(-left[i]) - 1);
}

SeedResult seed_result(const MeasuredSeed& seed, const Plan& p, const std::vector<ChildResult>& children) {
  SeedResult result;
  result.seed = &seed;
  for (const MeasuredRun& run : seed.runs) {
    const ChildResult& child = children[p.command_of.at(&run)];
    // A run that broke a rule or its data has numbers too; they are not the platform's.
    if (child.status != 0)
      result.failures.push_back(
          fmt::format("{}: exit status {}: {}", run.label, child.status, error_of(child)));
    for (const MeasuredRow& row : run.rows) {
      RowResult r{&run, &row, value_of(child, row.metric), std::nullopt};
      if (child.status == 0 && !r.model)
        result.failures.push_back(fmt::format("{}: its report has no {}", run.label, row.metric));
      result.rows.push_back(r);
    }
  }
  add_leave_one_out(result, p, children);
  judge(result);
  return result;
}

/// One line that names everything that does not hold.
int status_of(const std::vector<SeedResult>& results, std::ostream& err) {
  std::string line;
  for (const SeedResult& s : results)
    for (const std::string& miss : s.misses)
      line += fmt::format("{}{}: {}", line.empty() ? "" : ", ", s.seed->name, miss);
  if (line.empty()) return kGood;
  std::replace(line.begin(), line.end(), '\n', ' ');
  err << "emmc-vp validate: outside: " << line << "\n";
  return kInternalError;
}

}  // namespace

std::vector<std::string> validate_arguments(const MeasuredRun& run, const Options& options) {
  const auto split = std::find(run.command.begin(), run.command.end(), "--");
  std::vector<std::string> words(run.command.begin(), split);
  words.push_back(options.timing_given && options.timing == TimingStyle::at ? "--timing=at" : "--timing=lt");
  if (options.cpu_given) words.push_back("--cpu=" + options.cpu);
  if (options.seed_given) words.push_back(fmt::format("--seed={}", options.seed));
  for (const std::string& o : options.overrides) words.insert(words.end(), {"-p", o});
  words.insert(words.end(), {"--output-format=json", "--quiet"});
  words.insert(words.end(), split, run.command.end());
  return words;
}

int run_validate(const Options& options, const ConfigSource& source, Streams streams) {
  refuse_what_the_rows_say(options);
  const std::vector<MeasuredSeed> seeds = choose_seeds(load_measured(source), options.measured_seed);
  if (options.output) check_writable(*options.output, "emmc-vp: --output");
  const Plan p = plan(seeds, options, source);

  const bool bar = streams.err_is_terminal && !options.quiet;
  const auto on_done = [&](std::size_t n) {
    if (bar) streams.err << fmt::format("\r{} of {} runs\x1b[K", n, p.commands.size()) << std::flush;
  };
  on_done(0);
  const auto children = run_children(own_program(), p.commands, options.jobs.value_or(cores()), on_done);
  if (bar) streams.err << "\r\x1b[K" << std::flush;

  std::vector<SeedResult> results;
  for (const MeasuredSeed& seed : seeds) results.push_back(seed_result(seed, p, children));
  const auto command = [&](const MeasuredRun& run) { return pasteable(p.commands[p.command_of.at(&run)]); };
  const std::string text = options.output_format == OutputFormat::json
                               ? json_text(validation_json(results, command))
                               : validation_text(results);
  if (options.output)
    write_whole_file(*options.output, text, "emmc-vp: --output");
  else
    streams.out << text << std::flush;
  return status_of(results, streams.err);
}

}  // namespace vp
