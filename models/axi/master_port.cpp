// Closed-form timing. A = AXI period, h = hops of the path (interconnect hop_cycles + register slices),
// t = the edge at which a burst's address is issued, n = its beats, N = the outstanding limit of its direction.
//   write: AW and W together. W starts at s = max(grant, W channel free); left = s + n A unless back-pressured;
//          last beat at the target = left + h A; B leaves after the target's accept latency; done = that + h A.
//   read:  AR at the target = t + h A; first beat after the target's latency L; done = t + (2 h + n) A + L,
//          and not before the previous read's end + n A (the R channel carries one burst at a time).
//   issue: t(k) = max(ready, grant(k-1) + A, done(k-N)), per direction; completion is in order per direction.
// Counters are unions of intervals per direction, in A: wait_first_beat counts only while the R channel is idle;
// wait_b counts from a burst's last W beat, or the previous B when later, to its B. `at` and `lt` share resolve():
// `at` learns a burst's times from the base protocol (TLM_COMPLETED or BEGIN_RESP with annotated delay), `lt` from
// the AxiTimingTarget that the b_transport handed back.
#include "models/axi/master_port.hpp"

#include <stdexcept>

#include "models/axi/master_port_impl.hpp"

namespace vp {
namespace {

constexpr std::uint64_t kMaxOutstanding = 256;  // choice: more than any eMMC host integrates

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

void AxiMasterPort::start(Transfer& transfer, sc_time from) {
  if (transfer.bytes == 0)
    throw std::invalid_argument("AxiMasterPort::start: a transfer has at least one byte");
  Impl::Direction& d = impl_->directions[transfer.is_write];
  transfer.error = transfer.all_issued = false;
  transfer.bursts_open = 0;
  transfer.left_ps = transfer.done_ps = Transfer::kUnknown;
  transfer.from_ps = impl_->align(from.value());
  if (d.queue.empty()) {
    d.ready_ps = std::max({impl_->align(now_ps()), d.next_issue, transfer.from_ps});
    impl_->announce(d, transfer);
  }
  d.queue.push(&transfer);
  const std::uint64_t at = impl_->issue_time(d);
  if (at != kNever) impl_->wake_at(at);
}

void AxiMasterPort::tell_left(Transfer& transfer) {
  impl_->tell(impl_->directions[transfer.is_write].lefts, transfer, transfer.left_ps, transfer.quiet_left);
}
void AxiMasterPort::tell_done(Transfer& transfer) {
  impl_->tell(impl_->directions[transfer.is_write].dones, transfer, transfer.done_ps, transfer.quiet_done);
}

void AxiMasterPort::withdraw(Transfer& transfer) {
  Impl::Direction& d = impl_->directions[transfer.is_write];
  const bool untouched =
      !d.queue.empty() && d.queue.back() == &transfer && (d.queue.size() > 1 || d.offset == 0);
  if (!untouched)
    throw std::logic_error("AxiMasterPort::withdraw: not the last transfer, or already under way");
  d.queue.pop_back();
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

AxiLtMemory AxiMasterPort::memory_lt(std::uint64_t address) { return impl_->memory_lt(address); }

void AxiMasterPort::time_lt(const AxiLtMemory& memory, bool is_write, std::uint64_t address, LtPiece& piece) {
  impl_->time_piece(impl_->directions[is_write], address, piece, memory.timing, 0);
}

bool AxiMasterPort::time_pieces_lt(const AxiLtMemory& memory, bool is_write, std::uint64_t address,
                                   const AxiRhythm& rhythm, LtPiece& first) {
  return impl_->time_pieces(impl_->directions[is_write], address, rhythm, memory.timing, first);
}

sc_time AxiMasterPort::access_lt(bool is_write, std::uint64_t address, std::byte* data, std::uint32_t bytes,
                                 sc_time ready, bool* ok) {
  LtPiece piece{.bytes = bytes, .ready = ready, .left = {}, .done = {}};
  Impl::Direction& d = impl_->directions[is_write];
  const bool in_gap = impl_->align(ready.value()) < d.lt_from;
  const bool good =
      in_gap ? impl_->run_in_gap(d, address, data, piece) : impl_->run_small(d, address, data, piece);
  if (ok) *ok = good;
  return piece.done;
}

sc_time AxiMasterPort::access_fixed_lt(bool is_write, std::uint64_t address, std::byte* data,
                                       std::uint32_t bytes, std::uint32_t beat_bytes, sc_time ready,
                                       bool* ok) {
  LtPiece piece{.bytes = bytes, .ready = ready, .left = {}, .done = {}};
  const bool good = impl_->run_fixed_lt(impl_->directions[is_write], address, data, beat_bytes, piece);
  if (ok) *ok = good;
  return piece.done;
}

}  // namespace vp
