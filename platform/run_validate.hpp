// `emmc-vp validate`: every measured row's own command, run by this very program, and the model beside the measurement.
//
// Commands run in processes of their own, as many at once as there are cores; the same command runs once, however many
// rows it gives. --timing is lt unless said; -p adds to every command, so a fit or a leave-one-out is one more word.
#pragma once

#include "platform/run_scenario.hpp"
#include "platform/validation.hpp"

namespace vp {

/// The words of a run: its command, the timing style, what the user adds, JSON.
std::vector<std::string> validate_arguments(const MeasuredRun& run, const Options& options);
/// Exit status: 0 when everything holds, else 1 with one line naming what does not. Throws InputError.
int run_validate(const Options& options, const ConfigSource& source, Streams streams);

}  // namespace vp
