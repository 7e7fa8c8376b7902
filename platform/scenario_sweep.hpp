// From a scenario to the command lines of its points: the cartesian product of its axes, each point a run of this
// program with `fio`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/options.hpp"
#include "platform/run_fio.hpp"
#include "platform/scenario.hpp"

namespace vp {

struct Point {
  std::vector<std::size_t> index;      ///< setting chosen on each axis
  Json parameters = Json::object();    ///< axis name -> value
  std::vector<Assignment> set;         ///< fixed, command line, then the axes': the last of a key wins
  std::string tool;                    ///< fio or dd
  std::vector<std::string> workload;   ///< its words
  std::vector<std::string> arguments;  ///< of this program: "fio", options, "--", fio's words
};

/// Every point in order; the last axis varies fastest. `options` is `run`'s own command line: what it sets replaces the
/// scenario's fixed values, not the axes'. `options.only` keeps the points of these axis values. Throws InputError.
std::vector<Point> expand(const Scenario& scenario, const Options& options);

/// Reads every point's presets, parameters and fio options as its run would. Throws InputError that names the
/// scenario's file and line.
void check_points(const Scenario& scenario, const std::vector<Point>& points, const MachineFactory& factory,
                  const ConfigSource& source);

/// Sets fio option `key` in a command line: in place where it stands, else before the first job (so for all jobs).
void set_fio_word(std::vector<std::string>& words, const std::string& key, const std::string& value);

}  // namespace vp
