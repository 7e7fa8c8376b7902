#include "platform/run_dd.hpp"

#include <fmt/format.h>

#include "platform/dd_options.hpp"
#include "platform/dd_report.hpp"
#include "platform/os_book.hpp"
#include "platform/progress.hpp"
#include "platform/recorder.hpp"

namespace vp {
namespace {

/// Draws the progress bar from what the disk has moved: dd's calls themselves leave no marks.
class DdProgress : public CpuObserver {
 public:
  DdProgress(CpuObserver& next, Progress& bar) : next_(next), bar_(bar) {}
  void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                 sc_time now) override {
    if (what == hal::Event::job_begin) start_ = now.value();
    if (what == hal::Event::request_begin) {
      bytes_ += c;
      bar_.update(bytes_, (now.value() - start_) / 1000);
    }
    next_.cpu_event(what, id, a, b, c, now);
  }

 private:
  CpuObserver& next_;
  Progress& bar_;
  std::uint64_t bytes_ = 0, start_ = 0;
};

Json disk_json(const OsBook& book) {
  const double span = static_cast<double>(book.elapsed_ps());
  return {{"name", "mmcblk0"},
          {"read_ios", book.requests(false)},
          {"write_ios", book.requests(true)},
          {"read_bytes", book.request_bytes(false)},
          {"write_bytes", book.request_bytes(true)},
          {"flush_ios", book.flushes()},
          {"util", span > 0 ? 100.0 * static_cast<double>(book.disk_busy_ps()) / span : 0.0}};
}

/// What the disk was asked for, and the interrupts that cost.
std::string request_text(const OsBook& book, const ExplainRows& rows) {
  const std::uint64_t n = book.requests(false) + book.requests(true);
  if (n == 0) return {};
  const auto counter = [&](std::string_view name) {
    for (const CounterRow& r : rows.counters)
      if (r.name == name) return r.value;
    return std::uint64_t{0};
  };
  const double each =
      static_cast<double>(book.request_bytes(false) + book.request_bytes(true)) / static_cast<double>(n);
  const std::uint64_t host = counter("run.host_interrupts"), dma = counter("run.dma_interrupts");
  return fmt::format(
      "\nRequests: {} of {:.1f} KiB in the mean; {} interrupts of the host ({:.2f} per request), {} of a "
      "DMA\n",
      n, each / 1024, host, static_cast<double>(host) / static_cast<double>(n), dma);
}

}  // namespace

int run_dd(const Options& options, Machine& machine, const ConfigSource& source, Streams streams) {
  const DdRun run = parse_dd(options.rest);
  const OutputChoice output = output_choice(options);
  RunSession session(options, machine, source, streams);
  fw::JobTable& table = machine.job_table();
  table.copy = dd_copy(run, machine.device_bytes(), table.os);
  table.job_count = 0;
  session.check_files(output);

  Recorder recorder({true});
  Progress progress(streams.err,
                    (streams.err_is_terminal || run.status == DdStatus::progress) && !options.quiet,
                    {table.copy.bytes, 0});
  OsBook book(recorder, 1);
  DdProgress watched(book, progress);
  session.run(watched);
  progress.finish();

  const DdResults results = dd_results(table.copy, book.elapsed_ps());
  const std::uint64_t failed = table.errors;
  if (output.format == OutputFormat::json) {
    Json document = dd_json(run, results);
    document["disk_util"] = Json::array({disk_json(book)});
    Json& own = document["emmc-vp"] = session.own_json(failed, recorder.driver_errors());
    own["os"] = os_json(book, table.os_report, session.rows());
    const CpuUsage cpu = machine.cpu_usage();
    own["cpu_usage"] = {{"user_ns", cpu.user_ns}, {"system_ns", cpu.system_ns}};
    emit(output, json_text(document), streams.out);
  } else {
    std::string text = dd_text(run, results) + session.explanation();
    if (options.explain)
      text += os_text(book, table.os_report, session.rows()) + request_text(book, session.rows());
    emit(output, text, streams.out);
  }
  return session.finish(failed);
}

}  // namespace vp
