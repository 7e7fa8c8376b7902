// Error recovery of the queue: the steps and limits of Linux. Halt the engine (what completes till then has
// completed), reset the lines, CMD12, CMD13 until not busy, CMD48, clear and restart the engine; then each
// request that was out is sent again, or fails when it is to blame for the second time. At least one request
// is blamed each time, so this ends.
#include <bit>

#include "firmware/block/cqe_disk.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kMaxAttempts = 2;
unsigned lowest(std::uint32_t tags) { return static_cast<unsigned>(std::countr_zero(tags)); }
}  // namespace

void CqeDisk::recover() {
  recovering_ = true;
  ++recoveries_;
  report(blame());
  engine_->halt_for_recovery();
  collect();
  const bool usable = reset_queue();
  engine_lost_ = false;
  settle(usable);
  recovering_ = false;
  resume();
}

/// Marks the tasks the engine names; the first one out when it names none. Returns a blamed tag, 32 for none.
std::uint32_t CqeDisk::blame() {
  std::uint32_t blamed = 0;
  for (std::uint32_t tags = outstanding_; tags; tags &= tags - 1)
    if (slots_[lowest(tags)].error != MmcError::none) blamed |= 1u << lowest(tags);
  const MmcError error = engine_->failed() ? engine_->error().error : MmcError::line_busy;
  std::uint32_t named = engine_->failed() ? engine_->error().tasks & outstanding_ : 0;
  if (!(named | blamed) && outstanding_) named = outstanding_ & -outstanding_;
  for (std::uint32_t tags = named; tags; tags &= tags - 1) slots_[lowest(tags)].error = error;
  blamed |= named;
  return blamed ? lowest(blamed) : kSlots;
}

/// driver_error: id = request slot, a = SDHCI interrupt status (0: a timeout), c = CQIS << 32 | CQTERRI after
/// an error, CQTDBR << 32 | CQTCN after a timeout.
void CqeDisk::report(std::uint32_t blamed) const {
  const std::uint32_t slot = blamed < kSlots ? slots_[blamed].request->slot : 0;
  const CqError& e = engine_->error();
  if (engine_->failed())
    hal::event(hal::Event::driver_error, slot, e.int_status, recoveries_,
               std::uint64_t{e.events} << 32 | e.info);
  else
    hal::event(hal::Event::driver_error, slot, 0, recoveries_, engine_->snapshot());
}

/// Empties the queue on both sides. False when the card keeps tasks or the engine does not come back.
bool CqeDisk::reset_queue() {
  host_->cqe_leave();
  host_->reset_lines();
  bool discarded = card_->abort_queue();
  const bool cleared = engine_->clear();
  if (!discarded) discarded = card_->discard_queue();
  queue_unclean_ = !discarded;
  return engine_->restart() && cleared && discarded;
}

void CqeDisk::settle(bool usable) {
  for (std::uint32_t tags = outstanding_ | held_; tags; tags &= tags - 1) {
    const unsigned t = lowest(tags);
    Slot& s = slots_[t];
    const MmcError error = s.error;
    if (!usable) {
      end(t, error != MmcError::none ? error : MmcError::not_ready);
    } else if (error != MmcError::none && ++s.request->attempts >= kMaxAttempts) {
      end(t, error);
    } else {
      s.error = MmcError::none;  // it may wait through another recovery before its doorbell rings again
      held_ |= 1u << t;
    }
  }
  outstanding_ = 0;
  next_deadline_ns_ = ~std::uint64_t{0};
}

/// Sends what waited. Descriptors are written anew: the old ones may be what the engine choked on.
void CqeDisk::resume() {
  for (std::uint32_t tags = held_; tags; tags &= tags - 1) {
    const std::uint32_t bit = tags & -tags;
    held_ &= ~bit;
    submit(lowest(bit));  // back in held_ when the engine has failed again
  }
}

}  // namespace fw
