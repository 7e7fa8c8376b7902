#include "platform/json_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace vp {
namespace {

void write(std::string& out, const Json& value, std::size_t indent);

void write_object(std::string& out, const Json& value, std::size_t indent) {
  out += "{";
  const char* separator = "\n";
  for (const auto& [key, child] : value.items()) {
    out += fmt::format("{}{:{}}{} : ", separator, "", indent + 2, Json(key).dump());
    write(out, child, indent + 2);
    separator = ",\n";
  }
  out += value.empty() ? "}" : fmt::format("\n{:{}}}}", "", indent);
}

void write_array(std::string& out, const Json& value, std::size_t indent) {
  out += "[";
  const char* separator = "\n";
  for (const Json& child : value) {
    out += fmt::format("{}{:{}}", separator, "", indent + 2);
    write(out, child, indent + 2);
    separator = ",\n";
  }
  out += value.empty() ? "]" : fmt::format("\n{:{}}]", "", indent);
}

void write(std::string& out, const Json& value, std::size_t indent) {
  if (value.is_object()) return write_object(out, value, indent);
  if (value.is_array()) return write_array(out, value, indent);
  if (value.is_number_float()) {
    const double v = value.get<double>();
    out += std::isfinite(v) ? fmt::format("{:.6f}", v) : "null";  // JSON knows no infinity
    return;
  }
  out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string json_text(const Json& value) {
  std::string out;
  write(out, value, 0);
  out += '\n';
  return out;
}

}  // namespace vp
