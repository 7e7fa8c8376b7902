#include "platform/front_end.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>

#include "platform/bus_log.hpp"
#include "platform/output_file.hpp"
#include "platform/param_table.hpp"
#include "platform/platform_choice.hpp"
#include "platform/waveforms.hpp"

namespace vp {
namespace {

const char* mode_name(std::uint32_t mode) {
  static constexpr std::array<const char*, 6> kNames = {"legacy", "hs52",  "ddr52",
                                                        "hs200",  "hs400", "hs400es"};
  return mode < kNames.size() ? kNames[mode] : "unknown";
}

const char* queue_name(const fw::JobTable& table) {
  if (table.use_cqe != 0) return "cqe";
  return table.soft_queue == fw::SoftQueue::software ? "software"
         : table.soft_queue == fw::SoftQueue::hsq    ? "hsq"
                                                     : "none";
}

}  // namespace

OutputChoice output_choice(const Options& options) {
  OutputChoice c;
  c.format = options.output_format.value_or(OutputFormat::normal);
  if (options.output) c.file = *options.output, c.option = "emmc-vp: --output";
  return c;
}

void emit(const OutputChoice& choice, const std::string& text, std::ostream& out) {
  if (choice.file.empty())
    out << text << std::flush;
  else
    write_whole_file(choice.file, text, choice.option);
}

RunSession::RunSession(const Options& options, Machine& machine, const ConfigSource& source, Streams streams)
    : options_(options), machine_(machine), streams_(streams) {
  machine.declare(registry_);
  preset_ = load_platform(registry_, options, source);
  apply_overrides(registry_, options.overrides);
  machine.build(options);
}

RunSession::~RunSession() = default;

void RunSession::check_files(const OutputChoice& output) const {
  if (!output.file.empty()) check_writable(output.file, output.option);
  if (options_.vcd) check_writable(*options_.vcd, "emmc-vp: --vcd");
  if (options_.trace) check_writable(*options_.trace, "emmc-vp: --trace");
  if (options_.image) check_writable(*options_.image, "emmc-vp: --image");
}

void RunSession::run(CpuObserver& observer) {
  Context& context = machine_.context();
  if (!options_.quiet) context.log_sink = [this](const std::string& line) { streams_.err << line << "\n"; };
  Waveforms waveforms(options_, context);
  BusLog bus_log(options_, context);
  context.spans.on_request_begin([&](const RequestRecord& r) { waveforms.request_begun(r); });
  context.spans.on_request_done([&](const RequestRecord& r) {
    explain_.add(r);
    waveforms.request_done(r);
  });
  machine_.set_observer(&observer);
  machine_.run();
  machine_.set_observer(nullptr);
  context.spans.on_request_begin({});
  context.spans.on_request_done({});
  waveforms.close(machine_.now());
  bus_log.close();
  rows_ = {machine_.stalls(), machine_.utilisation(), machine_.counters()};
}

std::string RunSession::explanation() {
  const Findings& findings = machine_.context().findings;
  return options_.explain ? explain_text(explain_, rows_, findings) : findings_text(findings);
}

Json RunSession::own_json(std::uint64_t failed_ios, std::uint64_t driver_errors) {
  const fw::JobTable& table = machine_.job_table();
  Json out;
  out["version"] = version_number();
  out["platform"] = preset_.name;
  out["part"] = preset_.part;
  out["timing"] = options_.timing == TimingStyle::at ? "at" : "lt";
  out["cpu"] = options_.cpu;
  out["cqe"] = table.use_cqe != 0;
  out["queue"] = queue_name(table);
  out["seed"] = options_.seed;
  out["simulated_ns"] = machine_.now().value() / 1000;
  out["card"] = {{"mode", mode_name(table.card_mode)},
                 {"clock_hz", table.card_clock_hz},
                 {"sectors", table.card_sectors}};
  out["io_errors"] = failed_ios;
  out["driver_errors"] = driver_errors;
  out["verify_errors"] = table.verify_errors + machine_.data_errors();
  out.update(explain_json(explain_, rows_, machine_.context().findings));
  out["parameters"] = changed_params_json(registry_);
  return out;
}

int RunSession::finish(std::uint64_t failed_ios) {
  machine_.save_image();
  machine_.context().log_sink = {};
  return status(failed_ios);
}

int RunSession::status(std::uint64_t failed_ios) {
  std::ostream& err = streams_.err;
  const fw::JobTable& table = machine_.job_table();
  const std::uint64_t wrong = table.verify_errors + machine_.data_errors();
  if (wrong != 0) {
    const std::uint64_t first =
        table.verify_errors != 0 ? table.first_bad_offset : machine_.first_data_error();
    err << fmt::format("emmc-vp: data mismatch: {} block(s) wrong, the first at byte {}\n", wrong, first);
  }
  if (!machine_.context().findings.empty()) {
    err << fmt::format("emmc-vp: {} hardware rule(s) broken, first: {}\n",
                       machine_.context().findings.counts().size(),
                       machine_.context().findings.kept().front().text);
    return kRuleBroken;
  }
  if (wrong != 0) return kDataMismatch;
  if (explain_.unaccounted() != 0) {
    err << fmt::format("emmc-vp: internal error: the spans of {} request(s) do not add up to their latency\n",
                       explain_.unaccounted());
    return kInternalError;
  }
  if (machine_.exit_status() != 0 || table.done == 0) {
    err << fmt::format("emmc-vp: the firmware stopped with status {} before all jobs were done\n",
                       machine_.exit_status());
    return kInternalError;
  }
  if (failed_ios != 0) {
    err << fmt::format("emmc-vp: {} I/O(s) failed\n", failed_ios);
    return kInternalError;
  }
  return kGood;
}

}  // namespace vp
