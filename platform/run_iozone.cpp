#include "platform/run_iozone.hpp"

#include "platform/iozone_options.hpp"
#include "platform/iozone_report.hpp"

namespace vp {

int run_iozone(const Options& options, Machine& machine, const ConfigSource& source, Streams streams) {
  const IozoneRun run = parse_iozone(options.rest);
  const OutputChoice output = output_choice(options);
  RunSession session(options, machine, source, streams);
  fw::JobTable& table = machine.job_table();
  check_iozone(run, {machine.device_bytes(), table.buffer_bytes, table.page_bytes, fw::kMaxJobs});
  session.check_files(output);
  fill_job_table(table, run, options.seed);
  IozoneRecorder recorder(run);
  session.run(recorder);
  const std::vector<IozoneResult> results = recorder.results();
  if (output.format == OutputFormat::json) {
    Json document;
    document["iozone"] = iozone_json(run, results);
    document["emmc-vp"] = session.own_json(recorder.failed_ios(), recorder.driver_errors());
    emit(output, json_text(document), streams.out);
  } else {
    emit(output, iozone_text(run, results, version_number()) + session.explanation(), streams.out);
  }
  return session.finish(recorder.failed_ios());
}

}  // namespace vp
