#include "platform/text_table.hpp"

#include <algorithm>

namespace vp {

std::string aligned(const std::vector<TextRow>& rows, std::size_t left) {
  std::vector<std::size_t> width;
  for (const TextRow& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i) {
      if (width.size() <= i) width.push_back(0);
      width[i] = std::max(width[i], r[i].size());
    }
  std::string out;
  for (const TextRow& r : rows) {
    std::string line;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const std::size_t fill = width[i] - r[i].size();
      line += i < left ? r[i] + std::string(fill, ' ') : std::string(fill, ' ') + r[i];
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string pasteable(const std::vector<std::string>& words) {
  std::string out = "emmc-vp";
  for (const std::string& w : words) {
    const bool plain = !w.empty() && w.find_first_of(" \t\n'\"\\$&;|<>*?()[]{}#~`!") == std::string::npos;
    std::string quoted = "'";
    for (const char c : w) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    out += " " + (plain ? w : quoted + "'");
  }
  return out;
}

}  // namespace vp
