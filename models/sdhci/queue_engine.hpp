// What an SDHCI host sees of a command queueing engine beside it (vendor area 2): the engine shares the CMD line, the
// data engine and the interrupt; the host forwards register accesses and what happens to the engine's own commands
// and data. Services in the other direction: Sdhci's "for a queue engine" part.
#pragma once

#include "models/sdhci/data_engine.hpp"

namespace vp {

class QueueEngine {
 public:
  virtual ~QueueEngine() = default;

  // --- registers, offsets from VENDOR2_POINTER; `at` is when the access takes effect ---
  virtual std::uint32_t window_bytes() const = 0;
  virtual std::uint64_t read_register(std::uint32_t offset, unsigned bytes, sc_time at) = 0;
  virtual void write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value, sc_time at) = 0;

  // --- who has what ---
  virtual bool enabled() const = 0;
  virtual bool halted() const = 0;
  virtual bool has_tasks() const = 0;
  virtual bool owns_line() const = 0;  ///< the command under way is the engine's
  virtual bool owns_data() const = 0;  ///< the data job is the engine's

  // --- what happens to it ---
  virtual void command_sent(const CommandOutcome& outcome) = 0;
  virtual void response_received(const CommandOutcome& outcome) = 0;
  virtual void data_complete(NodeId last) = 0;
  /// The error bits are raised and the data engine has stopped.
  virtual void data_failed() = 0;
  virtual void block_counted(sc_time at) = 0;
  /// The host's own command has left the CMD line, or its data the DAT lines.
  virtual void lines_free() = 0;
  /// Software resets, before the host resets its own part.
  virtual void reset_line() = 0;
  virtual void reset_data() = 0;
  virtual void reset_all() = 0;
};

}  // namespace vp
