// The workload program's entry point. Reads the job table (job_table.hpp), sets the host and the card up,
// runs all jobs, leaves the results in the table. Returns 0, or the Status code of a set-up failure; failed
// I/Os are counted in the table, they are not a failure here.
#pragma once

#include "firmware/app/status.hpp"

namespace fw {

int main();

}  // namespace fw
