// Back end with the device's task queue and no engine in the host (JESD84-B51 6.6.39): this driver sends every command
// itself, from the interrupt of the one before it, also while the data of another task move.
//
//   per request: CMD44, CMD45, CMD13 with QSR until the task shows as ready, CMD46 or CMD47 with its data.
//   CMD line, in this order: CMD45 after its CMD44; CMD46/47 when DAT is free and a task is known ready; CMD44; CMD13.
//   QSR is read when tasks are queued and none is known ready: once after a CMD45, once after data have started, once
//   after they have ended, and while DAT is idle again every poll_ns. Among ready tasks the oldest goes first.
//
// One interrupt per command, one more per transfer. The memory of a request is mapped while the device prepares it. No
// CMD13 after a write: Transfer Complete comes after its busy. A flush waits for an empty queue and runs as CMD6 in queue
// mode. Errors and timeouts (swq_recovery.cpp): queue emptied, queue mode left, the culprit retried without the queue,
// then the others queued again; each request is completed once. Not done: priorities, reliable writes, single CMD48.
#pragma once

#include <array>

#include "firmware/block/mmc_disk.hpp"
#include "firmware/block/ring.hpp"

namespace fw {

struct SwqDiskConfig {
  std::uint32_t depth = 32;  ///< tasks at once, 1 to 32
  std::uint32_t max_seg_bytes = 65536;
  std::uint32_t poll_ns = 10'000;
  std::uint32_t request_timeout_ms = 10'000;
};

class SwqDisk final : public BlockBackend, private CommandListener {
 public:
  /// `host` can run commands beside data and tells listeners. `legacy` does flushes and retries.
  void init(MmcHost& host, Card& card, MmcDisk& legacy, const SwqDiskConfig& config);
  /// Switches the card to queue mode. False when it refuses.
  bool start() { return enter(); }
  /// Leaves queue mode; nothing may be in flight.
  bool stop() { return leave(lost_); }

  unsigned max_in_flight() const override { return legacy_request_ ? 0 : config_.depth; }
  std::uint32_t tag(const Request& r) const override;
  bool maps_itself() const override { return true; }
  void issue(Request& r) override;
  void service() override;
  Request* take_finished() override;
  bool pending() const override;
  std::uint64_t deadline_ns() const override;

  std::uint32_t recoveries() const { return recoveries_; }

 private:
  static constexpr unsigned kSlots = 32, kNone = 32;
  /// `ended` until the caller takes it: a tag that was announced must not change hands in an interrupt.
  enum class Stage : std::uint8_t { empty, waiting, queued, ready, executing, ended };
  enum class Line : std::uint8_t { free, params, address, status, execute };
  struct Slot {
    Request* request = nullptr;
    Stage stage = Stage::empty;
    bool mapped = false;
    std::uint64_t order = 0;
    std::uint64_t deadline_ns = 0;
  };
  struct Ended {
    Request* request = nullptr;
    unsigned tag = kNone;
  };

  // CommandListener
  void command_answered(MmcCommand& c) override;
  void command_ended(MmcCommand& c) override;

  void pump();
  bool send_next();
  void send(Line what, unsigned tag, std::uint8_t index, std::uint32_t arg);
  void execute(unsigned tag);
  bool wants_status() const;
  bool status_timer_runs() const;
  unsigned oldest(Stage stage) const;
  bool any(Stage stage) const { return oldest(stage) != kNone; }
  bool empty() const { return live_ == 0; }
  std::uint32_t live() const;
  void arm(Slot& s);
  void params_answered();
  void tasks_ready(std::uint32_t status);
  void end(unsigned tag, MmcError error);
  void fail(unsigned tag, MmcError error);

  // flushes, and recovery (swq_recovery.cpp)
  void serve_legacy();
  void start_legacy();
  void legacy_ended();
  bool past_deadline();
  bool enter();
  bool leave(bool discard);
  void recover();
  void queue_again();
  void end_all(MmcError culprit_error);

  MmcHost* host_ = nullptr;
  Card* card_ = nullptr;
  MmcDisk* legacy_ = nullptr;
  SwqDiskConfig config_;
  std::array<Slot, kSlots> slots_{};
  std::uint32_t all_ = 0, free_ = 0;
  unsigned live_ = 0;  ///< requests under a tag that have not ended
  std::uint64_t next_order_ = 0;
  std::uint64_t next_deadline_ns_ = 0;  ///< not after any queued slot's
  Ring<Ended, kSlots + 1> finished_;

  // the lines
  Line line_ = Line::free;
  unsigned line_tag_ = kNone;
  unsigned pair_ = kNone;       ///< CMD44 is accepted, CMD45 must follow
  unsigned executing_ = kNone;  ///< has the DAT line
  bool status_stale_ = false;   ///< QSR may show more than it did
  std::uint64_t status_at_ns_ = 0;
  bool pumping_ = false;
  MmcCommand command_, transfer_;  ///< without data, with data
  MmcData data_;
  std::array<Segment, kMaxSegments> segments_{};

  // errors
  bool failed_ = false;
  bool lost_ = false;  ///< the card did not follow the last recovery: nothing is sent before the next one
  bool queue_mode_ = false;  ///< CMDQ_MODE_EN as far as is known
  unsigned culprit_ = kNone;
  MmcError error_ = MmcError::none;
  Request* legacy_request_ = nullptr;  ///< a flush, or a retry
  Request* held_flush_ = nullptr;      ///< waits for a retry
  bool legacy_running_ = false, retrying_ = false;
  std::uint32_t recoveries_ = 0;
};

}  // namespace fw
