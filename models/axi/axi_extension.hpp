// AXI attributes carried on a generic payload (ARM IHI 0022 naming). One transaction is one burst in `at`
// style; in `lt` style it is a run of bursts with the same attributes.
#pragma once

#include <cstdint>
#include <span>
#include <systemc>
#include <tlm>

#include "models/core/clock.hpp"

namespace vp {

enum class AxiBurst : std::uint8_t { fixed, incr, wrap };

/// One piece of an `lt` run: a part that becomes ready on its own (a block arriving in a FIFO).
struct LtPiece {
  std::uint32_t bytes = 0;
  sc_time ready;  ///< in: not before this instant
  sc_time left;   ///< out: last W beat left the master (writes) or last R beat arrived (reads)
  sc_time done;   ///< out: B response (writes) or last R beat (reads) at the master
};

/// The timing of one burst, without its data. Instants are absolute; `at` and `lt` style share this
/// arithmetic.
struct AxiBurstTiming {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t beats = 1;
  unsigned bursts = 1;  ///< in: on the bus; more than 1 when a stream of them is timed as one
  bool is_write = false;
  std::uint64_t issued_ps = 0;  ///< in: address valid at the asking port
  std::uint64_t w_free_ps = 0;  ///< in, writes: the asking port's W channel is free from here
  std::uint64_t first_ps = 0;   ///< at the target's port: first beat starts (in for writes at the target)
  std::uint64_t last_ps = 0;  ///< at the target's port: last beat ends (in for writes; later = back-pressure)
  std::uint64_t granted_ps = 0;  ///< out: address accepted
  std::uint64_t path_ps = 0;     ///< out: one-way latency between the asking port and the target
  std::uint64_t done_ps = 0;     ///< out: B or last R beat at the asking port
};

/// When groups of equal pieces are ready: `groups` of them `group_ps` apart, and that `rounds` times, `round_ps` apart (a
/// block's quanta, block after block).
struct AxiRhythm {
  unsigned groups = 1;
  std::uint64_t group_ps = 0;
  unsigned rounds = 1;
  std::uint64_t round_ps = 0;
  std::uint64_t over_ps = ~std::uint64_t{0};  ///< a piece has to be over so long after it was ready

  unsigned pieces() const { return groups * rounds; }
  /// From the first piece to the last.
  std::uint64_t span() const { return (rounds - 1) * round_ps + (groups - 1) * group_ps; }
  template <typename Visit>
  void each(Visit visit) const {
    for (unsigned r = 0; r < rounds; ++r)
      for (unsigned g = 0; g < groups; ++g) visit(r * round_ps + g * group_ps);
  }
};

/// Equal bursts on consecutive addresses of a master that keeps one unfinished: in a group each is issued when the one
/// before is done, `step_ps` apart; the groups begin in `rhythm`, each when the one before is over.
struct AxiTrain {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0, beats = 1;  ///< of one burst; its beats are whole
  unsigned count = 1;                  ///< bursts in a group
  AxiRhythm rhythm;
  bool is_write = false;
  std::uint64_t at_ps = 0;      ///< in: the first one's address at the asking port, on an edge
  std::uint64_t period_ps = 0;  ///< in: A
  std::uint64_t path_ps = 0;    ///< in: one way above the answering port; out: all of it
  std::uint64_t first_ps = 0;   ///< out, reads: issue to first R beat at the target
  std::uint64_t end_ps = 0;     ///< out: issue to B or last R beat at the asking port
  std::uint64_t step_ps = 0;    ///< out

  unsigned bursts() const { return count * rhythm.pieces(); }
  AxiTrain of_one_round() const {
    AxiTrain one = *this;
    one.rhythm.rounds = 1;
    return one;
  }
  /// Once `step_ps` is known: issue of the last burst and of the one before it, after `at_ps`.
  std::uint64_t last() const { return rhythm.span() + (count - 1) * step_ps; }
  std::uint64_t last_but_one() const {
    if (count > 1) return last() - step_ps;
    const std::uint64_t back = rhythm.groups > 1 ? rhythm.group_ps : rhythm.rounds > 1 ? rhythm.round_ps : 0;
    return last() - back;
  }
  /// Once `step_ps` and `end_ps` are known: is every group over in time, and before the next begins?
  bool apart() const {
    const std::uint64_t group = (count - 1) * step_ps + end_ps + path_ps;
    const std::uint64_t round = (rhythm.groups - 1) * rhythm.group_ps + group;
    return group + path_ps <= rhythm.over_ps && (rhythm.groups == 1 || rhythm.group_ps > group) &&
           (rhythm.rounds == 1 || rhythm.round_ps > round);
  }
};

/// Answers when a burst ends and reserves what it uses. Handed to a master in `lt` style by the b_transport
/// that moved the data, as DMI hands out memory: times then need no further transactions.
class AxiTimingTarget {
 public:
  virtual ~AxiTimingTarget() = default;
  virtual void time_burst(AxiBurstTiming& burst) = 0;
  /// Times and reserves a whole train in closed form, exactly as `count` calls of time_burst() would. False: something
  /// else is in its way; nothing has been reserved, ask burst by burst.
  virtual bool time_train(AxiTrain&) { return false; }
};

struct AxiExtension : tlm::tlm_extension<AxiExtension> {
  std::uint32_t id = 0;
  std::uint32_t beats = 1;       ///< AxLEN + 1, 1..256
  std::uint32_t beat_bytes = 8;  ///< 1 << AxSIZE
  AxiBurst burst = AxiBurst::incr;
  std::uint8_t qos = 0;
  std::uint8_t cache = 0;
  std::uint8_t prot = 0;
  unsigned master = 0;  ///< index of the master at the interconnect, set there

  // Timing handed back along the path, absolute.
  sc_time first_beat;         ///< first R beat at the target's port
  sc_time last_beat;          ///< last R or W beat at the target's port
  std::span<LtPiece> pieces;  ///< `lt` only: the target moves the data, adds no delay and fills `timing`
  sc_time w_free;             ///< in, writes: the master's W channel is free from this instant
  std::uint64_t system_address = 0;  ///< as the master sent it, set at the interconnect
  sc_time granted;                   ///< out: address accepted by the interconnect
  sc_time path;                      ///< out: one-way latency from the master to the target
  /// `lt` only, out: when the bursts of this transaction happen; of get_direct_mem_ptr: of those to its region.
  AxiTimingTarget* timing = nullptr;

  tlm_extension_base* clone() const override { return new AxiExtension(*this); }
  void copy_from(const tlm_extension_base& other) override {
    *this = static_cast<const AxiExtension&>(other);
  }
};

}  // namespace vp
