// Inside of the AXI master port: what its two timing styles share. Only master_port*.cpp include this.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "models/axi/master_port.hpp"
#include "models/axi/ring.hpp"

namespace vp::axi_port {

constexpr std::uint64_t kNever = ~std::uint64_t{0};

inline sc_time at_ps(std::uint64_t ps) { return from_ps(ps); }
inline std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

}  // namespace vp::axi_port

namespace vp {

using axi_port::at_ps;
using axi_port::kNever;
using axi_port::now_ps;

struct AxiMasterPort::Impl final : tlm::tlm_mm_interface {
  /// One direction: what is queued, where the channels stand, what they waited for.
  struct Direction {
    bool is_write = false;
    std::uint64_t limit = 1;
    Ring<Transfer*> queue;
    std::uint32_t offset = 0;      // bytes of the front transfer already issued
    std::uint64_t ready_ps = 0;    // the front burst could go from here, limits aside
    std::uint64_t next_issue = 0;  // address channel free
    bool waiting_grant = false;
    std::uint64_t bursts = 0;            // issued so far
    std::vector<std::uint64_t> done_of;  // done of the last `limit` bursts, in a circle
    std::size_t slot = 0;                // the next burst's place in it
    std::uint64_t channel_free = 0;      // W or R channel
    std::uint64_t prev_done = 0;
    Ring<std::pair<std::uint64_t, Transfer*>> lefts, dones;
    std::uint64_t lt_from = 0;    // start of the last unbroken stretch of lt bursts
    std::uint64_t tail = kNever;  // lt: what a burst's life has beyond its own beats on the channel

    std::uint64_t limited_until() const { return done_of[slot]; }
    std::size_t take_slot() {
      const std::size_t taken = slot;
      slot = slot + 1 == limit ? 0 : slot + 1;
      return taken;
    }
    // statistics, in ps where they are times
    std::uint64_t beats = 0, bytes = 0, wait_grant = 0, limited = 0, wait_first = 0, back_pressure = 0,
                  wait_b = 0;
    // waveforms only
    struct Live {
      std::uint64_t first, left, done;
    };
    Ring<Live> live;
    std::uint64_t outstanding = 0;
    SignalId trace_outstanding = 0;
  };
  struct Transaction : tlm::tlm_generic_payload {
    AxiExtension axi;
    Transfer* transfer = nullptr;
    std::uint64_t number = 0;  // burst number in its direction
    std::size_t slot = 0;      // its place in done_of
    std::uint64_t issued = 0;
    std::uint64_t epoch = 0;
    bool last = false;
  };

  AxiMasterPort& port;
  Context& ctx;
  ClockDomain& clock;
  AxiMasterParams params;
  BurstSet allowed;
  Client* client = nullptr;
  std::uint32_t beat_bytes;
  std::uint64_t address_mask;
  std::array<Direction, 2> directions;  // 0 read, 1 write
  std::vector<std::unique_ptr<Transaction>> all;
  std::vector<Transaction*> pool;
  std::vector<std::uint64_t> gap_done;
  std::uint64_t epoch = 0;
  std::uint64_t unresolved = 0;
  std::uint64_t busy_start = 0, busy_until = 0, busy_closed = 0;
  AxiLtMemory small;  // lt: where the last small access lay
  mutable AxiCounters counters;
  sc_core::sc_event wake;
  std::uint64_t wake_ps = kNever;
  bool stepping = false;
  SignalId trace_stall;

  Impl(AxiMasterPort& p, Context& c, ClockDomain& k, const AxiMasterParams& q)
      : port(p), ctx(c), clock(k), params(q), beat_bytes(static_cast<std::uint32_t>(q.data_width_bits / 8)) {
    const auto w = q.data_width_bits;
    if (w != 32 && w != 64 && w != 128 && w != 256)
      throw InputError(std::string(p.name()) + ".data_width_bits must be 32, 64, 128 or 256");
    if (q.max_burst_beats < 1 || q.max_burst_beats > kAxiMaxBeats || !q.outstanding_reads ||
        !q.outstanding_writes)
      throw InputError(std::string(p.name()) +
                       ": max_burst_beats is 1 to 256, outstanding limits at least 1");
    address_mask = q.address_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << q.address_bits) - 1;
    directions[1].is_write = true;
    directions[0].limit = q.outstanding_reads;
    directions[1].limit = q.outstanding_writes;
    for (Direction& d : directions) d.done_of.assign(d.limit, 0);
    const std::string at = p.name();
    directions[0].trace_outstanding = c.trace.add_vector(at + ".reads_outstanding", 9);
    directions[1].trace_outstanding = c.trace.add_vector(at + ".writes_outstanding", 9);
    trace_stall = c.trace.add_state(at + ".stall", "none");
  }
  ~Impl() override {
    for (auto& t : all) t->clear_extension(&t->axi);
  }

  std::uint64_t period() const { return clock.period().value(); }
  std::uint64_t align(std::uint64_t ps) const { return clock.align(at_ps(ps)).value(); }

  // --- pool ---
  Transaction& take() {
    if (pool.empty()) {
      all.push_back(std::make_unique<Transaction>());
      all.back()->set_mm(this);
      all.back()->set_extension(&all.back()->axi);
      pool.push_back(all.back().get());
    }
    Transaction& t = *pool.back();
    pool.pop_back();
    t.acquire();
    return t;
  }
  void free(tlm::tlm_generic_payload* t) override { pool.push_back(static_cast<Transaction*>(t)); }

  void wake_at(std::uint64_t ps) {
    if (stepping || ps >= wake_ps) return;
    wake_ps = ps;
    const std::uint64_t now = now_ps();
    wake.notify(ps > now ? at_ps(ps - now) : sc_core::SC_ZERO_TIME);
  }

  std::uint64_t bus_address(std::uint64_t address, std::uint32_t bytes) {
    if (((address + bytes - 1) & ~address_mask) == 0) return address;
    ctx.finding("axi.address_truncated", port.name(), {address, address & address_mask},
                "address needs more bits than the master drives");
    return address & address_mask;
  }

  // --- what both styles share ---
  void open_busy(std::uint64_t issued) {
    if (unresolved > 0 || issued <= busy_until) return;
    busy_closed += busy_until - busy_start;
    busy_start = busy_until = issued;
  }

  /// Settles channels, order and counters of a burst whose times are known; `done_ps` becomes the in-order
  /// end and `last_ps` of a write the instant its last beat left the master.
  void resolve(Direction& d, AxiBurstTiming& b, std::size_t slot) {
    const std::uint64_t data = b.beats * period();
    d.wait_grant += b.granted_ps - b.issued_ps;
    if (d.is_write) {
      const std::uint64_t ideal = std::max(b.granted_ps, d.channel_free) + data;
      const std::uint64_t left = std::max(b.last_ps - std::min(b.path_ps, b.last_ps), ideal);
      d.back_pressure += left - ideal;
      d.channel_free = b.last_ps = left;
      b.done_ps = std::max({b.done_ps, d.prev_done, left});
      d.wait_b += b.done_ps - std::max(left, d.prev_done);
    } else {
      b.done_ps = std::max(b.done_ps, d.channel_free + data);
      const std::uint64_t first = std::max(b.first_ps + b.path_ps, d.channel_free);
      b.first_ps = std::min(first, b.done_ps - data);
      const std::uint64_t from = std::max(b.granted_ps, d.channel_free);
      if (b.first_ps > from) d.wait_first += b.first_ps - from;
      d.channel_free = b.done_ps;
    }
    d.prev_done = b.done_ps;
    d.done_of[slot] = b.done_ps;
    busy_until = std::max(busy_until, b.done_ps);
  }

  // --- at style ---
  std::uint64_t issue_time(const Direction& d) const {
    if (d.queue.empty() || d.waiting_grant) return kNever;
    const std::uint64_t limit = d.limited_until();
    return limit == kNever ? kNever : std::max({d.ready_ps, d.next_issue, align(limit)});
  }

  void issue(Direction& d, std::uint64_t now) {
    Transfer& transfer = *d.queue.front();
    const BurstPart part = next_part(transfer, d.offset);
    d.limited += now - std::max(d.ready_ps, d.next_issue);
    Transaction& t = take();
    t.set_command(d.is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    t.set_address(part.address & address_mask);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(transfer.data + d.offset));
    t.set_data_length(part.bytes);
    t.set_streaming_width(transfer.fixed_beat_bytes ? transfer.fixed_beat_bytes : part.bytes);
    t.set_byte_enable_ptr(nullptr);
    t.set_dmi_allowed(false);
    t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    fill(t.axi, transfer.id, part.beats, transfer.fixed_beat_bytes);
    t.axi.w_free = at_ps(d.channel_free);
    t.axi.granted = at_ps(now);
    const std::uint64_t start = std::max(now, d.channel_free);
    t.axi.first_beat = at_ps(d.is_write ? start : 0);
    t.axi.last_beat = at_ps(d.is_write ? start + part.beats * period() : 0);
    t.transfer = &transfer;
    t.number = d.bursts++;
    t.issued = now;
    t.epoch = epoch;
    open_busy(now);
    count(d, part);
    t.slot = d.take_slot();
    d.done_of[t.slot] = kNever;
    ++unresolved;
    ++transfer.bursts_open;
    if (ctx.trace.on()) ctx.trace.change(d.trace_outstanding, at_ps(now), ++d.outstanding);
    advance(d, transfer, part.bytes, t);
    send(d, t, now);
    if (t.last && client && t.epoch == epoch) client->axi_issued(transfer);
    t.release();
  }

  BurstPart next_part(const Transfer& t, std::uint32_t offset) const {
    const auto max_beats = static_cast<std::uint32_t>(params.max_burst_beats);
    if (t.fixed_beat_bytes)
      return next_fixed_burst(t.address, t.bytes - offset, t.fixed_beat_bytes, max_beats);
    return next_burst(t.address + offset, t.bytes - offset, beat_bytes, max_beats, allowed);
  }
  void fill(AxiExtension& x, std::uint32_t id, std::uint32_t beats, std::uint32_t fixed_beat = 0) const {
    x.id = id;
    x.beats = beats;
    x.beat_bytes = fixed_beat ? fixed_beat : beat_bytes;
    x.burst = fixed_beat ? AxiBurst::fixed : AxiBurst::incr;
    x.qos = static_cast<std::uint8_t>(params.qos);
    x.path = sc_time();
    x.timing = nullptr;
    x.pieces = {};
  }
  void count(Direction& d, const BurstPart& part) {
    d.beats += part.beats;
    d.bytes += part.bytes;
  }
  void advance(Direction& d, Transfer& transfer, std::uint32_t bytes, Transaction& t) {
    d.offset += bytes;
    t.last = d.offset == transfer.bytes;
    if (!t.last) return;
    transfer.all_issued = true;
    d.queue.pop();
    d.offset = 0;
    if (!d.queue.empty()) announce(d, *d.queue.front());
  }
  void announce(Direction& d, Transfer& transfer) {
    d.ready_ps = std::max(d.ready_ps, transfer.from_ps);
    bus_address(transfer.address, transfer.fixed_beat_bytes ? transfer.fixed_beat_bytes : transfer.bytes);
  }

  void send(Direction& d, Transaction& t, std::uint64_t now) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay;
    d.waiting_grant = true;
    t.acquire();  // until its response
    const tlm::tlm_sync_enum answer = port.socket->nb_transport_fw(t, phase, delay);
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
      respond(d, t, now + delay.value());
      if (answer == tlm::TLM_UPDATED) {
        phase = tlm::END_RESP;
        port.socket->nb_transport_fw(t, phase, delay);
      }
      t.release();
    } else if (answer == tlm::TLM_UPDATED && phase == tlm::END_REQ) {
      grant(d, now + delay.value());
    }
  }

  void grant(Direction& d, std::uint64_t at) {
    d.waiting_grant = false;
    d.next_issue = align(at) + period();
    d.ready_ps = std::max(d.ready_ps, d.next_issue);
  }

  void respond(Direction& d, Transaction& t, std::uint64_t done) {
    AxiBurstTiming b{.address = t.get_address(),
                     .bytes = t.get_data_length(),
                     .beats = t.axi.beats,
                     .is_write = d.is_write,
                     .issued_ps = t.issued};
    b.granted_ps = std::max<std::uint64_t>(t.axi.granted.value(), t.issued);
    b.path_ps = t.axi.path.value();
    b.first_ps = t.axi.first_beat.value();
    b.last_ps = t.axi.last_beat.value();
    b.done_ps = align(done);
    if (d.waiting_grant && t.number + 1 == d.bursts) grant(d, b.granted_ps);
    resolve(d, b, t.slot);
    --unresolved;
    if (ctx.trace.on()) d.live.push({b.first_ps, d.is_write ? b.last_ps : 0, b.done_ps});
    if (t.epoch != epoch) return;
    Transfer& transfer = *t.transfer;
    --transfer.bursts_open;
    if (t.get_response_status() != tlm::TLM_OK_RESPONSE && !transfer.error) {
      transfer.error = true;
      transfer.error_address = t.get_address();
    }
    if (!t.last) return;
    transfer.left_ps = d.is_write ? b.last_ps : b.done_ps;
    transfer.done_ps = b.done_ps;
    if (d.is_write && (!transfer.quiet_left || transfer.error)) d.lefts.push({b.last_ps, &transfer});
    if (!transfer.quiet_done || transfer.error) d.dones.push({b.done_ps, &transfer});
  }

  void tell(Ring<std::pair<std::uint64_t, Transfer*>>& queue, Transfer& transfer, std::uint64_t at,
            bool& quiet) {
    const bool due = quiet && !transfer.error && at != Transfer::kUnknown && at > now_ps();
    quiet = false;
    if (!due) return;
    queue.push({at, &transfer});
    wake_at(at);
  }

  std::uint64_t next_wake(std::uint64_t now) const {
    std::uint64_t next = kNever;
    for (const Direction& d : directions) {
      next = std::min(next, issue_time(d));
      if (!d.lefts.empty()) next = std::min(next, d.lefts.front().first);
      if (!d.dones.empty()) next = std::min(next, d.dones.front().first);
      if (d.live.empty()) continue;
      for (const std::uint64_t at : {d.live.front().first, d.live.front().left, d.live.front().done})
        if (at > now) next = std::min(next, at);
    }
    return next;
  }

  void step() {
    const std::uint64_t now = now_ps();
    wake_ps = kNever;
    stepping = true;
    std::uint64_t next = now;
    for (; next <= now; next = next_wake(now)) {
      if (ctx.trace.on()) retire_live(now);
      for (Direction& d : directions) callbacks(d, now);
      for (Direction& d : directions)
        if (issue_time(d) <= now) issue(d, now);
    }
    if (ctx.trace.on()) ctx.trace.change_state(trace_stall, at_ps(now), stall(now));
    stepping = false;
    if (next != kNever) wake_at(next);
  }

  void callbacks(Direction& d, std::uint64_t now) {
    while (!d.lefts.empty() && d.lefts.front().first <= now) {
      Transfer* t = d.lefts.pop().second;
      if (client) client->axi_left(*t);
    }
    while (!d.dones.empty() && d.dones.front().first <= now) {
      Transfer* t = d.dones.pop().second;
      if (client) client->axi_done(*t);
    }
  }

  // --- waveforms ---
  void retire_live(std::uint64_t now) {
    for (Direction& d : directions)
      while (!d.live.empty() && d.live.front().done <= now) {
        d.live.pop();
        if (d.outstanding > 0) ctx.trace.change(d.trace_outstanding, at_ps(now), --d.outstanding);
      }
  }
  const char* stall(std::uint64_t now) const {
    const auto& [read, write] = directions;
    for (const Direction& d : directions)
      if (d.waiting_grant) return "no_grant";
    for (const Direction& d : directions)
      if (!d.queue.empty() && d.limited_until() > std::max(now, d.next_issue)) return "outstanding_limit";
    if (!read.live.empty() && read.live.front().first > now) return "first_beat";
    if (!write.live.empty()) {
      if (write.live.front().first > now && write.channel_free > now) return "w_back_pressure";
      if (write.channel_free <= now) return "b";
    }
    return "none";
  }

  const AxiCounters& totals() const {
    const auto in_cycles = [this](std::uint64_t ps) { return clock.cycles_in(at_ps(ps)); };
    const auto& [r, w] = directions;
    counters.read_bursts = r.bursts;
    counters.write_bursts = w.bursts;
    counters.read_beats = r.beats;
    counters.write_beats = w.beats;
    counters.read_bytes = r.bytes;
    counters.write_bytes = w.bytes;
    const std::uint64_t end = unresolved > 0 ? std::max(now_ps(), busy_until) : busy_until;
    counters.busy = in_cycles(busy_closed + end - busy_start);
    counters.wait_grant = in_cycles(r.wait_grant + w.wait_grant);
    counters.limited_outstanding = in_cycles(r.limited + w.limited);
    counters.wait_first_beat = in_cycles(r.wait_first);
    counters.w_back_pressure = in_cycles(w.back_pressure);
    counters.wait_b = in_cycles(w.wait_b);
    return counters;
  }

  // --- lt style (master_port_lt.cpp) ---
  bool move_lt(Direction& d, std::uint64_t address, std::byte* data, std::uint32_t bytes,
               std::span<LtPiece> pieces, AxiTimingTarget*& timing, sc_time& delay,
               std::uint32_t fixed_beat = 0);
  AxiLtMemory memory_lt(std::uint64_t address);
  bool run_fixed_lt(Direction& d, std::uint64_t address, std::byte* data, std::uint32_t fixed_beat,
                    LtPiece& piece);
  std::uint64_t time_lt(Direction& d, const BurstPart& part, std::uint64_t ready, AxiTimingTarget* timing,
                        std::uint64_t delay, std::uint64_t& left, unsigned bursts = 1);
  std::uint32_t streaming(const Direction& d, std::uint64_t address, std::uint32_t bytes) const;
  std::uint64_t time_stream(Direction& d, std::uint64_t address, std::uint32_t n, std::uint64_t ready,
                            AxiTimingTarget* timing, std::uint64_t delay, std::uint64_t& left);
  bool time_train(Direction& d, std::uint64_t address, std::uint32_t bytes, const AxiRhythm& rhythm,
                  std::uint64_t ready, AxiTimingTarget* timing, std::uint64_t& left, std::uint64_t& done);
  bool time_pieces(Direction& d, std::uint64_t address, const AxiRhythm& rhythm, AxiTimingTarget* timing,
                   LtPiece& piece);
  void time_piece(Direction& d, std::uint64_t address, LtPiece& piece, AxiTimingTarget* timing,
                  std::uint64_t delay);
  bool run_by_burst(Direction& d, std::uint64_t address, std::byte* data, std::span<LtPiece> pieces,
                    std::uint64_t* error_address);
  bool run_small(Direction& d, std::uint64_t address, std::byte* data, LtPiece& piece);
  bool run_in_gap(Direction& d, std::uint64_t address, std::byte* data, LtPiece& piece);
  bool run_lt(Direction& d, std::uint64_t address, std::byte* data, std::span<LtPiece> pieces,
              std::uint64_t* error_address);
};

}  // namespace vp
