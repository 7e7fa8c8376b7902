// --trace: the card bus in the manner of the kernel's tracing, one line per command at the end of its response:
//   SECONDS: mmc_command: cmd=INDEX arg=0xARGUMENT response=0xCONTENT [error=...] [data=read|write] ns=DURATION [busy_ns=...]
//   SECONDS: mmc_fault: KIND cmd=INDEX [block=K]
#pragma once

#include <fmt/format.h>

#include <fstream>

#include "models/core/context.hpp"
#include "models/core/params.hpp"
#include "platform/options.hpp"

namespace vp {

/// Writes what the models say of the card bus to the file of --trace, if there is one.
class BusLog {
 public:
  /// Throws InputError when the file cannot be written.
  BusLog(const Options& options, Context& context) : context_(context) {
    if (!options.trace) return;
    name_ = *options.trace;
    file_.open(name_);
    if (!file_) fail();
    file_ << "# commands on the card bus, at the end of the response; times in seconds of simulated time\n";
    context_.bus_log = [this](const std::string& line) { file_ << line << "\n"; };
  }
  ~BusLog() { context_.bus_log = {}; }
  BusLog(const BusLog&) = delete;
  BusLog& operator=(const BusLog&) = delete;

  void close() {
    if (!file_.is_open()) return;
    file_.close();
    if (file_.fail()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(fmt::format(
        "emmc-vp: --trace={}: cannot be written: name a file in a directory you can write to", name_));
  }
  Context& context_;
  std::string name_;
  std::ofstream file_;
};

}  // namespace vp
