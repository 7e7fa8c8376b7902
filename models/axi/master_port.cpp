// Closed-form timing. A = AXI period, h = hops of the path (interconnect hop_cycles + register slices), t =
// the edge at which a burst's address is issued, n = its beats, N = the outstanding limit of its direction.
//   write: AW and W together. W starts at s = max(grant, W channel free); left = s + n A unless
//   back-pressured;
//          last beat at the target = left + h A; B leaves after the target's accept latency; done = that + h
//          A.
//   read:  AR at the target = t + h A; first beat after the target's latency L; done = t + (2 h + n) A + L,
//   and not
//          before the previous read's end + n A (the R channel carries one burst at a time).
//   issue: t(k) = max(ready, grant(k-1) + A, done(k-N)), per direction; completion is in order per direction.
// Counters are unions of intervals per direction, in A: wait_first_beat counts only while the R channel is
// idle; wait_b counts from a burst's last W beat, or the previous B when later, to its B. `at` and `lt` share
// resolve(): `at` learns a burst's times from the base protocol (TLM_COMPLETED or BEGIN_RESP with annotated
// delay), `lt` from the AxiTimingTarget that the b_transport handed back.
#include "models/axi/master_port.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "models/axi/ring.hpp"

namespace vp {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kMaxOutstanding = 256;  // choice: more than any eMMC host integrates

sc_time at_ps(std::uint64_t ps) { return from_ps(ps); }
std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }

}  // namespace

void AxiMasterParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".data_width_bits", data_width_bits, "bits", 32, 256, "AXI data width: 32, 64, 128 or 256");
  r.add(at + ".max_burst_beats", max_burst_beats, "beats", 1, kAxiMaxBeats,
        "longest burst issued (AxLEN + 1)");
  r.add(at + ".outstanding_reads", outstanding_reads, "bursts", 1, kMaxOutstanding,
        "unfinished read bursts allowed");
  r.add(at + ".outstanding_writes", outstanding_writes, "bursts", 1, kMaxOutstanding,
        "unfinished write bursts allowed");
  r.add(at + ".qos", qos, "", 0, 15, "AxQOS, higher goes first when the interconnect arbitrates by qos");
  r.add(at + ".address_bits", address_bits, "bits", 16, 64, "address bits driven; those above are lost");
}

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
    std::uint64_t lt_from = 0;  // start of the last unbroken stretch of lt bursts
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
    const BurstPart part = next_burst(transfer.address + d.offset, transfer.bytes - d.offset, beat_bytes,
                                      static_cast<std::uint32_t>(params.max_burst_beats), allowed);
    d.limited += now - std::max(d.ready_ps, d.next_issue);
    Transaction& t = take();
    t.set_command(d.is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    t.set_address(part.address & address_mask);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(transfer.data + d.offset));
    t.set_data_length(part.bytes);
    t.set_streaming_width(part.bytes);
    t.set_byte_enable_ptr(nullptr);
    t.set_dmi_allowed(false);
    t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    fill(t.axi, transfer.id, part.beats);
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

  void fill(AxiExtension& x, std::uint32_t id, std::uint32_t beats) const {
    x.id = id;
    x.beats = beats;
    x.beat_bytes = beat_bytes;
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
  void announce(Direction&, Transfer& transfer) { bus_address(transfer.address, transfer.bytes); }

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
    if (d.is_write) d.lefts.push({b.last_ps, &transfer});
    d.dones.push({b.done_ps, &transfer});
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

  // --- lt style ---
  bool move_lt(Direction& d, std::uint64_t address, std::byte* data, std::uint32_t bytes,
               std::span<LtPiece> pieces, AxiTimingTarget*& timing, sc_time& delay) {
    Transaction& t = take();
    t.set_command(d.is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    t.set_address(address & address_mask);
    t.set_data_ptr(reinterpret_cast<unsigned char*>(data));
    t.set_data_length(bytes);
    t.set_streaming_width(bytes);
    t.set_byte_enable_ptr(nullptr);
    t.set_dmi_allowed(false);
    t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    fill(t.axi, 0, static_cast<std::uint32_t>((bytes + beat_bytes - 1) / beat_bytes));
    t.axi.pieces = pieces;
    port.socket->b_transport(t, delay);
    timing = t.axi.timing;
    t.axi.pieces = {};
    const bool good = t.get_response_status() == tlm::TLM_OK_RESPONSE;
    t.release();
    return good;
  }

  /// One burst by reservation; returns the end, `left` the instant its last W beat left.
  std::uint64_t time_lt(Direction& d, const BurstPart& part, std::uint64_t ready, AxiTimingTarget* timing,
                        std::uint64_t delay, std::uint64_t& left) {
    const std::uint64_t free = std::max(ready, d.next_issue);
    const std::uint64_t issued = std::max(free, d.limited_until());
    AxiBurstTiming b{.address = part.address & address_mask,
                     .bytes = part.bytes,
                     .beats = part.beats,
                     .is_write = d.is_write,
                     .issued_ps = issued,
                     .w_free_ps = d.channel_free};
    b.granted_ps = issued;
    const std::uint64_t start = std::max(issued, d.channel_free);
    b.first_ps = d.is_write ? start : 0;
    b.last_ps = d.is_write ? start + part.beats * period() : 0;
    if (timing) {
      timing->time_burst(b);
    } else {  // a target that knows no bursts: its annotated delay is the latency
      b.first_ps = d.is_write ? b.first_ps : issued + delay;
      b.done_ps =
          align((d.is_write ? b.last_ps : b.first_ps + part.beats * period()) + (d.is_write ? delay : 0));
    }
    d.limited += issued - free;
    open_busy(issued);
    count(d, part);
    ++d.bursts;
    resolve(d, b, d.take_slot());
    d.next_issue = b.granted_ps + period();
    left = d.is_write ? b.last_ps : b.done_ps;
    d.tail = b.done_ps - (d.is_write ? left : issued + part.beats * period());
    return b.done_ps;
  }

  /// How many full bursts of `piece` from `offset` on follow each other without a gap: the channel is the limit, not the
  /// outstanding bursts, so that their ends stand one burst time apart. 1: look at them one by one.
  std::uint32_t streaming(const Direction& d, std::uint64_t address, std::uint32_t bytes) const {
    const std::uint32_t burst_bytes = static_cast<std::uint32_t>(params.max_burst_beats) * beat_bytes;
    if (!allowed.undefined || d.tail == kNever || ctx.trace.on() || address % beat_bytes != 0) return 1;
    const std::uint64_t to_4k = 4096 - address % 4096;
    const std::uint64_t n = std::min<std::uint64_t>(bytes, to_4k) / burst_bytes;
    const bool held_up = d.tail > (d.limit - 1) * params.max_burst_beats * period();
    return n > d.limit || held_up ? 1 : static_cast<std::uint32_t>(std::max<std::uint64_t>(n, 1));
  }

  /// `n` streaming bursts timed as one and booked as n.
  std::uint64_t time_stream(Direction& d, std::uint64_t address, std::uint32_t n, std::uint64_t ready,
                            AxiTimingTarget* timing, std::uint64_t delay, std::uint64_t& left) {
    const auto beats = static_cast<std::uint32_t>(params.max_burst_beats);
    const std::uint64_t one = beats * period(), tail = d.tail;
    const std::uint64_t done =
        time_lt(d, {address, n * beats * beat_bytes, n * beats}, ready, timing, delay, left);
    for (std::uint32_t i = 1; i < n; ++i) d.done_of[d.take_slot()] = done - one * (n - 1 - i);
    d.done_of[(d.slot + d.limit - n) % d.limit] = done - one * (n - 1);
    d.bursts += n - 1;
    d.next_issue += (n - 1) * period();
    if (d.is_write) d.wait_b += (n - 1) * std::min(tail, one);
    return done;
  }

  void time_piece(Direction& d, std::uint64_t address, LtPiece& piece, AxiTimingTarget* timing,
                  std::uint64_t delay) {
    const std::uint64_t ready = align(piece.ready.value());
    if (ready > d.prev_done) d.lt_from = ready;
    const auto max_beats = static_cast<std::uint32_t>(params.max_burst_beats);
    std::uint64_t left = ready, done = ready;
    for (std::uint32_t offset = 0; offset < piece.bytes;) {
      const std::uint32_t n = timing ? streaming(d, address + offset, piece.bytes - offset) : 1;
      if (n > 1) {
        done = time_stream(d, address + offset, n, ready, timing, delay, left);
        offset += n * max_beats * beat_bytes;
        continue;
      }
      const BurstPart part =
          next_burst(address + offset, piece.bytes - offset, beat_bytes, max_beats, allowed);
      done = time_lt(d, part, ready, timing, delay, left);
      offset += part.bytes;
    }
    piece.left = at_ps(left);
    piece.done = at_ps(done);
  }

  /// After a failed run: the same bursts one by one, so that the good ones move their data and the bad are
  /// found.
  bool run_by_burst(Direction& d, std::uint64_t address, std::byte* data, std::span<LtPiece> pieces,
                    std::uint64_t* error_address) {
    bool good = true;
    const auto max_beats = static_cast<std::uint32_t>(params.max_burst_beats);
    for (LtPiece& piece : pieces) {
      const std::uint64_t ready = align(piece.ready.value());
      std::uint64_t left = ready, done = ready;
      for (std::uint32_t offset = 0; offset < piece.bytes;) {
        const BurstPart part =
            next_burst(address + offset, piece.bytes - offset, beat_bytes, max_beats, allowed);
        AxiTimingTarget* timing = nullptr;
        sc_time delay;
        if (!move_lt(d, part.address, data + offset, part.bytes, {}, timing, delay)) {
          if (good && error_address) *error_address = part.address & address_mask;
          good = false;
        }
        // The delay of a plain b_transport holds hops and data beats; take it as the burst's whole life.
        done = time_lt(d, part, ready, nullptr, delay.value(), left);
        offset += part.bytes;
      }
      piece.left = at_ps(left);
      piece.done = at_ps(done);
      address += piece.bytes;
      data += piece.bytes;
    }
    return good;
  }

  /// A small access whose instant lies before what this direction has already reserved (a descriptor fetched
  /// ahead while data wait for the card): it is timed on its own and leaves the reservations as they were.
  bool run_in_gap(Direction& d, std::uint64_t address, std::byte* data, LtPiece& piece) {
    const std::size_t slot = d.slot;
    const std::uint64_t issue = d.next_issue, channel = d.channel_free, done = d.prev_done;
    const std::uint64_t from = d.lt_from;
    gap_done.assign(d.limit, 0);
    std::swap(d.done_of, gap_done);
    d.next_issue = d.channel_free = d.prev_done = 0;
    const bool good = run_lt(d, address, data, {&piece, 1}, nullptr);
    std::swap(d.done_of, gap_done);
    d.slot = slot;
    d.next_issue = issue;
    d.channel_free = channel;
    d.prev_done = done;
    d.lt_from = from;
    return good;
  }

  bool run_lt(Direction& d, std::uint64_t address, std::byte* data, std::span<LtPiece> pieces,
              std::uint64_t* error_address) {
    std::uint32_t bytes = 0;
    for (const LtPiece& p : pieces) bytes += p.bytes;
    if (bytes == 0) return true;
    bus_address(address, bytes);
    AxiTimingTarget* timing = nullptr;
    sc_time delay;
    if (!move_lt(d, address, data, bytes, pieces, timing, delay))
      return run_by_burst(d, address, data, pieces, error_address);
    for (LtPiece& p : pieces) {
      time_piece(d, address, p, timing, delay.value());
      address += p.bytes;
    }
    return true;
  }
};

AxiMasterPort::AxiMasterPort(sc_core::sc_module_name name, Context& ctx, ClockDomain& clock,
                             const AxiMasterParams& params)
    : sc_module(name), socket("socket"), impl_(std::make_unique<Impl>(*this, ctx, clock, params)) {
  socket.register_nb_transport_bw(this, &AxiMasterPort::nb_transport_bw);
  SC_METHOD(step);
  sensitive << impl_->wake;
  dont_initialize();
}

AxiMasterPort::~AxiMasterPort() = default;

void AxiMasterPort::set_client(Client& client) { impl_->client = &client; }
void AxiMasterPort::set_allowed_bursts(const BurstSet& set) { impl_->allowed = set; }
const AxiCounters& AxiMasterPort::counters() const { return impl_->totals(); }
const AxiMasterParams& AxiMasterPort::params() const { return impl_->params; }

void AxiMasterPort::step() { impl_->step(); }

void AxiMasterPort::start(Transfer& transfer) {
  if (transfer.bytes == 0)
    throw std::invalid_argument("AxiMasterPort::start: a transfer has at least one byte");
  Impl::Direction& d = impl_->directions[transfer.is_write];
  transfer.error = transfer.all_issued = false;
  transfer.bursts_open = 0;
  if (d.queue.empty()) {
    d.ready_ps = std::max(impl_->align(now_ps()), d.next_issue);
    impl_->announce(d, transfer);
  }
  d.queue.push(&transfer);
  const std::uint64_t at = impl_->issue_time(d);
  if (at != kNever) impl_->wake_at(at);
}

void AxiMasterPort::abort() {
  ++impl_->epoch;
  for (Impl::Direction& d : impl_->directions) {
    d.queue.clear();
    d.lefts.clear();
    d.dones.clear();
    d.offset = 0;
  }
}

bool AxiMasterPort::idle() const {
  if (impl_->unresolved > 0) return false;
  for (const Impl::Direction& d : impl_->directions)
    if (!d.queue.empty() || !d.dones.empty() || d.prev_done > now_ps()) return false;
  return true;
}

tlm::tlm_sync_enum AxiMasterPort::nb_transport_bw(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                                  sc_time& delay) {
  auto& t = static_cast<Impl::Transaction&>(trans);
  Impl::Direction& d = impl_->directions[trans.is_write()];
  const std::uint64_t at = now_ps() + delay.value();
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  if (phase == tlm::END_REQ) {
    impl_->grant(d, at);
  } else if (phase == tlm::BEGIN_RESP) {
    impl_->respond(d, t, at);
    t.release();
    answer = tlm::TLM_COMPLETED;
  }
  const std::uint64_t next = impl_->next_wake(now_ps());
  if (next != kNever) impl_->wake_at(next);
  return answer;
}

bool AxiMasterPort::run_lt(bool is_write, std::uint64_t address, std::byte* data, std::span<LtPiece> pieces,
                           std::uint64_t* error_address) {
  return impl_->run_lt(impl_->directions[is_write], address, data, pieces, error_address);
}

sc_time AxiMasterPort::access_lt(bool is_write, std::uint64_t address, std::byte* data, std::uint32_t bytes,
                                 sc_time ready, bool* ok) {
  LtPiece piece{.bytes = bytes, .ready = ready, .left = {}, .done = {}};
  Impl::Direction& d = impl_->directions[is_write];
  const bool in_gap = impl_->align(ready.value()) < d.lt_from;
  const bool good = in_gap ? impl_->run_in_gap(d, address, data, piece)
                           : impl_->run_lt(d, address, data, {&piece, 1}, nullptr);
  if (ok) *ok = good;
  return piece.done;
}

}  // namespace vp
