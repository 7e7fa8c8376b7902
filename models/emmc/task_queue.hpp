// The device's task queue (JESD84-B51 6.6.39): tasks that CMD44 and CMD45 queue, the device prepares in its own time,
// QSR shows when ready and CMD46 or CMD47 executes.
//
//   empty -> queued (CMD45 accepted) -> prepared (the device works on it) -> ready (its QSR bit) -> executing -> empty
//
// A read is ready when its first data are in the device's buffer, so reads become ready out of order; a write is ready
// at once. At most `parallel` tasks are prepared or executing together; the others wait, high priority first, then by
// arrival. Readiness is a time computed when a task is prepared: no events.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "models/core/spans.hpp"
#include "models/nand/ftl.hpp"

namespace vp {

struct QueueTask {
  enum class State : std::uint8_t { empty, queued, prepared, executing } state = State::empty;
  bool write = false, high_priority = false, through = false;
  std::uint32_t blocks = 0;
  std::uint64_t lba = 0;
  std::uint64_t order = 0;  // of arrival
  sc_time ready_at;
  CauseGraph* graph = nullptr;  // the host's, of this task's request
  NodeId after = kRootNode;     // the end of CMD45
  ReadPlan read;
  WritePlan write_plan;
};

struct QueueCounters {
  std::uint64_t queued = 0, executed = 0, discarded = 0, most = 0;
  std::uint64_t ready_ps = 0;  ///< sum over tasks of queued -> ready
};

class TaskQueue {
 public:
  static constexpr unsigned kMaxTasks = 32;

  QueueTask& operator[](unsigned id) { return tasks_[id]; }
  bool empty() const { return used_ == 0; }
  unsigned used() const { return used_; }

  /// CMD44's argument, until its CMD45.
  std::optional<std::uint32_t> parameters;

  QueueTask& add(unsigned id) {
    QueueTask& t = tasks_[id];
    t.state = QueueTask::State::queued;
    t.order = next_order_++;
    ++used_;
    ++counters.queued;
    if (used_ > counters.most) counters.most = used_;
    return t;
  }
  void remove(QueueTask& t) {
    if (t.state == QueueTask::State::empty) return;
    t.state = QueueTask::State::empty;
    t.graph = nullptr;
    --used_;
  }
  void clear() {
    for (QueueTask& t : tasks_) remove(t);
    parameters.reset();
  }
  unsigned working() const {
    unsigned n = 0;
    for (const QueueTask& t : tasks_)
      n += t.state == QueueTask::State::prepared || t.state == QueueTask::State::executing;
    return n;
  }
  /// The task to prepare next: high priority before simple, then by arrival.
  QueueTask* next() {
    QueueTask* best = nullptr;
    for (QueueTask& t : tasks_) {
      if (t.state != QueueTask::State::queued) continue;
      const bool before = !best || (t.high_priority != best->high_priority ? t.high_priority : t.order < best->order);
      if (before) best = &t;
    }
    return best;
  }
  /// Queue status register at an instant.
  std::uint32_t status(sc_time now) const {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < kMaxTasks; ++i)
      if (tasks_[i].state == QueueTask::State::prepared && tasks_[i].ready_at <= now) bits |= 1u << i;
    return bits;
  }

  QueueCounters counters;

 private:
  std::array<QueueTask, kMaxTasks> tasks_;
  unsigned used_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace vp
