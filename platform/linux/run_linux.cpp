#include "platform/linux/run_linux.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <ostream>

#include "platform/bus_log.hpp"
#include "platform/linux/guest_platform.hpp"
#include "platform/linux/guest_process.hpp"
#include "platform/linux/guest_report.hpp"
#include "platform/output_file.hpp"
#include "platform/platform_choice.hpp"
#include "platform/waveforms.hpp"

namespace vp::guest {
namespace {

/// The report's job with a size and a depth that fit: fio allocates depth x block size even where its engine uses one.
const std::vector<std::string> kDefaultCommand = {
    "fio",         "--filename=/dev/mmcblk0", "--direct=1",           "--rw=randread",
    "--bs=1M",     "--ioengine=sync",         "--iodepth=32",         "--size=16M",
    "--numjobs=1", "--group_reporting",       "--name=iops-test-job", "--readonly"};

/// A file compiled into the program; empty when there is none of that name.
std::string embedded_text(const ConfigSource& source, const std::string& name) {
  for (const ConfigSource::File& f : source.files)
    if (f.name.ends_with("/" + name)) return std::string(f.text);
  return {};
}

GuestCommand command_of(const Options& options, const GuestParams& params, const PciIdentity& identity,
                        const ConfigSource& source) {
  if (!options.kernel)
    throw InputError("emmc-vp linux: name the kernel's folder with --kernel (scripts/linux.sh does)");
  GuestCommand c;
  c.kernel = std::filesystem::absolute(*options.kernel).string();
  c.init = embedded_text(source, "linux/guest/init.sh");
  c.memory_bytes = params.memory_bytes;
  c.driver = identity.driver;
  c.console = params.console.empty() && options.quiet ? "/dev/null" : params.console;
  c.words = options.rest.empty() ? kDefaultCommand : options.rest;
  return c;
}

int status_of(const Context& context, const GuestPlatform& platform, std::optional<int> guest,
              std::ostream& err) {
  if (!platform.bridge.failure().empty()) {
    err << fmt::format("emmc-vp linux: given up at {} ns: {}\n", sc_core::sc_time_stamp().value() / 1000,
                       platform.bridge.failure());
    return kInternalError;
  }
  if (!guest) {
    err << fmt::format(
        "emmc-vp linux: the guest went down at {} ns before its command had ended (its log says why)\n",
        sc_core::sc_time_stamp().value() / 1000);
    return kInternalError;
  }
  if (context.findings.empty()) return *guest;
  err << fmt::format("emmc-vp: {} hardware rule(s) broken, first: {}\n", context.findings.counts().size(),
                     context.findings.kept().front().text);
  return *guest != 0 ? *guest : kRuleBroken;
}

}  // namespace

int run_linux(const Options& options, const ConfigSource& source, Streams streams) {
  PlatformConfig config;
  GuestParams guest;
  ParamRegistry registry;
  config.declare(registry);
  guest.declare(registry, "guest");
  const LoadedPreset preset = load_platform(registry, options, source);
  apply_overrides(registry, options.overrides);
  config.emmc.ext_csd_text = embedded_text(source, config.emmc.ext_csd);
  const PciIdentity identity = choose_identity(guest, config, options.queue == "cqe");
  fit_to_identity(config, identity);
  const GuestCommand command = command_of(options, guest, identity, source);
  for (const auto& [file, option] :
       {std::pair{options.output, "--output"}, {options.vcd, "--vcd"}, {options.trace, "--trace"}})
    if (file) check_writable(*file, std::string("emmc-vp: ") + option);

  Context context;
  context.timing = options.timing;
  if (!options.quiet) context.log_sink = [&streams](const std::string& line) { streams.err << line << "\n"; };
  context.trace.set_root("platform");
  GuestPlatform platform("platform", context, config, guest, identity);
  if (options.image && std::filesystem::exists(*options.image))
    platform.card->medium().load_image(*options.image);
  Waveforms waveforms(options, context);
  BusLog bus_log(options, context);
  Explain explain;
  context.spans.on_request_begin([&](const RequestRecord& r) { waveforms.request_begun(r); });
  context.spans.on_request_done([&](const RequestRecord& r) {
    explain.add(r);
    waveforms.request_done(r);
  });

  const RunFolder folder;
  const Listener device(folder.file("device.sock")), calendar(folder.file("calendar.sock"));
  platform.bridge.listen(device, calendar);
  GuestProcess process(folder, command);
  sc_core::sc_start();
  process.finish();

  waveforms.close(sc_core::sc_time_stamp());
  bus_log.close();
  if (options.image) platform.card->medium().save_image(*options.image);
  const int status = status_of(context, platform, process.command_status(), streams.err);
  const std::string report = guest_report(options, preset, platform, identity, context, explain);
  if (options.output)
    write_whole_file(*options.output, report, "emmc-vp: --output");
  else if (options.explain || !context.findings.empty())
    streams.err << report;
  context.log_sink = {};
  return status;
}

}  // namespace vp::guest
