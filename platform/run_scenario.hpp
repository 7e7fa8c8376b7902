// `emmc-vp run`: every point of a scenario in a process of its own, and one table of them all.
//
// SystemC elaborates once per process, so a point is a run of this very program (`fio … --output-format=json`). As many
// run at once as there are cores; the results stand in the order of the sweep, whatever order they end in, and do not
// depend on how many ran at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "platform/run_fio.hpp"

namespace vp {

struct ChildResult {
  int status = 0;  ///< exit status, or 128 + the signal's number
  std::string out, err;
};

/// Runs `program` once per argument list, `jobs` at a time. `on_done` is called with the number that have ended.
/// Throws std::runtime_error when a process cannot be made.
std::vector<ChildResult> run_children(const std::string& program,
                                      const std::vector<std::vector<std::string>>& arguments, unsigned jobs,
                                      const std::function<void(std::size_t)>& on_done);

/// The cores this process may use.
unsigned cores();
/// The last line a child said on stderr, or what ended it; empty when its status is 0.
std::string error_of(const ChildResult& child);
/// This program's file.
std::string own_program();

/// Exit status: 0, or that of the first point (in order) whose status the scenario does not expect. Throws InputError.
int run_scenario(const Options& options, const MachineFactory& factory, const ConfigSource& source,
                 Streams streams);

}  // namespace vp
