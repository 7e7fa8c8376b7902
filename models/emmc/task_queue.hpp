// The device's task queue (JESD84-B51 6.6.39): tasks that CMD44 and CMD45 queue, the device prepares in its own
// time, QSR shows when ready and CMD46 or CMD47 executes.
//
//   empty -> queued (CMD45 accepted) -> prepared (the device works on it; its QSR bit from `ready` on)
//         -> executing (CMD46, CMD47) -> ending (all data moved; until the last end bit or the end of busy) -> empty
//
// A read is ready when its first data are in the device's buffer, so reads become ready out of order; a write when the
// device can take its data. At most `emmc.queue_parallel` tasks are prepared, executing or ending together; the others
// wait, high priority first, then by arrival. Readiness is a time computed when a task is prepared: no events.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "models/core/spans.hpp"
#include "models/nand/ftl.hpp"

namespace vp {

struct QueueTask {
  enum class State : std::uint8_t { empty, queued, prepared, executing, ending } state = State::empty;
  bool write = false, high_priority = false;
  bool through = false;  ///< reliable write or forced programming
  std::uint32_t blocks = 0;
  unsigned partition = 0;
  std::uint64_t lba = 0;
  std::uint64_t order = 0;  ///< of arrival
  sc_time queued_at;        ///< CMD45's end bit
  sc_time ends_at;          ///< while ending
  BlockReady ready;         ///< from `prepared` on
  /// The device's own causes, from CMD45 on: the host's graph may be gone when a waiting task is taken up. The host
  /// gets them when it asks or executes; the nodes of `ready` and `read` are then in its graph.
  CauseGraph causes;
  bool handed_over = false;
  NodeId cmd45 = kRootNode;  ///< in the host's graph
  ReadPlan read;
  WritePlan write_plan;
};

struct QueueCounters {
  std::uint64_t queued = 0, executed = 0, discarded = 0;
  std::uint64_t stopped = 0;  ///< executions that ended early: CMD12, deselection, an uncorrectable page
  std::uint64_t most = 0;     ///< tasks in the queue at once
  std::uint64_t prepared = 0;
  std::uint64_t ready_ps = 0;  ///< sum over prepared tasks of queued -> ready
};

class TaskQueue {
 public:
  static constexpr unsigned kMaxTasks = 32;

  QueueTask& operator[](unsigned id) { return tasks_[id]; }
  const QueueTask& operator[](unsigned id) const { return tasks_[id]; }
  bool empty() const { return used_ == 0; }
  unsigned used() const { return used_; }

  /// CMD44's argument, until its CMD45.
  std::optional<std::uint32_t> parameters;

  QueueTask& add(unsigned id, sc_time at) {
    QueueTask& t = tasks_[id];
    t.state = QueueTask::State::queued;
    t.order = next_order_++;
    t.queued_at = at;
    t.causes.restart(at);
    t.handed_over = false;
    counters.most = std::max<std::uint64_t>(counters.most, ++used_);
    ++counters.queued;
    return t;
  }
  void remove(QueueTask& t) {
    if (t.state == QueueTask::State::empty) return;
    t.state = QueueTask::State::empty;
    --used_;
  }
  /// Tasks that take one of the device's places.
  unsigned working() const {
    return static_cast<unsigned>(std::count_if(tasks_.begin(), tasks_.end(), [](const QueueTask& t) {
      return t.state != QueueTask::State::empty && t.state != QueueTask::State::queued;
    }));
  }
  /// The task to prepare next, or null: high priority before simple, then by arrival.
  QueueTask* next() {
    QueueTask* best = nullptr;
    for (QueueTask& t : tasks_) {
      if (t.state != QueueTask::State::queued) continue;
      const bool before =
          !best || (t.high_priority != best->high_priority ? t.high_priority : t.order < best->order);
      if (before) best = &t;
    }
    return best;
  }
  /// Queue status register at an instant not before the last change.
  std::uint32_t status(sc_time at) const {
    std::uint32_t bits = 0;
    for (unsigned i = 0; i < kMaxTasks; ++i)
      if (tasks_[i].state == QueueTask::State::prepared && tasks_[i].ready.at <= at) bits |= 1U << i;
    return bits;
  }

  QueueCounters counters;

 private:
  std::array<QueueTask, kMaxTasks> tasks_;
  unsigned used_ = 0;
  std::uint64_t next_order_ = 0;
};

}  // namespace vp
