// Parameters: every module's are one struct with defaults; the struct declares them once, with unit, range and doc,
// and presets (TOML), -p and `emmc-vp params` all work from that declaration.
//
//   struct SramParams {
//     std::uint64_t first_beat = 4;
//     void declare(ParamRegistry& r, const std::string& at) {
//       r.add(at + ".first_beat", first_beat, "axi cycles", 0, 1000, "address to first data beat");
//     }
//   };
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace vp {

/// Bad input: one line that says what, where and how to mend. The program ends with exit status 2.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What a preset says about a value's origin.
enum class ParamKind : std::uint8_t { default_value, datasheet, reg, fitted, choice, user };
std::string_view to_string(ParamKind kind);

struct Param {
  using Ref = std::variant<bool*, std::uint64_t*, double*, std::string*>;
  std::string key;  ///< dotted path, e.g. "sdhci.fifo_bytes"
  Ref ref;
  std::string unit;
  double min = 0, max = 0;
  std::vector<std::string> choices;  ///< for strings; empty: any
  std::string doc;
  ParamKind kind = ParamKind::default_value;
  std::string source;  ///< standard clause, reference, or the measurement fitted to
  std::string default_text;

  std::string value_text() const;
};

class ParamRegistry {
 public:
  void add(std::string key, bool& ref, std::string doc);
  void add(std::string key, std::uint64_t& ref, std::string unit, std::uint64_t min, std::uint64_t max,
           std::string doc);
  void add(std::string key, double& ref, std::string unit, double min, double max, std::string doc);
  void add(std::string key, std::string& ref, std::vector<std::string> choices, std::string doc);

  /// Sets from text ("64", "64K", "0x40", "true", "198e6"). `where` prefixes errors ("file:line: " or "-p: ").
  /// Throws InputError naming the nearest valid key, or the valid range.
  void set(const std::string& key, const std::string& text, const std::string& where, ParamKind kind,
           const std::string& source = {});

  const std::vector<Param>& all() const { return params_; }
  const Param* find(const std::string& key) const;
  /// The valid key nearest to `key` by edit distance.
  std::string nearest(const std::string& key) const;

 private:
  Param& insert(std::string key, Param::Ref ref, std::string doc);
  std::vector<Param> params_;
};

/// A whole number with an optional binary suffix K, M, G, T or prefix 0x. Throws InputError.
std::uint64_t parse_size(const std::string& text, const std::string& where);
/// The candidate nearest to `word` by edit distance; empty when there are none.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace vp
