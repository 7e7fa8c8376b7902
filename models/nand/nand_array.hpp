// NAND dies and channels as reserved resources: every operation is booked when it is asked for and its times
// are known at once; there are no events.
//
// Modelled: t_R, t_PROG, t_BERS per die; page registers (with cache read and cache program the array works
// while the register is on the channel); multi-plane operations (one array time for the pages of one row,
// transfers one after the other); channels that carry one transfer at a time. A die serves requests in order.
// A channel serves them in order too, except that a transfer may use a gap left before one booked further
// ahead (ONFI: the bus is free during t_PROG). Not modelled: command and address cycles, suspend, wear.
#pragma once

#include <string>
#include <vector>

#include "models/core/context.hpp"
#include "models/nand/nand_params.hpp"

namespace vp {

/// A resource with booked intervals; adjacent ones are merged so that the list stays short.
class Calendar {
 public:
  /// Books `duration` in the first gap at or after `at`; returns its start.
  Ps reserve(Ps at, Ps duration);
  /// Forgets what ended before `now`: nothing will be asked for earlier.
  void forget(Ps now);
  std::size_t booked() const { return list_.size(); }

 private:
  struct Interval {
    Ps from, to;
  };
  std::vector<Interval> list_;  // ascending, not touching
};

class NandArray {
 public:
  NandArray(Context& context, const NandParams& params);

  struct Read {
    Ps array_start, array_end, transfer_start, transfer_end;
  };
  struct Program {
    Ps transfer_start, transfer_end, array_start, array_end;
  };

  /// One row of one die: t_R, then `bytes` over the channel.
  Read read(unsigned die, Ps t_r, std::uint64_t bytes, Ps at);
  Program program(unsigned die, Ps t_prog, std::uint64_t bytes, Ps at);
  /// Returns the end.
  Ps erase(unsigned die, Ps at);

  /// `bytes` over a channel. Whole multiples of 4 KiB take whole multiples of one 4 KiB transfer.
  Ps transfer_time(std::uint64_t bytes) const;
  Ps unit_time() const { return unit_ps_; }
  /// Tells the calendars that nothing will be asked for before `now`.
  void forget(Ps now);
  /// When the last booked operation of any die ends.
  Ps idle_from() const;

  unsigned dies() const { return static_cast<unsigned>(dies_.size()); }
  unsigned channel_of(unsigned die) const { return die % static_cast<unsigned>(channels_.size()); }
  Ps array_free(unsigned die) const { return dies_[die].array_free; }

  struct DieUse {
    Ps read = 0, program = 0, erase = 0;
    Ps busy() const { return read + program + erase; }
  };
  const DieUse& die_use(unsigned die) const { return dies_[die].use; }
  Ps channel_use(unsigned channel) const { return channels_[channel].use; }

 private:
  struct Die {
    Ps array_free = 0;     // the array takes its next operation
    Ps register_free = 0;  // the register can be loaded
    DieUse use;
    SignalId state = 0;
  };
  struct Channel {
    Calendar calendar;
    Ps use = 0;
    SignalId busy = 0;
  };

  Ps book_channel(unsigned die, Ps at, Ps duration);
  void show(const Die& die, const char* what, Ps from, Ps to);

  Context& context_;
  bool cache_ops_;
  Ps t_bers_;
  double ps_per_byte_;
  Ps unit_ps_;
  std::vector<Die> dies_;  // die d is on channel d mod channels
  std::vector<Channel> channels_;
};

}  // namespace vp
