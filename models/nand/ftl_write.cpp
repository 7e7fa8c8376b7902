// Writes: acceptance, rows filled in RAM, programs, flush, trim.
#include <algorithm>

#include "models/nand/ftl.hpp"

namespace vp {
namespace {

sc_time time_of(Ps ps) { return from_ps(ps); }

}  // namespace

bool Ftl::in_ram(std::uint32_t slot, Ps now) const {
  const std::uint32_t row = space_.row_id(slot);
  if (host_row_.open && space_.row_id(host_row_) == row) return true;
  const OpenRow& gc = gc_rows_[space_.place(slot).die];
  if (gc.open && space_.row_id(gc) == row) return true;
  return std::any_of(in_flight_.begin(), in_flight_.end(),
                     [&](const InFlight& f) { return f.row == row && f.end > now; });
}

void Ftl::release(Ps now) {
  std::size_t n = 0;
  while (n < in_flight_.size() && in_flight_[n].end <= now) used_ -= in_flight_[n++].bytes;
  if (n > 0) in_flight_.erase(in_flight_.begin(), in_flight_.begin() + static_cast<std::ptrdiff_t>(n));
}

std::uint64_t Ftl::dirty_bytes(sc_time now) {
  release(now.value());
  return used_;
}

void Ftl::show_cache(Ps at) {
  high_water_ = std::max(high_water_, used_);
  context_.trace.change(cache_signal_, time_of(at), used_);
}

NandArray::Program Ftl::program(const OpenRow& row, Ps at) {
  const bool slc = space_.is_slc(row.block);
  ++counters_.programs;
  if (slc) ++counters_.slc_programs;
  if (row.filled < space_.units_per_row()) ++counters_.partial_programs;
  return array_.program(row.die, slc ? t_prog_slc_ : t_prog_, row.filled * kUnitBytes, at);
}

NandArray::Program Ftl::program_row(Ps at) {
  const auto p = program(host_row_, at);
  const InFlight f{p.array_end, host_row_.filled * kUnitBytes, space_.row_id(host_row_)};
  const auto later = std::upper_bound(in_flight_.begin(), in_flight_.end(), f.end,
                                      [](Ps end, const InFlight& x) { return end < x.end; });
  in_flight_.insert(later, f);
  host_row_ = {};
  return p;
}

/// RAM for written data.
std::uint64_t Ftl::ram_bytes() const {
  return std::max(cache_on_ ? cache_bytes_ : params_.write_buffer_bytes, kUnitBytes);
}

sc_time Ftl::room_from(sc_time at) const {
  std::uint64_t used = used_ + kUnitBytes;
  for (const InFlight& f : in_flight_) {
    if (used <= ram_bytes()) break;
    used -= f.bytes;
    at = std::max(at, time_of(f.end));
  }
  return at;  // what the open row holds, the write itself will program
}

/// Waits until one more unit fits into the RAM: for the program that ends first, again and again.
Ps Ftl::make_room(Ps at) {
  const std::uint64_t capacity = ram_bytes();
  release(at);
  if (used_ + kUnitBytes > capacity) ++counters_.cache_stalls;
  while (used_ + kUnitBytes > capacity) {
    if (in_flight_.empty()) program_row(at);
    at = std::max(at, in_flight_.front().end);
    release(at);
  }
  return at;
}

void Ftl::unmap(Lpn lpn) {
  const std::uint32_t entry = l2p_.get(lpn);
  if (entry >= L2pTable::kFirstSlot) space_.invalidate(entry - L2pTable::kFirstSlot);
}

void Ftl::append(Lpn lpn, Ps at) {
  if (!host_row_.open) {
    for (unsigned d = 0; d < array_.dies(); ++d)
      if (space_.at_block_end(d) && space_.free_native(d) <= params_.gc_free_blocks) collect(d, at);
    host_row_ = space_.next_host_row();
  }
  unmap(lpn);
  const std::uint32_t slot = space_.slot({host_row_.die, host_row_.block, host_row_.row, host_row_.filled++});
  l2p_.set(lpn, slot + L2pTable::kFirstSlot);
  space_.record(slot, lpn);
  used_ += kUnitBytes;
}

void Ftl::touch_map(Lpn lpn, Ps at) {
  const std::uint64_t page = lpn / kUnitsPerMapPage;
  const MapCache::Touch t = map_cache_.touch(page, true);
  if (t.hit) {
    ++counters_.map_hits;
    return;
  }
  // The old entries are fetched behind the write's back: they take the die's time, not the write's.
  ++counters_.map_misses;
  array_.read(static_cast<unsigned>(page % array_.dies()), t_r_slc_, params_.map_page_bytes, at);
  write_back_map(t, at);
}

void Ftl::start_write(WritePlan& plan, std::uint64_t lba, bool through, sc_time at) {
  ++counters_.writes;
  fold_while_idle(at.value());
  array_.forget(at.value());
  plan = WritePlan{};
  plan.lba_ = lba, plan.offset_ = lba % kUnitBlocks;
  plan.through_ = through || !cache_on_;
  plan.firmware_end_ = firmware(at.value(), fw_write_);
}

/// A unit, whole or in part, has arrived at `at`. Returns when it is in the buffer.
Ps Ftl::commit(WritePlan& plan, Ps at) {
  const Lpn lpn = plan.lpn_;
  const bool whole = plan.in_unit_ == kUnitBlocks;
  plan.in_unit_ = 0;
  for (const Group& a : ahead_)
    if (lpn >= a.lpn && lpn < a.lpn + a.units) {
      ahead_.clear();
      break;
    }
  const Ps ready = std::max(at, plan.firmware_end_);
  touch_map(lpn, ready);
  const std::uint32_t entry = l2p_.get(lpn);
  const bool mapped = entry >= L2pTable::kFirstSlot;
  if (mapped && host_row_.open && space_.row_id(entry - L2pTable::kFirstSlot) == space_.row_id(host_row_))
    return at;  // overwritten in RAM
  Ps begin = ready;
  if (!whole && entry != L2pTable::kTrimmed && !(mapped && in_ram(entry - L2pTable::kFirstSlot, ready))) {
    const Place p = *locate(lpn);
    const auto r =
        array_.read(p.die, mapped && space_.is_slc(p.block) ? t_r_slc_ : t_r(p), kUnitBytes, ready);
    begin = plan.merged_ = std::max(plan.merged_, r.transfer_end);
    ++counters_.read_modify_writes;
  }
  at = make_room(at);
  append(lpn, std::max(at, begin));
  if (host_row_.filled == space_.units_per_row()) {
    const auto p = program_row(std::max(at, begin));
    plan.loaded_ = std::max(plan.loaded_, p.transfer_end);
    plan.programmed_ = std::max(plan.programmed_, p.array_end);
  }
  show_cache(at);
  return at;
}

Accepted Ftl::write_block(WritePlan& plan, std::uint32_t k, bool last, sc_time arrived, CauseGraph& graph,
                          NodeId after) {
  const std::uint64_t block = plan.offset_ + k;
  plan.lpn_ = (plan.lba_ - plan.offset_ + block) / kUnitBlocks;
  ++plan.in_unit_;
  if (!last && block % kUnitBlocks != kUnitBlocks - 1) return {arrived, after};
  const Ps in_buffer = commit(plan, arrived.value());
  if (in_buffer > arrived.value()) after = graph.add(after, Span::nand_array, time_of(in_buffer));
  if (!last) return {time_of(in_buffer), after};
  return settle(plan, in_buffer, graph, after);
}

Accepted Ftl::finish_write(WritePlan& plan, sc_time at, CauseGraph& graph, NodeId after) {
  Ps t = at.value();
  if (plan.in_unit_ > 0) {
    t = commit(plan, t);
    if (t > at.value()) after = graph.add(after, Span::nand_array, time_of(t));
  }
  return settle(plan, t, graph, after);
}

/// The end of a write's busy: firmware, the old part of a unit written in part, and when the data must be in
/// the array its last program.
Accepted Ftl::settle(WritePlan& plan, Ps at, CauseGraph& graph, NodeId after) {
  const auto wait = [&](Span span, Ps until) {
    if (until <= at) return;
    at = until;
    after = graph.add(after, span, time_of(until));
  };
  wait(Span::device_firmware, plan.firmware_end_);
  wait(Span::nand_array, plan.merged_);
  if (plan.through_) {
    if (host_row_.open) {
      const auto p = program_row(at);
      plan.loaded_ = std::max(plan.loaded_, p.transfer_end);
      plan.programmed_ = std::max(plan.programmed_, p.array_end);
    }
    wait(Span::nand_channel, plan.loaded_);
    wait(Span::nand_array, plan.programmed_);
  }
  return {time_of(at), after};
}

Accepted Ftl::flush(sc_time at, CauseGraph& graph, NodeId after) {
  fold_while_idle(at.value());
  array_.forget(at.value());
  const Ps done = firmware(at.value(), fw_write_);
  after = graph.add(after, Span::device_firmware, time_of(done));
  release(done);
  if (host_row_.open) program_row(done);
  Ps end = in_flight_.empty() ? done : std::max(done, in_flight_.back().end);
  for (OpenRow& row : gc_rows_) {
    if (!row.open) continue;
    end = std::max(end, program(row, done).array_end);
    row = {};
  }
  end = std::max(end, gc_programmed_);
  if (end > done) after = graph.add(after, Span::nand_array, time_of(end));
  context_.trace.change(cache_signal_, time_of(end), 0);
  return {time_of(end), after};
}

void Ftl::unmap_range(std::uint64_t lba, std::uint64_t blocks) {
  ahead_.clear();
  Lpn lpn = (lba + kUnitBlocks - 1) / kUnitBlocks;
  const Lpn end = std::min((lba + blocks) / kUnitBlocks, logical_units_);
  while (lpn < end) {
    const std::uint64_t page = lpn / kUnitsPerMapPage;
    const bool whole = lpn % kUnitsPerMapPage == 0 && end - lpn >= kUnitsPerMapPage;
    const Lpn until = std::min(end, (page + 1) * kUnitsPerMapPage);
    if (l2p_.stored(page))
      for (Lpn l = lpn; l < until; ++l) unmap(l);
    if (whole) {
      l2p_.trim_page(page);
    } else {
      for (Lpn l = lpn; l < until; ++l) l2p_.set(l, L2pTable::kTrimmed);
    }
    lpn = until;
  }
}

Accepted Ftl::trim(std::uint64_t lba, std::uint64_t blocks, sc_time at, CauseGraph& graph, NodeId after) {
  fold_while_idle(at.value());
  array_.forget(at.value());
  unmap_range(lba, blocks);
  const Ps end = firmware(at.value(), fw_write_ + NandParams::us(params_.trim_us));
  return {time_of(end), graph.add(after, Span::device_firmware, time_of(end))};
}

Accepted Ftl::erase(std::uint64_t lba, std::uint64_t blocks, std::uint64_t groups, sc_time at,
                    CauseGraph& graph, NodeId after) {
  fold_while_idle(at.value());
  array_.forget(at.value());
  unmap_range(lba, blocks);
  const Ps work = NandParams::us(params_.erase_us + params_.erase_group_us * static_cast<double>(groups));
  const Ps end = firmware(at.value(), fw_write_ + work);
  return {time_of(end), graph.add(after, Span::device_firmware, time_of(end))};
}

}  // namespace vp
