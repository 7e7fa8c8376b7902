// VCD as of IEEE 1364-2005 clause 18; string variables are GTKWave's extension.
#include "models/core/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace vp {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::size_t kPendingLimit = 65536;   ///< changes held before what is due is written
constexpr std::size_t kFileBuffer = 1u << 20;  ///< bytes
constexpr const char* kTemporarySuffix = ".tmp";
constexpr const char* kUngrouped = "top";  ///< scope of signals whose path has one component

/// Printable VCD identifier number `n`, shortest first.
std::string identifier(std::size_t n) {
  constexpr std::size_t kFirst = '!', kCount = '~' - '!' + 1;
  std::string code;
  do {
    code += static_cast<char>(kFirst + n % kCount);
    n = n / kCount;
  } while (n-- > 0);
  return code;
}

std::string binary(std::uint64_t value) { return fmt::format("{:b}", value); }

std::string printable(std::string_view text) {
  if (text.empty()) return "-";
  std::string out(text);
  for (char& c : out)
    if (c <= ' ' || c > '~') c = '_';
  return out;
}

std::string first_component(const std::string& path) {
  const std::size_t dot = path.find('.');
  return dot == std::string::npos ? kUngrouped : path.substr(0, dot);
}

}  // namespace

/// One level of the hierarchy, in order of registration.
struct Trace::Scope {
  std::string name;
  std::vector<Scope> scopes;
  std::vector<std::pair<std::string, const Signal*>> signals;

  Scope& enter(const std::string& child) {
    for (Scope& s : scopes)
      if (s.name == child) return s;
    scopes.push_back({child, {}, {}});
    return scopes.back();
  }
};

Trace::Trace() = default;

Trace::~Trace() { discard(); }

void Trace::discard() {
  if (!file_) return;
  std::fclose(file_);
  file_ = nullptr;
  std::remove((name_ + kTemporarySuffix).c_str());
}

SignalId Trace::add(std::string path, Kind kind, unsigned bits, std::uint64_t value) {
  if (header_done_) throw std::logic_error("trace signal registered after recording began: " + path);
  if (!root_.empty() && path.rfind(root_, 0) == 0) path.erase(0, root_.size());
  path = printable(path);
  const auto taken = [&](const Signal& s) { return s.path == path; };
  if (std::any_of(signals_.begin(), signals_.end(), taken))
    throw std::logic_error("trace signal registered twice: " + path);
  signals_.push_back({std::move(path), kind, bits, value, identifier(signals_.size())});
  return static_cast<SignalId>(signals_.size() - 1);
}

SignalId Trace::add_vector(std::string path, unsigned bits, std::uint64_t initial) {
  if (bits < 1 || bits > 64) throw std::logic_error("trace vectors have 1 to 64 bits: " + path);
  return add(std::move(path), Kind::vector, bits, initial);
}

SignalId Trace::add_real(std::string path, double initial) {
  return add(std::move(path), Kind::real, 64, std::bit_cast<std::uint64_t>(initial));
}

SignalId Trace::add_state(std::string path, std::string initial) {
  return add(std::move(path), Kind::state, 1, intern(initial));
}

std::uint64_t Trace::intern(std::string_view text) {
  const auto known = text_index_.find(text);
  if (known != text_index_.end()) return known->second;
  texts_.push_back(printable(text));
  return text_index_.emplace(std::string(text), texts_.size() - 1).first->second;
}

void Trace::open(const std::string& file) {
  if (file_) throw std::runtime_error(file + ": a waveform is already open");
  file_ = std::fopen((file + kTemporarySuffix).c_str(), "wb");
  if (!file_) throw std::runtime_error(file + kTemporarySuffix + ": cannot be written");
  std::setvbuf(file_, nullptr, _IOFBF, kFileBuffer);
  name_ = file;
}

// --- changes ---

void Trace::push(SignalId s, sc_time at, std::uint64_t value) {
  const Signal& signal = signals_.at(s);
  if (signal.kind == Kind::vector && signal.bits < 64) value &= (std::uint64_t{1} << signal.bits) - 1;
  pending_.push_back({at.value(), order_++, s, value});
  std::push_heap(pending_.begin(), pending_.end(), later);
  if (pending_.size() > kPendingLimit) write_until(sc_core::sc_time_stamp().value());
}

void Trace::push_state(SignalId s, sc_time at, std::string_view value) { push(s, at, intern(value)); }

void Trace::change_real(SignalId s, sc_time at, double value) {
  if (file_) push(s, at, std::bit_cast<std::uint64_t>(value));
}

void Trace::write_until(std::uint64_t limit) {
  while (!pending_.empty() && pending_.front().time < limit) {
    std::pop_heap(pending_.begin(), pending_.end(), later);
    Change c = pending_.back();
    pending_.pop_back();
    if (c.time < processed_) {
      ++late_;
      c.time = processed_;
    }
    pass_windows(c.time);
    apply(c);
  }
  pass_windows(limit);
}

void Trace::apply(const Change& c) {
  Signal& s = signals_[c.signal];
  processed_ = c.time;
  if (s.value == c.value) return;
  s.value = c.value;
  if (!dumped_) return;
  stamp(c.time);
  write_value(s);
  first_change_ = std::min(first_change_, c.time);
}

// --- windows ---

void Trace::window_begin(sc_time at) {
  if (!windows_.empty() && at.value() <= windows_.back().to) {
    windows_.back().to = kNever;
    return;
  }
  windows_.push_back({at.value(), kNever});
}

void Trace::window_end(sc_time at) {
  if (windows_.empty() && recording_from_start_) windows_.push_back({0, kNever});
  if (!windows_.empty() && windows_.back().to == kNever)
    windows_.back().to = std::max<std::uint64_t>(at.value(), windows_.back().from);
}

const Trace::Window* Trace::window() const {
  static constexpr Window kAlways{0, kNever};
  if (windows_.empty()) return recording_from_start_ ? &kAlways : nullptr;
  return next_window_ < windows_.size() ? &windows_[next_window_] : nullptr;
}

/// Opens and closes windows whose ends lie before `limit`. A window's start values include the changes at its
/// begin.
void Trace::pass_windows(std::uint64_t limit) {
  while (const Window* w = window()) {
    if (!dumped_ && w->from >= limit) return;
    if (!dumped_) dump_all(std::max(w->from, processed_));
    if (w->to >= limit) return;
    stamp(w->to);
    dumped_ = false;
    ++next_window_;
  }
}

void Trace::flush(sc_time now) {
  if (file_) write_until(now.value());
}

void Trace::close(sc_time now) {
  if (!file_) return;
  std::uint64_t last = std::max<std::uint64_t>(now.value(), processed_);
  for (const Change& c : pending_) last = std::max(last, c.time);
  write_until(last + 1);
  if (dumped_) stamp(last);
  if (!header_done_) write_header();
  const bool failed = std::ferror(file_) != 0;
  if ((std::fclose(std::exchange(file_, nullptr)) != 0) || failed ||
      std::rename((name_ + kTemporarySuffix).c_str(), name_.c_str()) != 0) {
    std::remove((name_ + kTemporarySuffix).c_str());
    throw std::runtime_error(name_ + ": cannot be written (disk full?)");
  }
  write_gtkw(last);
}

// --- text ---

void Trace::put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), file_); }

void Trace::stamp(std::uint64_t at) {
  if (written_time_ != kNever && at <= written_time_) return;
  written_time_ = at;
  put(fmt::format("#{}\n", at));
}

void Trace::write_header() {
  header_done_ = true;
  Scope root{"", {}, {}};
  for (const Signal& s : signals_) {
    std::string rest = s.path.find('.') == std::string::npos ? kUngrouped + ("." + s.path) : s.path;
    Scope* scope = &root;
    for (std::size_t dot = rest.find('.'); dot != std::string::npos; dot = rest.find('.')) {
      scope = &scope->enter(rest.substr(0, dot));
      rest.erase(0, dot + 1);
    }
    scope->signals.emplace_back(rest, &s);
  }
  put("$version emmc-vp $end\n$timescale 1 ps $end\n");
  for (const Scope& scope : root.scopes) write_scope(scope);
  put("$enddefinitions $end\n");
}

void Trace::write_scope(const Scope& scope) {
  put(fmt::format("$scope module {} $end\n", scope.name));
  for (const auto& [name, s] : scope.signals) {
    if (s->kind == Kind::state)
      put(fmt::format("$var string 1 {} {} $end\n", s->code, name));
    else if (s->kind == Kind::real)
      put(fmt::format("$var real 64 {} {} $end\n", s->code, name));
    else if (s->bits == 1)
      put(fmt::format("$var wire 1 {} {} $end\n", s->code, name));
    else
      put(fmt::format("$var wire {} {} {} [{}:0] $end\n", s->bits, s->code, name, s->bits - 1));
  }
  for (const Scope& child : scope.scopes) write_scope(child);
  put("$upscope $end\n");
}

void Trace::write_value(const Signal& s) {
  if (s.kind == Kind::state)
    put(fmt::format("s{} {}\n", texts_[s.value], s.code));
  else if (s.kind == Kind::real)
    put(fmt::format("r{:.16g} {}\n", std::bit_cast<double>(s.value), s.code));
  else if (s.bits == 1)
    put(fmt::format("{}{}\n", s.value, s.code));
  else
    put(fmt::format("b{} {}\n", binary(s.value), s.code));
}

/// Between two windows nothing is known; reals have no x, they keep their last value (IEEE 1364 18.2.3.4).
void Trace::write_unknown(const Signal& s) {
  if (s.kind == Kind::real) return;
  if (s.kind == Kind::state)
    put(fmt::format("s- {}\n", s.code));
  else
    put(s.bits == 1 ? fmt::format("x{}\n", s.code) : fmt::format("bx {}\n", s.code));
}

void Trace::dump_all(std::uint64_t at) {
  const bool first = !header_done_;
  if (first) {
    write_header();
  } else {
    put("$dumpoff\n");
    for (const Signal& s : signals_) write_unknown(s);
    put("$end\n");
  }
  stamp(at);
  put(first ? "$dumpvars\n" : "$dumpon\n");
  for (const Signal& s : signals_) write_value(s);
  put("$end\n");
  dumped_ = true;
  processed_ = std::max(processed_, at);
  opened_ = std::min(opened_, at);
}

/// GTKWave save file: one group per first path component. Vectors up to 16 bits are counts and levels
/// (decimal), wider ones addresses and registers (hexadecimal).
void Trace::write_gtkw(std::uint64_t end) const {
  constexpr double kPixels = 1000;  ///< about the width of a wave window
  enum Flags : unsigned { hex = 0x22, decimal = 0x24, bin = 0x28, real = 0x420, text = 0x820 };
  const std::size_t slash = name_.find_last_of('/');
  const std::size_t dot = name_.find_last_of('.');
  const bool has_extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  const std::string base = slash == std::string::npos ? name_ : name_.substr(slash + 1);
  const std::uint64_t start = first_change_ != kNever ? first_change_ : opened_ != kNever ? opened_ : 0;
  const double span = std::max(1.0, static_cast<double>(end - std::min(start, end)));

  std::string out = fmt::format("[dumpfile] \"{}\"\n[timestart] {}\n[size] 1600 900\n", base, start);
  out += fmt::format("*{:.6f} {}", -std::log2(span / kPixels), start);
  for (int marker = 0; marker < 26; ++marker) out += " -1";
  out += '\n';
  std::vector<std::string> groups;
  for (const Signal& s : signals_) {
    const std::string group = first_component(s.path);
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  for (const std::string& group : groups) {
    out += fmt::format("@800200\n-{}\n", group);
    for (const Signal& s : signals_) {
      if (first_component(s.path) != group) continue;
      const unsigned format = s.kind == Kind::state  ? text
                              : s.kind == Kind::real ? real
                              : s.bits == 1          ? bin
                              : s.bits <= 16         ? decimal
                                                     : hex;
      const bool alone = s.path.find('.') == std::string::npos;
      const bool ranged = s.kind == Kind::vector && s.bits > 1;
      out += fmt::format("@{:x}\n{}{}{}\n", format, alone ? kUngrouped + std::string(".") : "", s.path,
                         ranged ? fmt::format("[{}:0]", s.bits - 1) : "");
    }
    out += fmt::format("@1000200\n-{}\n", group);
  }

  const std::string file = (has_extension ? name_.substr(0, dot) : name_) + ".gtkw";
  std::FILE* f = std::fopen(file.c_str(), "wb");
  const bool good = f && std::fwrite(out.data(), 1, out.size(), f) == out.size();
  if (!f || std::fclose(f) != 0 || !good) throw std::runtime_error(file + ": cannot be written");
}

}  // namespace vp
