// Reads: firmware, map look-up, rows booked ahead of the wire, read-ahead across commands.
#include <fmt/format.h>

#include <algorithm>

#include "models/nand/ftl.hpp"

namespace vp {
namespace {

sc_time time_of(Ps ps) { return from_ps(ps); }

}  // namespace

NodeId copy_causes(const CauseGraph& from, NodeId node, CauseGraph& to, NodeId after) {
  if (node == kRootNode) return after;
  SpanTimes times;
  from.settle(node, times);
  Ps end = from.end(kRootNode).value();
  for (std::size_t s = 0; s < kSpanCount; ++s)
    if (times.ps[s] > 0) after = to.add(after, static_cast<Span>(s), time_of(end += times.ps[s]));
  return after;
}

void ReadPlan::move_causes(const CauseGraph& from, CauseGraph& to, NodeId after) {
  const auto move = [&](NodeId& node) { node = copy_causes(from, node, to, after); };
  move(base_node_);
  for (std::uint64_t g = current_; g < booked_; ++g) move(group(g).node);
  for (Held& h : of_die_) move(h.node);
  move(cached_.why);
}

Ftl::Ftl(Context& context, const NandParams& params, std::uint64_t logical_blocks, std::uint64_t cache_bytes)
    : context_(context),
      params_((params.check(), params)),
      array_(context, params),
      logical_units_((logical_blocks + kUnitBlocks - 1) / kUnitBlocks),
      l2p_(logical_units_),
      map_cache_(l2p_.map_pages(), params.l2p_cache_bytes / 4 / kUnitsPerMapPage),
      space_(params, logical_units_),
      cache_bytes_(cache_bytes),
      window_rows_(std::max<std::uint64_t>(1, params.read_window_pages / params.planes)),
      t_r_slc_(NandParams::us(params.t_r_slc_us)),
      t_prog_(NandParams::us(params.t_prog_us)),
      t_prog_slc_(NandParams::us(params.t_prog_slc_us)),
      fw_read_(NandParams::us(params.firmware_read_us)),
      fw_write_(NandParams::us(params.firmware_write_us)),
      latency_(NandParams::us(params.buffer_latency_us)),
      gc_rows_(params.all_dies()) {
  t_r_by_kind_[0] = NandParams::us(params.t_r_lsb_us);
  t_r_by_kind_[1] = NandParams::us(params.bits_per_cell == 2 ? params.t_r_msb_us : params.t_r_csb_us);
  t_r_by_kind_[2] = NandParams::us(params.t_r_msb_us);
  cache_signal_ = context_.trace.add_vector("emmc.cache_bytes", 32);
}

Place Ftl::default_place(Lpn lpn) const {
  const std::uint64_t row = lpn / space_.units_per_row();
  const std::uint64_t on_die = row / array_.dies();
  return {static_cast<unsigned>(row % array_.dies()),
          static_cast<std::uint32_t>(on_die / params_.pages_per_block),
          static_cast<std::uint32_t>(on_die % params_.pages_per_block),
          static_cast<std::uint32_t>(lpn % space_.units_per_row())};
}

std::optional<Place> Ftl::locate(Lpn lpn) const {
  const std::uint32_t entry = l2p_.get(lpn);
  if (entry == L2pTable::kTrimmed) return std::nullopt;
  if (entry == L2pTable::kUntouched) return default_place(lpn);
  return space_.place(entry - L2pTable::kFirstSlot);
}

Ps Ftl::t_r(const Place& p) const {
  // A default place may have a block number that the native blocks do not reach; it is native all the same.
  return t_r_by_kind_[p.row % params_.bits_per_cell];
}

Ps Ftl::firmware(Ps at, Ps duration) {
  firmware_free_ = std::max(at, firmware_free_) + duration;
  counters_.firmware_busy += duration;
  return firmware_free_;
}

void Ftl::write_back_map(const MapCache::Touch& t, Ps at) {
  if (!t.wrote_back) return;
  array_.program(static_cast<unsigned>(t.evicted % array_.dies()), t_prog_slc_, params_.map_page_bytes, at);
  ++counters_.map_writes;
}

Ftl::Timed Ftl::look_up(Lpn lpn, Ps at, CauseGraph& graph, NodeId node) {
  const std::uint64_t page = lpn / kUnitsPerMapPage;
  const MapCache::Touch t = map_cache_.touch(page, false);
  if (t.hit) {
    ++counters_.map_hits;
    return {at, node};
  }
  ++counters_.map_misses;
  const auto r =
      array_.read(static_cast<unsigned>(page % array_.dies()), t_r_slc_, params_.map_page_bytes, at);
  write_back_map(t, at);
  return {r.transfer_end, graph.add(node, Span::device_map, time_of(r.transfer_end))};
}

void Ftl::note_sequence(ReadPlan& plan, std::uint64_t lba, std::uint32_t blocks) {
  if (lba == sequential_lba_) {
    ++sequential_run_;
    std::erase_if(ahead_, [&](const Group& g) { return g.lpn + g.units <= lba / kUnitBlocks; });
  } else {
    sequential_run_ = 0;
    ahead_.clear();
    ahead_end_ = 0;
  }
  plan.read_ahead_ = params_.readahead_bytes > 0 && plan.counted_ &&
                     sequential_run_ >= params_.readahead_after &&
                     blocks * (kUnitBytes / kUnitBlocks) >= params_.readahead_min_bytes &&
                     (params_.readahead_queued || !plan.queued_);
  sequential_lba_ = lba + blocks;
}

void Ftl::start_read(ReadPlan& plan, std::uint64_t lba, std::uint32_t blocks, std::uint64_t limit, sc_time at,
                     CauseGraph& graph, NodeId after, std::uint64_t ahead_pages) {
  ++counters_.reads;
  fold_while_idle(at.value());
  array_.forget(at.value());
  plan.ftl_ = this;
  plan.lba_ = lba, plan.offset_ = lba % kUnitBlocks;
  plan.counted_ = blocks != 0;
  plan.window_ = ahead_pages == 0 ? window_rows_
                                  : std::clamp<std::uint64_t>(ahead_pages / params_.planes, 1, window_rows_);
  const std::uint64_t last = plan.counted_ ? std::min(limit, lba + blocks) : limit;
  plan.next_ = lba / kUnitBlocks;
  plan.end_ = (last + kUnitBlocks - 1) / kUnitBlocks;
  plan.map_page_ = ~0ULL, plan.unit_ = ~0ULL;
  plan.booked_ = plan.current_ = 0;
  plan.delivered_ = 0;
  plan.of_die_.clear();
  if (plan.groups_.size() != window_rows_ + 1) plan.groups_.resize(window_rows_ + 1);
  note_sequence(plan, lba, blocks);
  plan.base_ = firmware(at.value(), fw_read_);
  plan.base_node_ = graph.add(after, Span::device_firmware, time_of(plan.base_));
  book_ahead(plan, graph, plan.base_, plan.base_node_);
}

void Ftl::open_window(ReadPlan& plan, sc_time at, CauseGraph& graph, NodeId after) {
  plan.window_ = window_rows_;
  book_ahead(plan, graph, at.value(), after);
}

void Ftl::book_ahead(ReadPlan& plan, CauseGraph& graph, Ps issue, NodeId node) {
  const std::uint64_t allowed = plan.counted_ ? plan.window_ : std::min(plan.window_, plan.current_ + 1);
  const std::uint64_t until = plan.current_ + allowed;
  while (plan.next_ < plan.end_ && plan.booked_ < until) book_group(plan, graph, issue, node);
  if (plan.read_ahead_ && plan.next_ == plan.end_) {
    plan.read_ahead_ = false;
    read_ahead(plan, issue);
  }
}

/// How many units from `lpn` on lie one after the other in one row.
std::uint64_t Ftl::extent(Lpn lpn, std::uint64_t most) const {
  const std::uint32_t entry = l2p_.get(lpn);
  const bool mapped = entry >= L2pTable::kFirstSlot;
  const std::uint64_t unit =
      mapped ? space_.place(entry - L2pTable::kFirstSlot).unit : lpn % space_.units_per_row();
  most = std::min(most, space_.units_per_row() - unit);
  if (l2p_.untouched(lpn / kUnitsPerMapPage)) return most;  // a default row lies in one map page
  std::uint64_t n = 1;
  while (n < most && l2p_.get(lpn + n) == (mapped ? entry + n : entry)) ++n;
  return n;
}

void Ftl::book_group(ReadPlan& plan, CauseGraph& graph, Ps issue, NodeId node) {
  const Lpn lpn = plan.next_;
  Group& g = plan.group(plan.booked_);
  const std::uint64_t first_unit =
      plan.booked_ == 0 ? 0 : plan.group(plan.booked_ - 1).first_unit + plan.group(plan.booked_ - 1).units;
  g = Group{};
  g.lpn = lpn;
  g.node = node;
  if (!from_read_ahead(plan, g, issue, node)) {
    g.units = extent(lpn, plan.end_ - lpn);
    const std::uint32_t entry = l2p_.get(lpn);
    if (entry >= L2pTable::kFirstSlot && in_ram(entry - L2pTable::kFirstSlot, issue)) {
      ++counters_.cache_hits;
      g.floor = issue, g.unit_span = Span::device_buffer;
    } else {
      if (lpn / kUnitsPerMapPage != plan.map_page_) {
        plan.map_page_ = lpn / kUnitsPerMapPage;
        const Timed t = look_up(lpn, issue, graph, node);
        issue = t.at, g.node = t.node;
      }
      if (entry == L2pTable::kTrimmed) {
        ++counters_.unmapped_reads;
        g.floor = issue, g.unit_span = Span::device_buffer;
      } else {
        fetch(&plan, g, issue, g.node, graph);
      }
    }
  }
  g.first_unit = first_unit;
  plan.next_ = lpn + g.units;
  ++plan.booked_;
}

void Ftl::fetch(ReadPlan* plan, Group& g, Ps issue, NodeId node, CauseGraph& graph) {
  const std::uint32_t entry = l2p_.get(g.lpn);
  const bool mapped = entry >= L2pTable::kFirstSlot;
  const Place p = mapped ? space_.place(entry - L2pTable::kFirstSlot) : default_place(g.lpn);
  Ps sense = mapped && space_.is_slc(p.block) ? t_r_slc_ : t_r(p);
  if (!ecc_lbas_.empty()) {
    const auto bad = ecc_lbas_.lower_bound(g.lpn * kUnitBlocks);
    if (bad != ecc_lbas_.end() && *bad < (g.lpn + g.units) * kUnitBlocks) sense *= 1 + params_.ecc_retries;
  }
  const auto r = array_.read(p.die, sense, g.units * kUnitBytes, issue);
  ++counters_.rows_read;
  g.unit_ps = array_.unit_time();
  g.first = r.transfer_start + g.unit_ps;
  g.unit_span = Span::nand_channel;
  g.node = row_cause(plan, p.die, sense, r, node, graph);
}

/// What the row's transfer waited for last: its array, or an earlier transfer that held its register or its channel.
NodeId Ftl::row_cause(ReadPlan* plan, unsigned die, Ps sense, const NandArray::Read& r, NodeId node,
                      CauseGraph& graph) {
  ReadPlan::Held none, *of_die = &none, *of_channel = &none;
  if (plan) {
    plan->of_die_.resize(array_.dies());
    of_die = &plan->of_die_[die];
    for (unsigned d = 0; d < array_.dies(); ++d)
      if (array_.channel_of(d) == array_.channel_of(die) && plan->of_die_[d].end == r.transfer_start)
        of_channel = &plan->of_die_[d];
  }
  NodeId n;
  if (r.array_end > r.array_start + sense && of_die->end == r.array_end) {
    n = of_die->node;
  } else {
    n = graph.add(node, Span::nand_array, time_of(std::min(r.array_end, r.array_start + sense)));
    n = r.array_end > r.array_start + sense ? graph.add(n, Span::nand_channel, time_of(r.array_end)) : n;
  }
  if (r.transfer_start > r.array_end)
    n = of_channel->end == r.transfer_start ? of_channel->node
                                            : graph.add(n, Span::nand_channel, time_of(r.transfer_start));
  *of_die = {r.transfer_end, graph.add(n, Span::nand_channel, time_of(r.transfer_end))};
  return n;
}

bool Ftl::from_read_ahead(ReadPlan& plan, Group& g, Ps issue, NodeId node) {
  for (const Group& a : ahead_) {
    if (g.lpn < a.lpn || g.lpn >= a.lpn + a.units) continue;
    const std::uint64_t skip = g.lpn - a.lpn;
    g.units = std::min(a.units - skip, plan.end_ - g.lpn);
    g.first = a.first + skip * a.unit_ps, g.unit_ps = a.unit_ps;
    g.floor = issue;
    g.node = node;
    g.unit_span = Span::nand_array;  // only charged when the row is still on its way
    ++counters_.readahead_hits;
    return true;
  }
  return false;
}

void Ftl::read_ahead(ReadPlan& plan, Ps issue) {
  CauseGraph nobody;
  Lpn lpn = std::max(plan.end_, ahead_end_);
  const Lpn end = std::min(plan.end_ + params_.readahead_bytes / kUnitBytes, logical_units_);
  while (lpn < end) {
    const std::uint32_t entry = l2p_.get(lpn);
    const bool mapped = entry >= L2pTable::kFirstSlot;
    if (entry == L2pTable::kTrimmed || (mapped && in_ram(entry - L2pTable::kFirstSlot, issue))) break;
    Group g;
    g.lpn = lpn;
    g.units = extent(lpn, end - lpn);
    const Timed t = look_up(lpn, issue, nobody, kRootNode);
    fetch(nullptr, g, t.at, kRootNode, nobody);
    ++counters_.readahead_rows;
    ahead_.push_back(g);
    lpn += g.units;
  }
  ahead_end_ = lpn;
}

BlockReady ReadPlan::advance(std::uint64_t unit, CauseGraph& graph) {
  while (current_ < booked_ && unit >= group(current_).first_unit + group(current_).units) {
    const Ps issue = std::max<Ps>({base_, delivered_, cached_.at.value()});
    ++current_;
    if (next_ < end_ || read_ahead_)
      ftl_->book_ahead(*this, graph, issue, graph.add(cached_.why, Span::device_buffer, time_of(issue)));
  }
  if (current_ >= booked_) return {sc_core::sc_max_time(), kRootNode};
  Group& g = group(current_);
  const Ps in_buffer = std::max(g.floor, g.first + (unit - g.first_unit) * g.unit_ps);
  g.node = graph.add(g.node, g.unit_span, time_of(in_buffer));
  unit_ = unit;
  cached_.at = time_of(in_buffer + ftl_->latency_);
  cached_.why = graph.add(g.node, Span::device_buffer, cached_.at);
  return cached_;
}

}  // namespace vp
