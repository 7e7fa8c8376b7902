#include "models/nand/nand_array.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vp {

Ps Calendar::reserve(Ps at, Ps duration) {
  std::size_t i = list_.size();
  while (i > 0 && list_[i - 1].to > at) --i;  // the first interval that ends after `at`
  Ps start = at;
  while (i < list_.size() && list_[i].from < start + duration) start = std::max(start, list_[i++].to);
  const Ps end = start + duration;
  const bool joins_left = i > 0 && list_[i - 1].to == start;
  const bool joins_right = i < list_.size() && list_[i].from == end;
  if (joins_left && joins_right) {
    list_[i - 1].to = list_[i].to;
    list_.erase(list_.begin() + static_cast<std::ptrdiff_t>(i));
  } else if (joins_left) {
    list_[i - 1].to = end;
  } else if (joins_right) {
    list_[i].from = start;
  } else {
    list_.insert(list_.begin() + static_cast<std::ptrdiff_t>(i), {start, end});
  }
  return start;
}

void Calendar::forget(Ps now) {
  std::size_t n = 0;
  while (n < list_.size() && list_[n].to <= now) ++n;
  if (n > 0) list_.erase(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(n));
}

NandArray::NandArray(Context& context, const NandParams& params)
    : context_(context),
      cache_ops_(params.cache_ops),
      t_bers_(NandParams::us(params.t_bers_us)),
      ps_per_byte_(1e6 / params.channel_mb_per_s),
      unit_ps_(static_cast<Ps>(std::llround(4096 * ps_per_byte_))),
      dies_(params.all_dies()),
      channels_(params.channels) {
  for (unsigned c = 0; c < channels_.size(); ++c)
    channels_[c].busy = context_.trace.add_vector(fmt::format("nand.ch{}.busy", c), 1);
  for (unsigned d = 0; d < dies_.size(); ++d)
    dies_[d].state = context_.trace.add_state(
        fmt::format("nand.ch{}.die{}.state", channel_of(d), d / channels_.size()), "idle");
}

Ps NandArray::transfer_time(std::uint64_t bytes) const {
  if (bytes % 4096 == 0) return bytes / 4096 * unit_ps_;
  return static_cast<Ps>(std::llround(static_cast<double>(bytes) * ps_per_byte_));
}

Ps NandArray::book_channel(unsigned die, Ps at, Ps duration) {
  Channel& channel = channels_[channel_of(die)];
  const Ps start = channel.calendar.reserve(at, duration);
  channel.use += duration;
  if (context_.trace.on()) {
    context_.trace.change(channel.busy, from_ps(start), 1);
    context_.trace.change(channel.busy, from_ps(start + duration), 0);
  }
  return start;
}

void NandArray::show(const Die& die, const char* what, Ps from, Ps to) {
  if (!context_.trace.on()) return;
  context_.trace.change_state(die.state, from_ps(from), what);
  context_.trace.change_state(die.state, from_ps(to), "idle");
}

NandArray::Read NandArray::read(unsigned d, Ps t_r, std::uint64_t bytes, Ps at) {
  Die& die = dies_[d];
  Read r;
  r.array_start = std::max(at, cache_ops_ ? die.array_free : std::max(die.array_free, die.register_free));
  r.array_end = std::max(r.array_start + t_r, die.register_free);
  const Ps duration = transfer_time(bytes);
  r.transfer_start = book_channel(d, r.array_end, duration);
  r.transfer_end = r.transfer_start + duration;
  die.array_free = r.array_end;
  die.register_free = r.transfer_end;
  die.use.read += t_r;
  show(die, "read", r.array_start, r.array_end);
  return r;
}

NandArray::Program NandArray::program(unsigned d, Ps t_prog, std::uint64_t bytes, Ps at) {
  Die& die = dies_[d];
  Program p;
  const Ps loadable = cache_ops_ ? die.register_free : std::max(die.array_free, die.register_free);
  const Ps duration = transfer_time(bytes);
  p.transfer_start = book_channel(d, std::max(at, loadable), duration);
  p.transfer_end = p.transfer_start + duration;
  p.array_start = std::max(p.transfer_end, die.array_free);
  p.array_end = p.array_start + t_prog;
  die.register_free = p.array_start;
  die.array_free = p.array_end;
  die.use.program += t_prog;
  show(die, "program", p.array_start, p.array_end);
  return p;
}

Ps NandArray::erase(unsigned d, Ps at) {
  Die& die = dies_[d];
  const Ps start = std::max(at, die.array_free);
  die.array_free = start + t_bers_;
  die.use.erase += t_bers_;
  show(die, "erase", start, die.array_free);
  return die.array_free;
}

void NandArray::forget(Ps now) {
  for (Channel& c : channels_) c.calendar.forget(now);
}

Ps NandArray::idle_from() const {
  Ps t = 0;
  for (const Die& d : dies_) t = std::max({t, d.array_free, d.register_free});
  return t;
}

}  // namespace vp
