// Waveforms: a VCD writer whose changes may be stamped in the future (models compute times, they do not wait
// for them). Changes are written in time order; a window limits what is written. Costs one test per change
// when off.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

namespace vp {

using sc_core::sc_time;
using SignalId = std::uint32_t;

class Trace {
 public:
  Trace();
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Registers a signal; `path` is dotted ("sdhci.fifo_level"). Always allowed; ids are valid even when
  /// tracing is off.
  SignalId add_vector(std::string path, unsigned bits, std::uint64_t initial = 0);
  /// Paths below this module lose its name: "platform.sdhci.irq" becomes "sdhci.irq". Before signals are added.
  void set_root(const std::string& module) { root_ = module + "."; }
  SignalId add_real(std::string path, double initial = 0);
  SignalId add_state(std::string path, std::string initial);  ///< a named state, shown as text by GTKWave

  /// Opens the file (written under a temporary name until close()). Throws std::runtime_error when it cannot.
  void open(const std::string& file);
  bool on() const { return file_ != nullptr; }

  void change(SignalId s, sc_time at, std::uint64_t value) {
    if (file_) push(s, at, value);
  }
  void change_real(SignalId s, sc_time at, double value);
  void change_state(SignalId s, sc_time at, std::string_view value) {
    if (file_) push_state(s, at, value);
  }

  /// Limits the written part (both ends included); by default everything is written. A change outside only
  /// updates the start values. Windows are given in rising order; one that begins before the previous has
  /// ended prolongs it.
  void window_begin(sc_time at);
  void window_end(sc_time at);
  void start_closed() { recording_from_start_ = false; }

  /// Writes what is due before `now` (called now and then to bound memory), and everything at close().
  void flush(sc_time now);
  /// Ends the file, moves it to its name and writes the GTKWave save file beside it.
  void close(sc_time now);

  /// Changes that came too late for their stamp and were written at the earliest time still possible.
  std::uint64_t late_changes() const { return late_; }

 private:
  enum class Kind : std::uint8_t { vector, real, state };
  struct Signal {
    std::string path;
    Kind kind;
    unsigned bits;
    std::uint64_t value;  ///< a vector's bits, a real's representation, or a state's index in texts_
    std::string code;     ///< VCD identifier
  };
  struct Change {
    std::uint64_t time, order;
    SignalId signal;
    std::uint64_t value;
  };
  struct Scope;
  struct Window {
    std::uint64_t from, to;
  };
  static bool later(const Change& a, const Change& b) {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
  }

  SignalId add(std::string path, Kind kind, unsigned bits, std::uint64_t value);
  std::uint64_t intern(std::string_view text);
  void push(SignalId s, sc_time at, std::uint64_t value);
  void push_state(SignalId s, sc_time at, std::string_view value);
  void write_until(std::uint64_t limit);
  void apply(const Change& c);
  void pass_windows(std::uint64_t limit);
  void stamp(std::uint64_t at);
  void put(const std::string& text);
  void write_header();
  void write_scope(const Scope& scope);
  void write_value(const Signal& s);
  void write_unknown(const Signal& s);
  void dump_all(std::uint64_t at);
  void write_gtkw(std::uint64_t end) const;
  void discard();
  const Window* window() const;

  std::vector<Signal> signals_;
  std::vector<Change> pending_;  // a heap by (time, order)
  std::vector<std::string> texts_;
  std::map<std::string, std::uint64_t, std::less<>> text_index_;
  std::vector<Window> windows_;  // disjoint, in rising order; empty: recording_from_start_ decides
  std::size_t next_window_ = 0;  // the window that is open or the next to open
  std::uint64_t order_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t processed_ = 0;         // no change before this time can be written any more
  std::uint64_t written_time_ = ~0ULL;  // the last time stamp in the file
  std::uint64_t first_change_ = ~0ULL;
  std::uint64_t opened_ = ~0ULL;  // begin of the first window written
  std::string root_;
  std::FILE* file_ = nullptr;
  std::string name_;
  bool header_done_ = false;
  bool dumped_ = false;  // the open window's start values are written
  bool recording_from_start_ = true;
};

}  // namespace vp
