// The memory side of the data path: descriptors, their rules, bursts, closing.
#include <fmt/format.h>

#include <algorithm>

#include "models/dwmmc/data_path.hpp"

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

// --- descriptors ---

void DwmmcData::descriptor_arrived() {
  if (!dma_active_) return;
  if (waiting_for_descriptor_) {
    waiting_for_descriptor_ = false;
    descriptor_wait_until_ = sc_time_stamp();
    counters_.descriptor_wait += descriptor_wait_until_ - descriptor_wait_from_;
  }
  pump_dma();
  if (clock_stopped_) resume_wire();  // a list that cannot go on lets the FIFO fill up to its last word
}

void DwmmcData::check_descriptor(const Entry& e, sc_time at) {
  const bool chained = e.d.chained();
  if (chained && e.d.size2 != 0)
    ctx_.finding(
        "dwmmc.size2_with_chain", name(), {e.address},
        fmt::format(
            "descriptor {} at 0x{:x} is chained and has a second size of {}: a length over 8191 runs into "
            "that field; what the 13 bits hold is moved",
            e.index, e.address, e.d.size2),
        at);
  if (chained && e.d.size1 > kDesRuleBytes)
    ctx_.finding("dwmmc.descriptor_over_4k", name(), {e.address},
                 fmt::format("descriptor {} at 0x{:x} has {} bytes, more than the 4096 of a chained one",
                             e.index, e.address, e.d.size1),
                 at);
  if (e.d.size1 == 0 && (chained || e.d.size2 == 0))
    ctx_.finding("dwmmc.descriptor_empty", name(), {e.address},
                 fmt::format("descriptor {} at 0x{:x} has no bytes", e.index, e.address), at);
}

void DwmmcData::check_buffer(Entry& e, sc_time at) {
  if (e.bytes != 0 && e.data % 4 != 0)
    ctx_.finding(
        "dwmmc.buffer_misaligned", name(), {e.address, e.data},
        fmt::format("descriptor {} at 0x{:x}: buffer 0x{:x} is not a multiple of 4; its low bits are ignored",
                    e.index, e.address, e.data),
        at);
  if (e.bytes % 4 != 0)
    ctx_.finding(
        "dwmmc.length_misaligned", name(), {e.address},
        fmt::format("descriptor {} at 0x{:x}: {} bytes are not whole words", e.index, e.address, e.bytes),
        at);
  e.data &= ~std::uint64_t{3};
}

/// The list cannot go on with this entry: OWN = 0, a bus error, or the end before the data's.
void DwmmcData::list_trouble(Entry& e, sc_time at) {
  if (e.told) return;
  e.told = true;
  if (e.kind == Entry::Kind::bus_error) return bus_error(at, e.address);
  if (e.kind == Entry::Kind::end) {
    const std::uint64_t moved = job_.direction == DataDir::read ? fifo_.out_reserved : fifo_.in_reserved;
    ctx_.finding(
        "dwmmc.list_too_short", name(), {list_.descriptor_address()},
        fmt::format("the descriptor with LD at 0x{:x} ends the list after {} of {} bytes: the rest starves",
                    list_.descriptor_address(), moved, total_),
        at);
    return;
  }
  ++counters_.unavailable;
  ctx_.finding(
      "dwmmc.descriptor_unavailable", name(), {e.address},
      fmt::format(
          "descriptor {} at 0x{:x} has OWN = 0 while data are left: IDMAC suspended until poll demand",
          e.index, e.address),
      at);
  set_fsm(Fsm::suspend, at);
  notice(Notice::Kind::idmac, at, kIdUnavailable);
}

void DwmmcData::bus_error(sc_time at, std::uint64_t address) {
  if (list_dead_) return;
  withdraw_ahead();
  list_dead_ = true;
  ++counters_.bus_errors;
  ctx_.log(fmt::format("{}: fatal bus error at 0x{:x}: the IDMAC stops", name(), address));
  const std::uint32_t eb = job_.direction == DataDir::write ? kIdEbTransmit : kIdEbReceive;
  notice(Notice::Kind::idmac, at, kIdFatalBusError | eb << 16);
}

/// Looks at an entry that comes into use at `at`. False: it has nothing to move now.
bool DwmmcData::entry_has_data(Entry& e, sc_time at) {
  if (e.kind != Entry::Kind::data) {
    list_trouble(e, at);
    return false;
  }
  if (!e.checked && !e.second) check_descriptor(e, at);
  if (!e.checked) {
    e.checked = true;
    check_buffer(e, at);
  }
  return true;
}

// --- bursts, `at` style ---

DwmmcData::Piece& DwmmcData::new_piece(std::uint32_t bytes) {
  if (piece_free_.empty()) piece_free_.push_back(&piece_store_.emplace_back());
  Piece& p = *piece_free_.back();
  piece_free_.pop_back();
  if (p.bytes_.size() < bytes) p.bytes_.resize(bytes);
  p.closes = p.quiet_left = p.quiet_done = false;
  p.id = 0;
  p.data = p.bytes_.data();
  p.bytes = bytes;
  return p;
}

void DwmmcData::pump_dma() {
  if (!dma_active_ || dma_failed_ || dma_finished_ || list_dead_ || no_requests_ || by_reservation()) return;
  if (ahead_.next != ahead_.count) return;  // bursts are queued for instants to come
  while (!all_moved() && !closing_) {
    Entry* e = list_.current();
    const sc_time now = sc_time_stamp();
    if (!e) {
      if (!waiting_for_descriptor_) descriptor_wait_from_ = now;
      waiting_for_descriptor_ = true;
      return;
    }
    if (!entry_has_data(*e, now)) return;
    if (e->bytes == 0 && e->used_up()) {  // an empty descriptor
      if (list_.setup().depth == 0) closing_ = true;
      const std::uint64_t address = e->address;
      const std::uint32_t des0 = e->d.des0;
      if (list_.setup().depth > 0) list_.pop(now);
      close_descriptor(address, des0, false, now);
      continue;
    }
    if (!entry_has_data(*e, now)) return;  // buffer 2
    const std::uint32_t n = burst_of(*e);
    if (!fifo_lets(n)) {
      set_fsm(job_.direction == DataDir::read ? Fsm::write_request_wait : Fsm::read_request_wait, now);
      return;
    }
    issue(*e, n);
  }
}

void DwmmcData::issue(Entry& e, std::uint32_t bytes) {
  const sc_time now = sc_time_stamp();
  Piece& p = new_piece(bytes);
  p.is_write = job_.direction == DataDir::read;
  p.address = buffer_address_ = e.data;
  if (p.is_write) {
    fifo_.pull(p.data, bytes);
    p.end = fifo_.out_reserved;
  } else {
    fifo_.in_reserved += bytes;
    p.end = fifo_.in_reserved;
  }
  e.data += bytes;
  e.bytes -= bytes;
  ++pieces_open_;
  ++counters_.bursts;
  p.descriptor = e.address;
  p.des0 = e.d.des0;
  p.closes = e.used_up() || p.end == total_;
  ctx_.trace.change(t_address_, now, p.address);
  set_fsm(p.is_write ? Fsm::write : Fsm::read, now);
  if (p.closes && list_.setup().depth == 0) closing_ = true;
  port_.start(p);
  if (p.closes && list_.setup().depth > 0) list_.pop(now);
}

void DwmmcData::axi_left(AxiMasterPort::Transfer& transfer) {
  if (!dma_active_ || !params_.posted_drain || transfer.id != 0) return;
  settle();
  drained(static_cast<Piece&>(transfer).end, sc_time_stamp());
}

void DwmmcData::axi_done(AxiMasterPort::Transfer& transfer) {
  if (!dma_active_) return;
  settle();
  if (transfer.id == DescriptorList::kTransferId) return list_.fetched(transfer);
  if (transfer.id == kCloseId) {
    Close& c = static_cast<Close&>(transfer);
    --closes_open_;
    close_free_.push_back(&c);
    return closed(c.word, c.final, c.error, sc_time_stamp());
  }
  Piece& p = static_cast<Piece&>(transfer);
  const sc_time now = sc_time_stamp();
  if (!quiet_.empty() && quiet_.front() == &p) quiet_.pop();  // its error is told
  --pieces_open_;
  piece_free_.push_back(&p);
  if (p.error) return bus_error(now, p.error_address);
  host_bytes_ += p.bytes;
  dma_end_ = now;
  if (job_.direction == DataDir::read) {
    if (!params_.posted_drain) drained(p.end, now);
  } else if (!wire_finished_) {
    fifo_.push(p.data, p.bytes);
    in_marks_.add(fifo_.in_done, now);
    trace_level(now);
  }
  if (p.closes) {
    close_descriptor(p.descriptor, p.des0, p.end == total_, now);
  } else if (dma_failed_ && pieces_open_ == 0 && closes_open_ == 0) {
    stop_dma_on_error(now);
  } else if (wire_finished_ && pieces_open_ == 0 && closes_open_ == 0 && all_moved()) {
    close_rest(now);
  }
  if (job_.direction == DataDir::write) {
    pump_dma();
    if (clock_stopped_) resume_wire();
  }
}

/// The FIFO's emptying side has passed `position` (read).
void DwmmcData::drained(std::uint64_t position, sc_time at) {
  fifo_.out_done = position;
  out_marks_.add(position, at);
  trace_level(at);
  if (clock_stopped_) resume_wire();
}

// --- closing ---

void DwmmcData::close_descriptor(std::uint64_t address, std::uint32_t des0, bool final, sc_time at) {
  ++counters_.closes;
  std::uint32_t word = des0 & ~std::uint32_t{kDesOwn};
  if (dma_failed_) word |= kDesCardError;
  set_fsm(Fsm::descriptor_close, at);
  if (by_reservation()) {
    bool ok = true;
    const sc_time done = port_.access_lt(true, address, reinterpret_cast<std::byte*>(&word), 4, at, &ok);
    lt_last_done_ = std::max(lt_last_done_, done);
    return closed(word, final, !ok, done);
  }
  if (close_free_.empty()) close_free_.push_back(&close_store_.emplace_back());
  Close& c = *close_free_.back();
  close_free_.pop_back();
  c.id = kCloseId;
  c.is_write = true;
  c.word = word;
  c.final = final;
  c.address = address;
  c.data = reinterpret_cast<std::byte*>(&c.word);
  c.bytes = 4;
  ++closes_open_;
  port_.start(c);
}

/// DES0 is written back at `at`: interrupts, and at prefetch depth 0 the next descriptor.
void DwmmcData::closed(std::uint32_t word, bool final, bool error, sc_time at) {
  if (error) return bus_error(at, list_.descriptor_address());
  std::uint32_t bits = 0;
  if (!(word & kDesNoInterrupt)) bits |= job_.direction == DataDir::read ? kIdReceive : kIdTransmit;
  if (dma_failed_) bits |= kIdCardError;
  if (bits != 0) notice(Notice::Kind::idmac, at, bits);
  const bool quiet = pieces_open_ == 0 && closes_open_ == 0;
  if (final || (quiet && (dma_failed_ || (wire_finished_ && all_moved())))) return finish_dma(at);
  closing_ = false;
  if (list_.setup().depth == 0) list_.pop(at);
  if (by_reservation()) return;
  set_fsm(Fsm::descriptor_read, at);
  pump_dma();
}

/// The card's side failed: what is under way ends, the descriptor in use is closed with CES, the rest is dropped.
void DwmmcData::stop_dma_on_error(sc_time at) {
  if (!dma_active_ || dma_finished_) return;
  tell_end();
  dma_failed_ = true;
  if (pieces_open_ > 0 || closes_open_ > 0 || list_dead_) return;
  Entry* e = by_reservation() ? list_.current_lt(at) : list_.current();
  if (e && e->kind == Entry::Kind::data)
    return close_descriptor(e->address, e->d.des0, true, by_reservation() ? std::max(at, e->at) : at);
  notice(Notice::Kind::idmac, at, kIdCardError);
  finish_dma(at);
}

/// After a stop: the descriptor in use is closed as it is.
void DwmmcData::close_rest(sc_time at) {
  if (dma_finished_ || list_dead_) return;
  Entry* e = by_reservation() ? list_.current_lt(at) : list_.current();
  const bool open = e && e->kind == Entry::Kind::data && !closing_;
  open ? close_descriptor(e->address, e->d.des0, true, at) : finish_dma(at);
}

/// Nothing is left to move; the last descriptor has been closed at `at`.
void DwmmcData::finish_dma(sc_time at) {
  if (dma_finished_) return;
  dma_finished_ = true;
  if (list_.fetching()) port_.abort();  // a descriptor read ahead that nobody needs
  list_.stop();
  notice(Notice::Kind::idmac_over, at);
}

/// Why the IDMAC was over only at `at`. A write's IDMAC is over before the wire, which tells more.
NodeId DwmmcData::dma_cause(sc_time at) {
  if (job_.direction != DataDir::read) return kRootNode;
  NodeId last = wire_node_;
  if (descriptor_wait_until_ > graph().end(last) && descriptor_wait_until_ <= dma_end_)
    last = graph().add(last, Span::descriptor_fetch, descriptor_wait_until_);
  last = graph().add(last, Span::axi_write, dma_end_);
  return graph().add(last, Span::descriptor_fetch, at);
}

}  // namespace vp
