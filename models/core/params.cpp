#include "models/core/params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace vp {
namespace {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void bad_value(const Param& p, const std::string& text, const std::string& where,
                            const std::string& want) {
  throw InputError(fmt::format("{}{} = {}: {}", where, p.key, text, want));
}

std::string range_text(const Param& p) {
  return fmt::format("must be {} to {}{}{}", p.min, p.max, p.unit.empty() ? "" : " ", p.unit);
}

double parse_double(const Param& p, const std::string& text, const std::string& where) {
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(v)) bad_value(p, text, where, "must be a number");
  return v;
}

}  // namespace

std::string_view to_string(ParamKind kind) {
  switch (kind) {
    case ParamKind::default_value:
      return "default";
    case ParamKind::datasheet:
      return "datasheet";
    case ParamKind::reg:
      return "register";
    case ParamKind::fitted:
      return "fitted";
    case ParamKind::choice:
      return "choice";
    case ParamKind::user:
      return "user";
  }
  return "";
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = ~std::size_t{0};
  for (const std::string& c : candidates) {
    const std::size_t d = edit_distance(word, c);
    if (d < best_distance) best_distance = d, best = c;
  }
  return best;
}

std::uint64_t parse_size(const std::string& text, const std::string& where) {
  const bool hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* first = text.data() + (hex ? 2 : 0);
  const char* last = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  std::string suffix(rest, last);
  for (char& c : suffix) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static constexpr std::pair<const char*, unsigned> kSuffixes[] = {
      {"", 0},     {"B", 0},  {"K", 10},  {"KB", 10},  {"KIB", 10}, {"M", 20},  {"MB", 20},
      {"MIB", 20}, {"G", 30}, {"GB", 30}, {"GIB", 30}, {"T", 40},   {"TB", 40}, {"TIB", 40}};
  for (const auto& [name, shift] : kSuffixes) {
    if (error != std::errc{} || suffix != name) continue;
    if (shift != 0 && value > (~0ULL >> shift)) break;
    return value << shift;
  }
  throw InputError(
      fmt::format("{}'{}' is not a size: write a whole number, with K, M, G or T if you like", where, text));
}

std::string Param::value_text() const {
  if (auto p = std::get_if<bool*>(&ref)) return **p ? "true" : "false";
  if (auto p = std::get_if<std::uint64_t*>(&ref)) return fmt::format("{}", **p);
  if (auto p = std::get_if<double*>(&ref)) return fmt::format("{}", **p);
  return **std::get_if<std::string*>(&ref);
}

Param& ParamRegistry::insert(std::string key, Param::Ref ref, std::string doc) {
  if (find(key)) throw std::logic_error("parameter declared twice: " + key);
  Param p;
  p.key = std::move(key);
  p.ref = ref;
  p.doc = std::move(doc);
  p.default_text = p.value_text();
  params_.push_back(std::move(p));
  return params_.back();
}

void ParamRegistry::add(std::string key, bool& ref, std::string doc) {
  insert(std::move(key), &ref, std::move(doc)).choices = {"true", "false"};
}

void ParamRegistry::add(std::string key, std::uint64_t& ref, std::string unit, std::uint64_t min,
                        std::uint64_t max, std::string doc) {
  Param& p = insert(std::move(key), &ref, std::move(doc));
  p.unit = std::move(unit), p.min = static_cast<double>(min), p.max = static_cast<double>(max);
}

void ParamRegistry::add(std::string key, double& ref, std::string unit, double min, double max,
                        std::string doc) {
  Param& p = insert(std::move(key), &ref, std::move(doc));
  p.unit = std::move(unit), p.min = min, p.max = max;
}

void ParamRegistry::add(std::string key, std::string& ref, std::vector<std::string> choices,
                        std::string doc) {
  insert(std::move(key), &ref, std::move(doc)).choices = std::move(choices);
}

const Param* ParamRegistry::find(const std::string& key) const {
  const auto it = std::find_if(params_.begin(), params_.end(), [&](const Param& p) { return p.key == key; });
  return it == params_.end() ? nullptr : &*it;
}

std::string ParamRegistry::nearest(const std::string& key) const {
  std::vector<std::string> keys;
  for (const Param& p : params_) keys.push_back(p.key);
  return nearest_word(key, keys);
}

void ParamRegistry::set(const std::string& key, const std::string& text, const std::string& where,
                        ParamKind kind, const std::string& source) {
  Param* p = const_cast<Param*>(find(key));
  if (!p)
    throw InputError(fmt::format("{}unknown parameter '{}': did you mean '{}'? (emmc-vp params lists them)",
                                 where, key, nearest(key)));
  if (auto b = std::get_if<bool*>(&p->ref)) {
    if (text != "true" && text != "false" && text != "on" && text != "off" && text != "1" && text != "0")
      bad_value(*p, text, where, "must be true or false");
    **b = text == "true" || text == "on" || text == "1";
  } else if (auto u = std::get_if<std::uint64_t*>(&p->ref)) {
    const std::uint64_t v = parse_size(text, where + p->key + ": ");
    if (static_cast<double>(v) < p->min || static_cast<double>(v) > p->max)
      bad_value(*p, text, where, range_text(*p));
    **u = v;
  } else if (auto d = std::get_if<double*>(&p->ref)) {
    const double v = parse_double(*p, text, where);
    if (v < p->min || v > p->max) bad_value(*p, text, where, range_text(*p));
    **d = v;
  } else {
    if (!p->choices.empty() && std::find(p->choices.begin(), p->choices.end(), text) == p->choices.end())
      bad_value(*p, text, where,
                fmt::format("must be one of {}; did you mean '{}'?", fmt::join(p->choices, ", "),
                            nearest_word(text, p->choices)));
    *std::get<std::string*>(p->ref) = text;
  }
  p->kind = kind;
  p->source = source;
}

}  // namespace vp
