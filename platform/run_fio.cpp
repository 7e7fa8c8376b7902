#include "platform/run_fio.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>

#include "platform/explain.hpp"
#include "platform/fio_frontend.hpp"
#include "platform/fio_report.hpp"
#include "platform/linux/run_linux.hpp"
#include "platform/output_file.hpp"
#include "platform/param_table.hpp"
#include "platform/platform_choice.hpp"
#include "platform/progress.hpp"
#include "platform/recorder.hpp"
#include "platform/run_scenario.hpp"

namespace vp {
namespace {

struct OutputChoice {
  OutputFormat format = OutputFormat::normal;
  std::string file;    ///< empty: stdout
  std::string option;  ///< the one that named the file, for errors
};

/// fio's own --output and --output-format stand later on the line, so they win.
OutputChoice output_choice(const Options& options, const FioRun& run) {
  OutputChoice c;
  c.format = options.output_format.value_or(OutputFormat::normal);
  if (run.output_format) c.format = *run.output_format == "json" ? OutputFormat::json : OutputFormat::normal;
  if (options.output) c.file = *options.output, c.option = "emmc-vp: --output";
  if (run.output) c.file = *run.output, c.option = "fio: --output";
  return c;
}

void emit(const OutputChoice& choice, const std::string& text, std::ostream& out) {
  if (choice.file.empty())
    out << text << std::flush;
  else
    write_whole_file(choice.file, text, choice.option);
}

void print_notes(const FioRun& run, const Options& options, std::ostream& err) {
  if (!run.ignored.empty()) err << fmt::format("fio: ignored here: {}\n", fmt::join(run.ignored, ", "));
  if (options.quiet) return;
  for (const std::string& note : run.notes) err << note << "\n";
}

/// Opens the waveform file and lets the window follow requests or times.
class Waveforms {
 public:
  Waveforms(const Options& options, Context& context) : context_(context), on_(options.vcd.has_value()) {
    if (!on_) return;
    window_ = options.vcd_window;
    if (window_) context.trace.start_closed();
    try {
      context.trace.open(*options.vcd);
    } catch (const std::runtime_error& e) {
      throw InputError(fmt::format("emmc-vp: --vcd={}: {}: name a file in a directory you can write to",
                                   *options.vcd, e.what()));
    }
    if (!window_ || window_->by != VcdWindow::By::time) return;
    context.trace.window_begin(sc_time::from_value(window_->first));
    context.trace.window_end(sc_time::from_value(window_->last));
  }
  void request_begun(const RequestRecord& r) {
    if (by_requests() && r.serial == window_->first) context_.trace.window_begin(r.begin);
  }
  /// The window ends when all its requests are done; queued requests may finish in any order.
  void request_done(const RequestRecord& r) {
    if (!by_requests() || r.serial < window_->first || r.serial > window_->last) return;
    if (++done_ == window_->last - window_->first + 1) context_.trace.window_end(r.end);
  }
  void close(sc_time now) {
    if (on_) context_.trace.close(now);
  }

 private:
  bool by_requests() const { return on_ && window_ && window_->by == VcdWindow::By::requests; }
  Context& context_;
  bool on_;
  std::optional<VcdWindow> window_;
  std::uint64_t done_ = 0;
};

const char* mode_name(std::uint32_t mode) {
  static constexpr std::array<const char*, 6> kNames = {"legacy", "hs52",  "ddr52",
                                                        "hs200",  "hs400", "hs400es"};
  return mode < kNames.size() ? kNames[mode] : "unknown";
}

Json own_json(const Options& options, Machine& machine, const LoadedPreset& preset,
              const ParamRegistry& registry, const Explain& explain, const ExplainRows& rows,
              const Recorder& recorder) {
  const fw::JobTable& table = machine.job_table();
  Json out;
  out["version"] = version_number();
  out["platform"] = preset.name;
  out["part"] = preset.part;
  out["timing"] = options.timing == TimingStyle::at ? "at" : "lt";
  out["cpu"] = options.cpu;
  out["cqe"] = table.use_cqe != 0;
  out["seed"] = options.seed;
  out["simulated_ns"] = machine.now().value() / 1000;
  out["card"] = {{"mode", mode_name(table.card_mode)},
                 {"clock_hz", table.card_clock_hz},
                 {"sectors", table.card_sectors}};
  out["io_errors"] = recorder.failed_ios();
  out["driver_errors"] = recorder.driver_errors();
  out["verify_errors"] = table.verify_errors + machine.data_errors();
  out.update(explain_json(explain, rows, machine.context().findings));
  out["parameters"] = changed_params_json(registry);
  return out;
}

int status_of(Machine& machine, const Recorder& recorder, const Explain& explain, std::ostream& err) {
  const fw::JobTable& table = machine.job_table();
  const std::uint64_t wrong = table.verify_errors + machine.data_errors();
  if (wrong != 0) {
    const std::uint64_t first = table.verify_errors != 0 ? table.first_bad_offset : machine.first_data_error();
    err << fmt::format("emmc-vp: data mismatch: {} block(s) wrong, the first at byte {}\n", wrong, first);
  }
  if (!machine.context().findings.empty()) {
    err << fmt::format("emmc-vp: {} hardware rule(s) broken, first: {}\n",
                       machine.context().findings.counts().size(),
                       machine.context().findings.kept().front().text);
    return kRuleBroken;
  }
  if (wrong != 0) return kDataMismatch;
  if (explain.unaccounted() != 0) {
    err << fmt::format("emmc-vp: internal error: the spans of {} request(s) do not add up to their latency\n",
                       explain.unaccounted());
    return kInternalError;
  }
  if (machine.exit_status() != 0 || table.done == 0) {
    err << fmt::format("emmc-vp: the firmware stopped with status {} before all jobs were done\n",
                       machine.exit_status());
    return kInternalError;
  }
  if (recorder.failed_ios() != 0) {
    err << fmt::format("emmc-vp: {} I/O(s) failed\n", recorder.failed_ios());
    return kInternalError;
  }
  return kGood;
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
    case Command::linux_guest:
      return guest::run_linux(options, source, streams);
    case Command::fio:
      return run_fio(options, *factory(), source, streams);
  }
  return kInternalError;
}

}  // namespace

int run_fio(const Options& options, Machine& machine, const ConfigSource& source, Streams streams) {
  const FioRun run = parse_fio(options.rest);
  const OutputChoice output = output_choice(options, run);
  ParamRegistry registry;
  machine.declare(registry);
  const LoadedPreset preset = load_platform(registry, options, source);
  apply_overrides(registry, options.overrides);
  machine.build(options);
  const FioLimits limits{machine.device_bytes(), machine.max_iodepth(), fw::kMaxJobs};
  check_fio(run, limits);
  if (!output.file.empty()) check_writable(output.file, output.option);
  if (options.vcd) check_writable(*options.vcd, "emmc-vp: --vcd");
  if (options.image) check_writable(*options.image, "emmc-vp: --image");
  print_notes(run, options, streams.err);

  Context& context = machine.context();
  if (!options.quiet) context.log_sink = [&streams](const std::string& line) { streams.err << line << "\n"; };
  Recorder recorder(synchronous_clones(run));
  Explain explain;
  Waveforms waveforms(options, context);
  context.spans.on_request_begin([&](const RequestRecord& r) { waveforms.request_begun(r); });
  context.spans.on_request_done([&](const RequestRecord& r) {
    explain.add(r);
    waveforms.request_done(r);
  });
  Progress progress(streams.err, streams.err_is_terminal && !options.quiet, fio_goal(run, limits));
  recorder.on_progress([&](std::uint64_t bytes, std::uint64_t ns) { progress.update(bytes, ns); });
  machine.set_observer(&recorder);
  fill_job_table(machine.job_table(), run, limits, options.seed);
  machine.run();
  progress.finish();
  machine.set_observer(nullptr);
  context.spans.on_request_begin({});
  context.spans.on_request_done({});
  waveforms.close(machine.now());

  const FioResults results = recorder.results(machine.now(), machine.cpu_usage(), version_number());
  const ExplainRows rows{machine.stalls(), machine.utilisation(), machine.counters()};
  if (output.format == OutputFormat::json) {
    Json document = fio_json(run, results);
    document["emmc-vp"] = own_json(options, machine, preset, registry, explain, rows, recorder);
    emit(output, json_text(document), streams.out);
  } else {
    std::string text = fio_text(run, results);
    text += options.explain ? explain_text(explain, rows, context.findings) : findings_text(context.findings);
    emit(output, text, streams.out);
  }
  machine.save_image();
  context.log_sink = {};
  return status_of(machine, recorder, explain, streams.err);
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
