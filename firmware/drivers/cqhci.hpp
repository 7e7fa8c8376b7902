// Driver of a CQHCI command queue engine (JESD84-B51 annex B) in the DWC MSHC flavour: the registers, the
// descriptor tables, the interrupt. Which request runs under which tag, timeouts and retries are
// block/cqe_disk.hpp. Does: enable and disable with the SDHCI side, halt around ordinary commands, one
// doorbell write and read-back per task, completion by CQTCN, coalescing, direct commands (DCMD) in slot 31,
// error reports, and the engine's half of recovery (cqhci_recovery.cpp). Does not: crypto, single task clear
// (CQTCLR), priorities, context ids.
//
// Register traffic: a task costs CQTDBR write, CQTDBR read. An interrupt costs INT_STATUS read and write,
// CQIS read and write, (CQIC write when coalescing,) CQTCN read and write, INT_STATUS read. Tags are bits of
// 32-bit masks. The interrupt handler is the only one to set bits of `completed_`.
#pragma once

#include "firmware/drivers/cqhci_tables.hpp"
#include "firmware/drivers/sdhci.hpp"

namespace fw {

struct CqhciConfig {
  std::uint32_t tags = 32;  ///< data tags: the device's depth, at most 31 with dcmd
  bool dcmd = false;
  std::uint32_t rca = 1;
  std::uint32_t idle_timer = 0;        ///< CQSSC1.CIT in timer clocks; 0: left at its reset value
  std::uint32_t coalesce_count = 0;    ///< 0: every task interrupts
  std::uint32_t coalesce_timeout = 1;  ///< in 1024 timer clocks
  bool split_128m = true;
  CqShape shape;
  CqTables::Place place;
};

/// What the engine said when it stopped.
struct CqError {
  std::uint32_t int_status = 0;  ///< SDHCI interrupt status
  std::uint32_t events = 0;      ///< CQIS
  std::uint32_t info = 0;        ///< CQTERRI
  std::uint32_t tasks = 0;       ///< bit per task named by CQTERRI or CQTDPE; 0: none
  MmcError error = MmcError::none;
};

class Cqhci final : public CqeHandler {
 public:
  /// True when the host has an engine. The host's internal clock must run: without it the registers read 0.
  bool probe(Sdhci& host);
  /// Takes the tables in use. False when they are out of the shape's reach.
  bool init(const CqhciConfig& config);

  /// Whole set-up and start; the card is in queue mode already. False when the engine does not come up.
  bool enable();
  /// Halts so that ordinary commands may be sent; no task may be outstanding. False when it does not halt.
  bool off();
  /// Goes on after off().
  bool on();

  /// Writes the descriptors of a task; returns how many transfer descriptors, 0 on a request that cannot be
  /// expressed.
  std::uint32_t put_data(unsigned tag, CqTask task, std::span<const Segment> segments);
  void put_direct(std::uint8_t index, std::uint32_t arg);
  /// Rings a tag's doorbell. False when the engine is off without having been told (its registers were
  /// reset).
  bool ring(unsigned tag);

  bool has_completed() const { return completed_ != 0; }
  /// Tags that have completed since the last call, each once.
  std::uint32_t take_completed();
  /// Response argument of the direct command that has completed.
  std::uint32_t direct_response() const;
  bool failed() const { return failed_; }
  const CqError& error() const { return error_; }
  /// Doorbells and notifications still up, for a report: CQTDBR in the upper half, CQTCN in the lower.
  std::uint64_t snapshot() const;
  std::uint32_t spurious() const { return spurious_; }  ///< notifications for tags that were not out

  // recovery, in this order (cqhci_recovery.cpp)
  /// Halts a running engine, waiting for the task on the lines; picks up what completed till then. False when
  /// it does not halt.
  bool halt_for_recovery();
  /// Clears all tasks, sets everything up again and drops notifications of cleared tasks; stays off.
  bool clear();
  /// Starts again with no task.
  bool restart();

  void cqe_irq(std::uint32_t status) override;

 private:
  std::uint32_t read(std::uint32_t o) const;
  void write(std::uint32_t o, std::uint32_t v);
  void set_interrupts(std::uint32_t events);
  bool configure();
  bool unhalt();
  bool wait_halted(std::uint64_t limit_ns);
  bool clear_tasks();
  void take_notifications();
  void note_error(std::uint32_t status, std::uint32_t events);

  std::uint64_t base_ = 0;
  Sdhci* host_ = nullptr;
  CqhciConfig config_;
  CqTables tables_;
  std::uint32_t rung_ = 0;  ///< tags out, until take_completed or clear
  std::uint32_t completed_ = 0;
  std::uint32_t spurious_ = 0;
  bool failed_ = false, halted_ = false;
  CqError error_;
};

}  // namespace fw
