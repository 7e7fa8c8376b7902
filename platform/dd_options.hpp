// dd's operands, read as GNU coreutils reads them (dd invocation): if, of, bs, ibs, obs, count, skip, seek, iflag, oflag,
// conv, status, with its sizes (c, w, b, kB, K, MB, M …, xM products, B for bytes).
//
// Names: /dev/zero as input, /dev/null as output, /dev/mmcblkN and /dev/mmcblkNpM as the raw device, any other name a
// file on the device (os.file_start_bytes, os.file_bytes). Operands that would change the data or the I/O in a way the
// model does not do are refused, never dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "firmware/app/job_table.hpp"

namespace vp {

enum class DdStatus : std::uint8_t { normal, none, noxfer, progress };

struct DdFlags {
  bool direct = false;
  std::uint32_t sync = 0;  ///< 0; 1 dsync, 2 sync
  bool count_bytes = false, skip_bytes = false, seek_bytes = false;
};

struct DdRun {
  std::string in, out;
  std::uint64_t ibs = 512, obs = 512;
  std::optional<std::uint64_t> count;  ///< blocks, or bytes
  std::uint64_t skip = 0, seek = 0;    ///< blocks, or bytes
  bool count_in_bytes = false, skip_in_bytes = false, seek_in_bytes = false;
  DdFlags iflag, oflag;
  std::uint32_t final_sync = 0;  ///< conv=fdatasync 1, fsync 2
  bool notrunc = false;
  DdStatus status = DdStatus::normal;
  std::vector<std::string> operands;  ///< as given, for the report
};

/// `args`: the words after `--`. Throws InputError.
DdRun parse_dd(const std::vector<std::string>& args);

/// A number as dd reads it; `bytes` is set when it ends in B. Throws InputError.
std::uint64_t dd_number(const std::string& text, const std::string& operand, bool* bytes = nullptr);

/// The copy as the firmware makes it. Throws InputError when it does not fit the device, the files or O_DIRECT.
fw::CopyDef dd_copy(const DdRun& run, std::uint64_t device_bytes, const fw::OsConfig& os);

}  // namespace vp
