// dd's own last lines, in GNU coreutils' words and rounding, and the same numbers as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "firmware/app/job_table.hpp"
#include "platform/dd_options.hpp"
#include "platform/json_text.hpp"

namespace vp {

struct DdResults {
  std::uint64_t in_full = 0, in_part = 0, out_full = 0, out_part = 0;
  std::uint64_t bytes = 0;
  std::uint64_t ns = 0;  ///< from the first call to the end of the last
};
DdResults dd_results(const fw::CopyDef& copy, std::uint64_t elapsed_ps);

/// "500+0 records in", "500+0 records out", "524288000 bytes (524 MB, 500 MiB) copied, 5.4 s, 97.1 MB/s".
std::string dd_text(const DdRun& run, const DdResults& results);
Json dd_json(const DdRun& run, const DdResults& results);

/// `n` times `from` / `to` as coreutils shows an amount: the largest prefix that leaves at least one digit. Exact
/// quotients show a digit after the point below 10 ("1.1 GB", "524 MB"), others while it fits four characters
/// ("97.1 MB/s", "268 MB/s"); halves go to the even neighbour. `binary`: KiB, MiB …; else kB, MB ….
std::string dd_amount(std::uint64_t n, std::uint64_t from, std::uint64_t to, bool binary);

}  // namespace vp
