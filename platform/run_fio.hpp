// One fio command line on one machine: read it, set up, run, report. And the program around it.
#pragma once

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "platform/config.hpp"
#include "platform/front_end.hpp"
#include "platform/options.hpp"
#include "platform/session.hpp"

namespace vp {

/// Throws InputError for bad input. A broken hardware rule outranks the data mismatch it may have caused.
int run_fio(const Options& options, Machine& machine, const ConfigSource& source, Streams streams);

using MachineFactory = std::function<std::unique_ptr<Machine>()>;
/// The whole program but for main(): every error becomes one line on stderr and an exit status.
int run_program(const std::vector<std::string>& args, const MachineFactory& factory,
                const ConfigSource& source, Streams streams);

}  // namespace vp
