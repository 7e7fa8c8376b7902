// Results reach their file whole or not at all: text is written to a temporary name beside it and renamed.
#pragma once

#include <string>

namespace vp {

/// Throws InputError when the directory does not exist or cannot be written: ask before a long run.
void check_writable(const std::string& file, const std::string& option);
/// Writes `text` to `file` (temporary name, then rename). Throws InputError; nothing is left behind then.
void write_whole_file(const std::string& file, const std::string& text, const std::string& option);
/// Reads a file whole. Throws InputError with `what` ("job file", "preset") and a remedy.
std::string read_whole_file(const std::string& file, const std::string& what);

}  // namespace vp
