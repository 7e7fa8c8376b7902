#include "platform/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "models/core/params.hpp"

namespace vp {
namespace fs = std::filesystem;

namespace {

std::string temporary_name(const std::string& file) { return file + ".tmp"; }

[[noreturn]] void cannot_write(const std::string& file, const std::string& option, const std::string& why) {
  throw InputError(fmt::format("{}={}: cannot be written ({}): name a file in a directory you can write to",
                               option, file, why));
}

}  // namespace

void check_writable(const std::string& file, const std::string& option) {
  std::error_code error;
  const fs::path parent = fs::path(file).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (error) cannot_write(file, option, error.message());
  if (fs::is_directory(file, error)) cannot_write(file, option, "it is a directory");
  const std::string probe = temporary_name(file);
  errno = 0;
  const bool good = static_cast<bool>(std::ofstream(probe, std::ios::binary));
  const std::string why = std::strerror(errno);
  fs::remove(probe, error);
  if (!good) cannot_write(file, option, why);
}

void write_whole_file(const std::string& file, const std::string& text, const std::string& option) {
  std::error_code error;
  const std::string temporary = temporary_name(file);
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.close();
    if (!out) {
      const std::string why = std::strerror(errno);
      fs::remove(temporary, error);
      cannot_write(file, option, why);
    }
  }
  fs::rename(temporary, file, error);
  if (!error) return;
  const std::string why = error.message();
  fs::remove(temporary, error);
  cannot_write(file, option, why);
}

std::string read_whole_file(const std::string& file, const std::string& what) {
  std::error_code error;
  if (fs::is_directory(file, error))
    throw InputError(fmt::format("{}: is a directory: name a {}", file, what));
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw InputError(
        fmt::format("{}: cannot read the {} ({}): check the name", file, what, std::strerror(errno)));
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace vp
