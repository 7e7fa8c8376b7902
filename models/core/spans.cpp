#include "models/core/spans.hpp"

#include <algorithm>

namespace vp {
namespace {

constexpr std::array<std::string_view, kSpanCount> kNames = {"queue_wait",
                                                             "driver_submit",
                                                             "mmio",
                                                             "descriptor_fetch",
                                                             "command",
                                                             "queue_poll_wait",
                                                             "device_firmware",
                                                             "device_map",
                                                             "nand_array",
                                                             "nand_channel",
                                                             "device_buffer",
                                                             "wire",
                                                             "clock_stop_fifo_full",
                                                             "axi_write",
                                                             "axi_read",
                                                             "busy",
                                                             "interrupt_latency",
                                                             "driver_complete"};

}  // namespace

std::string_view to_string(Span span) { return kNames[static_cast<std::size_t>(span)]; }

void SpanRecorder::charge(Timeline& t, Span span, sc_time end) {
  if (end <= t.cursor) return;
  t.record.times[span] += (end - t.cursor).value();
  t.cursor = end;
}

void SpanRecorder::request_begin(std::uint32_t id, sc_time now, bool is_write, std::uint64_t lba,
                                 std::uint32_t bytes) {
  Timeline& t = open_[id];
  t.record = {id, next_serial_++, is_write, lba, bytes, now, now, {}};
  t.cursor = now;
  t.phase = Phase::queued;
  t.graph.close();
  if (begun_) begun_(t.record);
}

void SpanRecorder::request_issue(std::uint32_t id, unsigned tag, sc_time now) {
  const auto it = open_.find(id);
  if (it == open_.end() || tag >= tagged_.size()) return;
  Timeline& t = it->second;
  charge(t, t.phase == Phase::queued ? Span::queue_wait : Span::driver_complete, now);
  t.phase = Phase::submitting;
  if (tagged_[t.tag] == &t) tagged_[t.tag] = nullptr;  // sent again under another tag
  t.tag = tag;
  tagged_[tag] = &t;
  if (std::find(on_cpu_.begin(), on_cpu_.end(), &t) == on_cpu_.end()) on_cpu_.push_back(&t);
}

void SpanRecorder::request_end(std::uint32_t id, sc_time now) {
  const auto it = open_.find(id);
  if (it == open_.end()) return;
  Timeline& t = it->second;
  charge(t, Span::driver_complete, now);
  t.record.end = now;
  on_cpu_.erase(std::remove(on_cpu_.begin(), on_cpu_.end(), &t), on_cpu_.end());
  if (tagged_[t.tag] == &t) tagged_[t.tag] = nullptr;
  if (done_) done_(t.record);
  open_.erase(it);
}

void SpanRecorder::cpu_charge(Span span, sc_time end) {
  for (Timeline* t : on_cpu_) {
    if (t->phase == Phase::waiting_for_cpu) continue;
    const bool completing = t->phase == Phase::completing;
    charge(*t, span == Span::driver_submit && completing ? Span::driver_complete : span, end);
  }
}

void SpanRecorder::cpu_slept(sc_time end) {
  for (Timeline* t : on_cpu_)
    if (t->phase == Phase::completing) charge(*t, Span::busy, end);
}

void SpanRecorder::irq_taken(sc_time now) {
  for (Timeline* t : on_cpu_) {
    if (t->phase != Phase::waiting_for_cpu) continue;
    charge(*t, Span::interrupt_latency, now);
    t->phase = t->more ? Phase::submitting : Phase::completing;
  }
}

SpanRecorder::Timeline* SpanRecorder::by_tag(unsigned tag) {
  return tag < tagged_.size() ? tagged_[tag] : nullptr;
}

CauseGraph* SpanRecorder::hardware_begin(unsigned tag, sc_time now) {
  Timeline* t = by_tag(tag);
  if (!t) return nullptr;
  charge(*t, Span::mmio, now);
  t->phase = Phase::hardware;
  t->graph.restart(t->cursor);
  on_cpu_.erase(std::remove(on_cpu_.begin(), on_cpu_.end(), t), on_cpu_.end());
  return &t->graph;
}

CauseGraph* SpanRecorder::graph(unsigned tag) {
  Timeline* t = by_tag(tag);
  return t && t->phase == Phase::hardware ? &t->graph : nullptr;
}

void SpanRecorder::hardware_end(unsigned tag, NodeId last, bool more) {
  Timeline* t = by_tag(tag);
  if (!t || t->phase != Phase::hardware) return;
  t->graph.settle(last, t->record.times);
  t->cursor = t->graph.end(last);
  t->phase = Phase::waiting_for_cpu;
  t->more = more;
  t->graph.close();
  on_cpu_.push_back(t);
}

}  // namespace vp
