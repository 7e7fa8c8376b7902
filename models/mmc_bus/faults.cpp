#include "models/mmc_bus/faults.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "models/core/params.hpp"

namespace vp {
namespace {

constexpr std::array<const char*, 12> kKinds = {
    "command_crc",  "no_response", "response_crc",    "response_end_bit", "response_index", "read_crc",
    "read_end_bit", "write_crc",   "write_no_status", "stuck_busy",       "late_data", "lost_completion"};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::stringstream in(text);
  for (std::string word; std::getline(in, word, separator);) {
    const auto first = word.find_first_not_of(" \t"), last = word.find_last_not_of(" \t");
    if (first != std::string::npos) words.push_back(word.substr(first, last - first + 1));
  }
  return words;
}

BusFault::Kind kind_of(const std::string& word, const std::string& key) {
  for (std::size_t i = 0; i < kKinds.size(); ++i)
    if (word == kKinds[i]) return static_cast<BusFault::Kind>(i);
  throw InputError(fmt::format("{}: unknown fault '{}': did you mean '{}'?", key, word,
                               nearest_word(word, {kKinds.begin(), kKinds.end()})));
}

void set_field(BusFault& f, const std::string& field, const std::string& key) {
  const auto eq = field.find('=');
  const std::string name = field.substr(0, eq);
  const std::uint64_t value =
      parse_size(eq == std::string::npos ? "" : field.substr(eq + 1), key + ": " + name + ": ");
  if (name == "cmd")
    f.command = static_cast<int>(value);
  else if (name == "block")
    f.block = static_cast<std::int64_t>(value);
  else if (name == "skip")
    f.skip = static_cast<std::uint32_t>(value);
  else if (name == "count")
    f.count = static_cast<std::uint32_t>(value);
  else if (name == "extra_us")
    f.extra = from_ps(value * 1'000'000);
  else
    throw InputError(
        fmt::format("{}: unknown field '{}': use cmd, block, skip, count or extra_us", key, name));
}

}  // namespace

const char* fault_name(BusFault::Kind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

std::vector<BusFault> parse_faults(const std::string& text, const std::string& key) {
  std::vector<BusFault> faults;
  for (const std::string& one : split(text, ';')) {
    const std::vector<std::string> words = split(one, ':');
    BusFault f{.kind = kind_of(words.front(), key), .extra = {}};
    for (std::size_t i = 1; i < words.size(); ++i) set_field(f, words[i], key);
    faults.push_back(f);
  }
  return faults;
}

}  // namespace vp
