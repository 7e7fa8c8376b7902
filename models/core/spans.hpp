// Where a request's time went: named spans that do not overlap and whose sum is exactly the request's life.
//
// Software part: a cursor. Whatever the CPU does for a request charges the time since the cursor to one span.
// Hardware part: a graph of causes. A node says "this ended then, it could not start before that other node had ended";
// at completion the graph is walked back from the last node, so what overlapped is charged to the one that blocked.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <systemc>
#include <unordered_map>
#include <vector>

namespace vp {

using sc_core::sc_time;

/// In the order of the timing contract.
enum class Span : std::uint8_t {
  queue_wait,
  driver_submit,
  mmio,
  descriptor_fetch,
  command,
  queue_poll_wait,
  device_firmware,
  device_map,
  nand_array,
  nand_channel,
  device_buffer,
  wire,
  clock_stop_fifo_full,
  axi_write,
  axi_read,
  busy,
  interrupt_latency,
  driver_complete,
};
inline constexpr std::size_t kSpanCount = 18;
std::string_view to_string(Span span);

/// Time per span, in kernel time units.
struct SpanTimes {
  std::array<std::uint64_t, kSpanCount> ps{};
  std::uint64_t& operator[](Span s) { return ps[static_cast<std::size_t>(s)]; }
  std::uint64_t operator[](Span s) const { return ps[static_cast<std::size_t>(s)]; }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (auto v : ps) sum += v;
    return sum;
  }
};

using NodeId = std::uint32_t;
inline constexpr NodeId kRootNode = 0;

/// The graph of causes of one request while hardware owns it. Node 0 is the instant hardware took over.
class CauseGraph {
 public:
  void restart(sc_time at) {
    nodes_.clear();
    nodes_.push_back({at, kRootNode, Span::command});
  }
  /// Adds "from the end of `after` until `end`, the request waited for `what`". An `end` before `after`'s end is
  /// taken as equal to it.
  NodeId add(NodeId after, Span what, sc_time end) {
    if (nodes_.empty()) return kRootNode;
    if (end < nodes_[after].end) end = nodes_[after].end;
    nodes_.push_back({end, after, what});
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  /// Lets a node last until `end`: cheaper than a new node when nothing else starts from the old end.
  void extend(NodeId node, sc_time end) {
    if (node < nodes_.size() && end > nodes_[node].end) nodes_[node].end = end;
  }
  sc_time end(NodeId node) const { return node < nodes_.size() ? nodes_[node].end : sc_time(); }
  /// The one that ends later; the first on a tie.
  NodeId later(NodeId a, NodeId b) const { return end(b) > end(a) ? b : a; }
  /// Charges the way back from `last` to the root.
  void settle(NodeId last, SpanTimes& times) const {
    for (NodeId n = last; n != kRootNode && n < nodes_.size(); n = nodes_[n].after)
      times[nodes_[n].what] += (nodes_[n].end - nodes_[nodes_[n].after].end).value();
  }
  bool open() const { return !nodes_.empty(); }
  void close() { nodes_.clear(); }

 private:
  struct Node {
    sc_time end;
    NodeId after;
    Span what;
  };
  std::vector<Node> nodes_;
};

/// One block request in flight, from its entry into the request queue to its completion.
struct RequestRecord {
  std::uint32_t id = 0;      ///< unique while in flight
  std::uint64_t serial = 0;  ///< counts from 0 over the run
  bool is_write = false;
  std::uint64_t lba = 0;  ///< 512-byte blocks
  std::uint32_t bytes = 0;
  sc_time begin, end;
  SpanTimes times;
};

/// Follows every request in flight. The CPU core reports firmware events and CPU time; host controllers report
/// hardware phases. Requests without a timeline (card set-up) are ignored at every call.
class SpanRecorder {
 public:
  static constexpr unsigned kLegacyTag = 32;  ///< the one non-queued request; queued tasks use tags 0..31

  // --- firmware events, forwarded by the CPU core ---
  void request_begin(std::uint32_t id, sc_time now, bool is_write, std::uint64_t lba, std::uint32_t bytes);
  /// The driver starts to work on the request; it will reach the hardware under `tag`.
  void request_issue(std::uint32_t id, unsigned tag, sc_time now);
  void request_end(std::uint32_t id, sc_time now);

  // --- CPU time, reported at the end of each piece of work ---
  void cpu_work(sc_time end) { cpu_charge(Span::driver_submit, end); }
  void cpu_mmio(sc_time end) { cpu_charge(Span::mmio, end); }
  /// The core slept until `end`. With a request whose data have moved it slept for the card: the driver's next look at a
  /// card that programs (hosts without a busy interrupt poll it with CMD13).
  void cpu_slept(sc_time end);
  /// An interrupt handler's first instruction.
  void irq_taken(sc_time now);

  // --- hardware phases, reported by host controllers ---
  /// The hardware takes the request over at `now` (its command or doorbell write). Returns its graph, or null.
  CauseGraph* hardware_begin(unsigned tag, sc_time now);
  /// The graph while the hardware owns the request, or null.
  CauseGraph* graph(unsigned tag);
  /// The hardware is done: `last` is the node whose end is the completion interrupt. `more`: the driver has further
  /// commands to send for the request, so what it does after the interrupt is submission, not completion.
  void hardware_end(unsigned tag, NodeId last, bool more = false);

  using Sink = std::function<void(const RequestRecord&)>;
  void on_request_done(Sink sink) { done_ = std::move(sink); }
  void on_request_begin(Sink sink) { begun_ = std::move(sink); }
  std::uint64_t requests_begun() const { return next_serial_; }

 private:
  enum class Phase : std::uint8_t { queued, submitting, hardware, waiting_for_cpu, completing };
  struct Timeline {
    RequestRecord record;
    sc_time cursor;
    Phase phase = Phase::queued;
    unsigned tag = kLegacyTag;
    bool more = false;
    CauseGraph graph;
  };

  void charge(Timeline& t, Span span, sc_time end);
  void cpu_charge(Span span, sc_time end);
  Timeline* by_tag(unsigned tag);

  std::unordered_map<std::uint32_t, Timeline> open_;  // looked up by id only, never iterated
  std::array<Timeline*, kLegacyTag + 1> tagged_{};
  std::vector<Timeline*> on_cpu_;  // submitting or completing, in order of arrival
  std::uint64_t next_serial_ = 0;
  Sink done_, begun_;
};

}  // namespace vp
