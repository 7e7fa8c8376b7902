// The AXI master port by reservation: the recurrence of master_port.cpp computed burst by burst, or for a
// stretch of bursts at once where they stream. One b_transport moves the data and names the target that
// answers for the timing.
#include <cstring>

#include "models/axi/master_port_impl.hpp"

namespace vp {

bool AxiMasterPort::Impl::move_lt(Direction& d, std::uint64_t address, std::byte* data, std::uint32_t bytes,
                                  std::span<LtPiece> pieces, AxiTimingTarget*& timing, sc_time& delay,
                                  std::uint32_t fixed_beat) {
  Transaction& t = take();
  t.set_command(d.is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  t.set_address(address & address_mask);
  t.set_data_ptr(reinterpret_cast<unsigned char*>(data));
  t.set_data_length(bytes);
  t.set_streaming_width(fixed_beat ? fixed_beat : bytes);
  t.set_byte_enable_ptr(nullptr);
  t.set_dmi_allowed(false);
  t.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  const std::uint32_t beat = fixed_beat ? fixed_beat : beat_bytes;
  fill(t.axi, 0, (bytes + beat - 1) / beat, fixed_beat);
  t.axi.pieces = pieces;
  port.socket->b_transport(t, delay);
  timing = t.axi.timing;
  t.axi.pieces = {};
  const bool good = t.get_response_status() == tlm::TLM_OK_RESPONSE;
  t.release();
  return good;
}

AxiLtMemory AxiMasterPort::Impl::memory_lt(std::uint64_t address) {
  Transaction& t = take();
  t.set_command(tlm::TLM_WRITE_COMMAND);
  t.set_address(address);
  fill(t.axi, 0, 1);
  tlm::tlm_dmi dmi;
  AxiLtMemory m;
  if (port.socket->get_direct_mem_ptr(t, dmi) && dmi.is_read_write_allowed() && t.axi.timing) {
    m.host = reinterpret_cast<std::byte*>(dmi.get_dmi_ptr());
    m.from = dmi.get_start_address();
    m.last = std::min<std::uint64_t>(dmi.get_end_address(), address_mask);
    m.timing = t.axi.timing;
  }
  t.release();
  return m.timing && m.holds(address, 1) ? m : AxiLtMemory{};
}

/// One burst by reservation; returns the end, `left` the instant its last W beat left.
std::uint64_t AxiMasterPort::Impl::time_lt(Direction& d, const BurstPart& part, std::uint64_t ready,
                                           AxiTimingTarget* timing, std::uint64_t delay, std::uint64_t& left,
                                           unsigned bursts) {
  const std::uint64_t free = std::max(ready, d.next_issue);
  const std::uint64_t issued = std::max(free, d.limited_until());
  AxiBurstTiming b{.address = part.address & address_mask,
                   .bytes = part.bytes,
                   .beats = part.beats,
                   .bursts = bursts,
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

/// How many full bursts of `piece` from `offset` on follow each other without a gap: the channel is the
/// limit, not the outstanding bursts, so that their ends stand one burst time apart. 1: look at them one by
/// one.
std::uint32_t AxiMasterPort::Impl::streaming(const Direction& d, std::uint64_t address,
                                             std::uint32_t bytes) const {
  const std::uint32_t burst_bytes = static_cast<std::uint32_t>(params.max_burst_beats) * beat_bytes;
  if (!allowed.undefined || d.tail == kNever || ctx.trace.on() || address % beat_bytes != 0) return 1;
  const std::uint64_t to_4k = 4096 - address % 4096;
  const std::uint64_t n = std::min<std::uint64_t>(bytes, to_4k) / burst_bytes;
  const bool held_up = d.tail > (d.limit - 1) * params.max_burst_beats * period();
  return n > d.limit || held_up ? 1 : static_cast<std::uint32_t>(std::max<std::uint64_t>(n, 1));
}

/// `n` streaming bursts timed as one and booked as n.
std::uint64_t AxiMasterPort::Impl::time_stream(Direction& d, std::uint64_t address, std::uint32_t n,
                                               std::uint64_t ready, AxiTimingTarget* timing,
                                               std::uint64_t delay, std::uint64_t& left) {
  const auto beats = static_cast<std::uint32_t>(params.max_burst_beats);
  const std::uint64_t one = beats * period(), tail = d.tail;
  const std::uint64_t done =
      time_lt(d, {address, n * beats * beat_bytes, n * beats}, ready, timing, delay, left, n);
  for (std::uint32_t i = 1; i < n; ++i) d.done_of[d.take_slot()] = done - one * (n - 1 - i);
  d.done_of[(d.slot + d.limit - n) % d.limit] = done - one * (n - 1);
  d.bursts += n - 1;
  d.next_issue += (n - 1) * period();
  if (d.is_write) d.wait_b += (n - 1) * std::min(tail, one);
  return done;
}

/// Pieces of `bytes`, ready in `rhythm`, of a master that keeps one unfinished, as one train; `left` and `done` are the
/// first one's. False: look at the bursts one by one.
bool AxiMasterPort::Impl::time_train(Direction& d, std::uint64_t address, std::uint32_t bytes,
                                     const AxiRhythm& rhythm, std::uint64_t ready, AxiTimingTarget* timing,
                                     std::uint64_t& left, std::uint64_t& done) {
  const BurstPart first =
      next_burst(address, bytes, beat_bytes, static_cast<std::uint32_t>(params.max_burst_beats), allowed);
  const std::uint64_t a = period(), data = first.beats * a;
  const std::uint64_t free = std::max(ready, d.next_issue), issued = std::max(free, d.limited_until());
  const std::uint64_t to_4k = kAxiBoundaryBytes - (address & (kAxiBoundaryBytes - 1));
  const std::uint32_t count = bytes / first.bytes;
  if (d.channel_free > issued || first.bytes != first.beats * beat_bytes || count * first.bytes != bytes ||
      std::uint64_t{bytes} * rhythm.pieces() > to_4k || (rhythm.pieces() > 1 && issued != ready))
    return false;
  AxiTrain train{.address = address & address_mask,
                 .bytes = first.bytes,
                 .beats = first.beats,
                 .count = count,
                 .rhythm = rhythm,
                 .is_write = d.is_write,
                 .at_ps = issued,
                 .period_ps = a};
  if (!timing->time_train(train)) return false;
  const std::uint64_t last = (count - 1) * train.step_ps, n = train.bursts();
  done = issued + last + train.end_ps;
  left = d.is_write ? issued + last + data : done;
  d.tail = train.end_ps - data;
  d.limited += issued - free + rhythm.pieces() * (count - 1) * (train.step_ps - a);
  d.bursts += n;
  d.beats += n * first.beats;
  d.bytes += std::uint64_t{rhythm.pieces()} * bytes;
  (d.is_write ? d.wait_b : d.wait_first) +=
      n * (d.is_write ? d.tail : std::min(train.first_ps + train.path_ps, train.end_ps - data));
  const std::uint64_t shift = rhythm.span();
  open_busy(issued);
  busy_until = std::max(busy_until, done);
  if (const unsigned more = rhythm.pieces() - 1; more > 0 && busy_until == done && unresolved == 0) {
    busy_closed += done - busy_start + (more - 1) * (done - issued);
    busy_start = issued + shift;
    busy_until = done + shift;
  } else if (more > 0) {
    rhythm.each([&](std::uint64_t offset) {
      open_busy(issued + offset);
      busy_until = std::max(busy_until, done + offset);
    });
  }
  d.channel_free = left + shift;
  d.prev_done = d.done_of[0] = done + shift;
  d.next_issue = issued + shift + last + a;
  return true;
}

bool AxiMasterPort::Impl::time_pieces(Direction& d, std::uint64_t address, const AxiRhythm& rhythm,
                                      AxiTimingTarget* timing, LtPiece& piece) {
  const std::uint64_t ready = align(piece.ready.value());
  if (d.limit != 1 || rhythm.group_ps % period() != 0 || rhythm.round_ps % period() != 0) return false;
  const bool gap = ready > d.prev_done;
  std::uint64_t left = 0, done = 0;
  if (!time_train(d, address, piece.bytes, rhythm, ready, timing, left, done)) return false;
  if (gap || rhythm.pieces() > 1) d.lt_from = ready + rhythm.span();
  piece.left = at_ps(left);
  piece.done = at_ps(done);
  return true;
}

void AxiMasterPort::Impl::time_piece(Direction& d, std::uint64_t address, LtPiece& piece,
                                     AxiTimingTarget* timing, std::uint64_t delay) {
  const std::uint64_t ready = align(piece.ready.value());
  if (ready > d.prev_done) d.lt_from = ready;
  const auto max_beats = static_cast<std::uint32_t>(params.max_burst_beats);
  std::uint64_t left = ready, done = ready;
  const bool train =
      timing && d.limit == 1 && time_train(d, address, piece.bytes, {}, ready, timing, left, done);
  for (std::uint32_t offset = train ? piece.bytes : 0; offset < piece.bytes;) {
    const std::uint32_t n = timing ? streaming(d, address + offset, piece.bytes - offset) : 1;
    if (n > 1) {
      done = time_stream(d, address + offset, n, ready, timing, delay, left);
      offset += n * max_beats * beat_bytes;
      continue;
    }
    const BurstPart part = next_burst(address + offset, piece.bytes - offset, beat_bytes, max_beats, allowed);
    done = time_lt(d, part, ready, timing, delay, left);
    offset += part.bytes;
  }
  piece.left = at_ps(left);
  piece.done = at_ps(done);
}

/// After a failed run: the same bursts one by one, so that the good ones move their data and the bad are
/// found.
bool AxiMasterPort::Impl::run_by_burst(Direction& d, std::uint64_t address, std::byte* data,
                                       std::span<LtPiece> pieces, std::uint64_t* error_address) {
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

/// One piece, without a transaction where the memory is handed out.
bool AxiMasterPort::Impl::run_small(Direction& d, std::uint64_t address, std::byte* data, LtPiece& piece) {
  if (!small.holds(address, piece.bytes)) small = memory_lt(address);
  if (!small.holds(address, piece.bytes)) return run_lt(d, address, data, {&piece, 1}, nullptr);
  std::byte* const here = small.at(address);
  d.is_write ? std::memcpy(here, data, piece.bytes) : std::memcpy(data, here, piece.bytes);
  time_piece(d, address, piece, small.timing, 0);
  return true;
}

/// A small access whose instant lies before what this direction has already reserved (a descriptor fetched
/// ahead while data wait for the card): it is timed on its own and leaves the reservations as they were.
bool AxiMasterPort::Impl::run_in_gap(Direction& d, std::uint64_t address, std::byte* data, LtPiece& piece) {
  const std::size_t slot = d.slot;
  const std::uint64_t issue = d.next_issue, channel = d.channel_free, done = d.prev_done;
  const std::uint64_t from = d.lt_from;
  gap_done.assign(d.limit, 0);
  std::swap(d.done_of, gap_done);
  d.next_issue = d.channel_free = d.prev_done = 0;
  const bool good = run_small(d, address, data, piece);
  std::swap(d.done_of, gap_done);
  d.slot = slot;
  d.next_issue = issue;
  d.channel_free = channel;
  d.prev_done = done;
  d.lt_from = from;
  return good;
}

bool AxiMasterPort::Impl::run_lt(Direction& d, std::uint64_t address, std::byte* data,
                                 std::span<LtPiece> pieces, std::uint64_t* error_address) {
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

/// FIXED bursts by reservation: one b_transport moves the data, the bursts are timed one by one.
bool AxiMasterPort::Impl::run_fixed_lt(Direction& d, std::uint64_t address, std::byte* data,
                                       std::uint32_t fixed_beat, LtPiece& piece) {
  bus_address(address, fixed_beat);
  AxiTimingTarget* timing = nullptr;
  sc_time delay;
  const bool good = move_lt(d, address, data, piece.bytes, {&piece, 1}, timing, delay, fixed_beat);
  const std::uint64_t ready = align(piece.ready.value());
  if (ready > d.prev_done) d.lt_from = ready;
  std::uint64_t left = ready, done = ready;
  for (std::uint32_t offset = 0; offset < piece.bytes;) {
    const BurstPart part = next_fixed_burst(address, piece.bytes - offset, fixed_beat,
                                            static_cast<std::uint32_t>(params.max_burst_beats));
    done = time_lt(d, part, ready, timing, delay.value(), left);
    offset += part.bytes;
  }
  piece.left = at_ps(left);
  piece.done = at_ps(done);
  return good;
}

}  // namespace vp
