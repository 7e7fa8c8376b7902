#include "platform/run_fio.hpp"

#include <fmt/format.h>

#include <ostream>

#include "platform/fio_frontend.hpp"
#include "platform/fio_report.hpp"
#include "platform/linux/run_linux.hpp"
#include "platform/os_book.hpp"
#include "platform/param_table.hpp"
#include "platform/platform_choice.hpp"
#include "platform/progress.hpp"
#include "platform/recorder.hpp"
#include "platform/run_dd.hpp"
#include "platform/run_iozone.hpp"
#include "platform/run_scenario.hpp"
#include "platform/run_validate.hpp"

namespace vp {
namespace {

/// fio's own --output and --output-format stand later on the line, so they win.
OutputChoice output_choice(const Options& options, const FioRun& run) {
  OutputChoice c = vp::output_choice(options);
  if (run.output_format) c.format = *run.output_format == "json" ? OutputFormat::json : OutputFormat::normal;
  if (run.output) c.file = *run.output, c.option = "fio: --output";
  return c;
}

void print_notes(const FioRun& run, const Options& options, std::ostream& err) {
  if (!run.ignored.empty()) err << fmt::format("fio: ignored here: {}\n", fmt::join(run.ignored, ", "));
  if (options.quiet) return;
  for (const std::string& note : run.notes) err << note << "\n";
}

int run_params(const Options& options, Machine& machine, const ConfigSource& source, std::ostream& out) {
  ParamRegistry registry;
  machine.declare(registry);
  const LoadedPreset preset = load_platform(registry, options, source);
  apply_overrides(registry, options.overrides);
  const bool json = options.output_format == OutputFormat::json;
  emit({OutputFormat::normal, options.output.value_or(""), "emmc-vp: --output"},
       json ? json_text(params_json(registry, preset)) : params_text(registry, preset), out);
  return kGood;
}

int dispatch(const Options& options, const MachineFactory& factory, const ConfigSource& source,
             Streams streams) {
  switch (options.command) {
    case Command::help:
      streams.out << help_text();
      return kGood;
    case Command::version:
      streams.out << version_text();
      return kGood;
    case Command::list:
      emit({OutputFormat::normal, options.output.value_or(""), "emmc-vp: --output"},
           options.output_format == OutputFormat::json ? json_text(list_json(source)) : list_text(source),
           streams.out);
      return kGood;
    case Command::params:
      return run_params(options, *factory(), source, streams.out);
    case Command::run:
      return run_scenario(options, factory, source, streams);
    case Command::validate:
      return run_validate(options, source, streams);
    case Command::linux_guest:
      return guest::run_linux(options, source, streams);
    case Command::fio:
      return run_fio(options, *factory(), source, streams);
    case Command::dd:
      return run_dd(options, *factory(), source, streams);
    case Command::iozone:
      return run_iozone(options, *factory(), source, streams);
  }
  return kInternalError;
}

}  // namespace

int run_fio(const Options& options, Machine& machine, const ConfigSource& source, Streams streams) {
  const FioRun run = parse_fio(options.rest);
  const OutputChoice output = output_choice(options, run);
  RunSession session(options, machine, source, streams);
  const FioLimits limits{machine.device_bytes(), machine.max_iodepth(), fw::kMaxJobs};
  check_fio(run, limits);
  session.check_files(output);
  print_notes(run, options, streams.err);

  Recorder recorder(synchronous_clones(run));
  Progress progress(streams.err, streams.err_is_terminal && !options.quiet, fio_goal(run, limits));
  recorder.on_progress([&](std::uint64_t bytes, std::uint64_t ns) { progress.update(bytes, ns); });
  fill_job_table(machine.job_table(), run, limits, options.seed);
  OsBook book(recorder, machine.job_table().job_count);
  session.run(book);
  progress.finish();

  const bool buffered = uses_page_cache(run);
  const FioResults results = recorder.results(machine.now(), machine.cpu_usage(), version_number());
  if (output.format == OutputFormat::json) {
    Json document = fio_json(run, results);
    Json& own = document["emmc-vp"] = session.own_json(recorder.failed_ios(), recorder.driver_errors());
    if (buffered) own["os"] = os_json(book, machine.job_table().os_report, session.rows());
    emit(output, json_text(document), streams.out);
  } else {
    std::string text = fio_text(run, results) + session.explanation();
    if (buffered && options.explain) text += os_text(book, machine.job_table().os_report, session.rows());
    emit(output, text, streams.out);
  }
  return session.finish(recorder.failed_ios());
}

int run_program(const std::vector<std::string>& args, const MachineFactory& factory,
                const ConfigSource& source, Streams streams) {
  try {
    return dispatch(parse_options(args), factory, source, streams);
  } catch (const InputError& e) {
    streams.err << e.what() << "\n";
    return kBadInput;
  } catch (const std::exception& e) {
    streams.err << "emmc-vp: internal error: " << e.what() << "\n";
    return kInternalError;
  }
}

}  // namespace vp
