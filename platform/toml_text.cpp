#include "platform/toml_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "models/core/params.hpp"

namespace vp {
namespace {

/// toml11 3.7 throws several lines of text; the first line and the file position are kept.
std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, text.find('\n'));
  const auto bracket = line.rfind("] ");
  return bracket == std::string::npos ? line : line.substr(bracket + 2);
}

}  // namespace

toml::value parse_toml(const std::string& file, const std::string& text) {
  std::istringstream in(text);
  try {
    return toml::parse(in, file);
  } catch (const toml::exception& e) {
    throw InputError(fmt::format("{}:{}: not valid TOML: {}: mend the line", file, e.location().line(),
                                 first_line(e.what())));
  } catch (const std::exception& e) {
    throw InputError(fmt::format("{}: not valid TOML: {}: mend the file", file, first_line(e.what())));
  }
}

TomlEntries in_file_order(const toml::value& table) {
  TomlEntries list;
  for (const auto& [key, value] : table.as_table()) list.emplace_back(key, &value);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    const toml::source_location la = a.second->location(), lb = b.second->location();
    if (la.line() != lb.line()) return la.line() < lb.line();
    return la.column() != lb.column() ? la.column() < lb.column() : a.first < b.first;
  });
  return list;
}

}  // namespace vp
