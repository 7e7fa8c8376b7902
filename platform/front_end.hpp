// What every front end that runs one machine shares: parameters from preset and command line, build, observers, waveforms,
// the explanation, the keys of "emmc-vp", findings and the exit status.
//
//   RunSession s(options, machine, source, streams);   // parameters set, machine built
//   …fill s.machine().job_table()…
//   s.check_files(output);                              // before a long run
//   s.run(observer);
//   emit(output, text + s.explanation(), streams.out);
//   return s.finish(failed);
#pragma once

#include <iosfwd>
#include <string>

#include "platform/config.hpp"
#include "platform/explain.hpp"
#include "platform/options.hpp"
#include "platform/session.hpp"

namespace vp {

enum ExitStatus : int { kGood = 0, kInternalError = 1, kBadInput = 2, kRuleBroken = 3, kDataMismatch = 4 };

struct Streams {
  std::ostream& out;
  std::ostream& err;
  bool err_is_terminal = false;
};

struct OutputChoice {
  OutputFormat format = OutputFormat::normal;
  std::string file;    ///< empty: stdout
  std::string option;  ///< the one that named the file, for errors
};
/// As the platform's options say.
OutputChoice output_choice(const Options& options);
/// To stdout or, whole, to the file. Throws InputError.
void emit(const OutputChoice& choice, const std::string& text, std::ostream& out);

class RunSession {
 public:
  /// Sets the parameters and builds the machine. Throws InputError.
  RunSession(const Options& options, Machine& machine, const ConfigSource& source, Streams streams);
  ~RunSession();

  Machine& machine() { return machine_; }
  /// Throws InputError when a file the run will write cannot be written.
  void check_files(const OutputChoice& output) const;

  /// Runs to the end; every firmware mark goes to `observer`.
  void run(CpuObserver& observer);

  // --- after the run ---
  const Explain& explain() const { return explain_; }
  const ExplainRows& rows() const { return rows_; }
  /// The explanation when --explain was given, else the findings alone.
  std::string explanation();
  /// The value of "emmc-vp".
  Json own_json(std::uint64_t failed_ios, std::uint64_t driver_errors);
  /// Keeps the image, says what went wrong on stderr. A broken hardware rule outranks the data mismatch it may have
  /// caused. Returns the exit status.
  int finish(std::uint64_t failed_ios);

 private:
  int status(std::uint64_t failed_ios);

  const Options& options_;
  Machine& machine_;
  Streams streams_;
  ParamRegistry registry_;
  LoadedPreset preset_;
  Explain explain_;
  ExplainRows rows_;
};

}  // namespace vp
