// AXI interconnect: address decode, arbitration, per-hop latency, default slave (ARM IHI 0022).
// Modelled: separate AR/R and AW/W/B channels; per target and per direction one address grant per A
// (round-robin or by AxQOS), a limited number of accepted bursts, one data beat per A at each target port;
// register slices; DECERR. Not modelled: data width conversion (a beat is a beat on both sides), B channel
// occupancy, read reordering by ID. Timing: formulas at the top of master_port.cpp. A burst is granted at g,
// reaches its target hop_cycles + slices later and comes back by as many. With one non-blocking master there
// is nothing to arbitrate: grants are computed, not waited for. Unmapped: the default slave answers
// `decode_cycles` after the address (read) or the last beat (write). b_transport: with pieces (`lt` data
// path) it moves data and hands out an AxiTimingTarget; without (MMIO) it adds the request hops before and
// the response hops after the target's own delay.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/axi/axi_extension.hpp"
#include "models/axi/reservation.hpp"
#include "models/core/context.hpp"
#include "models/core/params.hpp"

namespace vp {

struct InterconnectParams {
  std::uint64_t hop_cycles = 1;     ///< A, one way (contract: 1 A per hop)
  std::uint64_t decode_cycles = 1;  ///< A, the default slave's answer (choice)
  std::uint64_t target_accepts =
      16;  ///< unfinished bursts a target accepts per direction; 0: no limit (choice)
  std::string arbitration = "round_robin";
  void declare(ParamRegistry& r, const std::string& at);
};

/// What a target sees in the address of a transaction.
enum class AxiAddress : std::uint8_t { offset, absolute };

struct InterconnectCounters {
  std::uint64_t grants = 0, read_busy = 0, write_busy = 0;  ///< busy: data beats at the target's port, in A
};

class AxiInterconnect : public sc_core::sc_module {
 public:
  using UpSocket = tlm_utils::simple_target_socket_tagged<AxiInterconnect>;
  using DownSocket = tlm_utils::simple_initiator_socket_tagged<AxiInterconnect>;

  AxiInterconnect(sc_core::sc_module_name name, Context& ctx, ClockDomain& clock,
                  const InterconnectParams& params);
  ~AxiInterconnect() override;

  /// Before elaboration ends. `blocking_only`: never calls nb_transport_fw (a CPU), so it needs no
  /// arbitration.
  unsigned add_master(const std::string& name, unsigned qos = 0, bool blocking_only = false);
  UpSocket& master_socket(unsigned master);

  /// Maps [base, base + size). `slice_cycles`: register slices on the way, in A, each way.
  unsigned add_target(const std::string& name, std::uint64_t base, std::uint64_t size,
                      AxiAddress address = AxiAddress::offset, std::uint64_t slice_cycles = 0);
  /// A further range of the same target (its offset counts from this range's base). Ranges must not overlap.
  void add_range(unsigned target, std::uint64_t base, std::uint64_t size);
  DownSocket& target_socket(unsigned target);

  const InterconnectCounters& target_counters(unsigned target) const;

 private:
  SC_HAS_PROCESS(AxiInterconnect);
  struct Master;
  struct Target;
  struct Lane;
  struct Range {
    std::uint64_t base, size;
    unsigned target;
  };
  struct Waiting {
    tlm::tlm_generic_payload* trans;
    AxiExtension* axi;
    unsigned master;
    const Range* range;
  };
  /// AR/R or AW/W of one target.
  struct Channel {
    std::vector<Waiting> waiting;
    unsigned last_master = ~0U;
    Reservation address, data;
    std::vector<std::uint64_t> accepted;  // ends at the target of the last `target_accepts` bursts
    std::size_t slot = 0;                 // the oldest of them
    std::uint64_t latest = 0;             // the latest end there

    void accept(std::uint64_t end) {
      latest = std::max(latest, end);
      if (accepted.empty()) return;
      accepted[slot] = end;
      if (++slot == accepted.size()) slot = 0;
    }

    std::uint64_t accepts_from() const { return accepted.empty() ? 0 : accepted[slot]; }
  };

  tlm::tlm_sync_enum nb_fw(int master, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                           sc_time& delay);
  tlm::tlm_sync_enum nb_bw(int target, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                           sc_time& delay);
  void b_transport(int master, tlm::tlm_generic_payload& trans, sc_time& delay);
  AxiTimingTarget* lane(unsigned master, const Range& range, AxiTimingTarget* downstream);
  bool fixed_base(unsigned target) const;
  bool get_dmi(int master, tlm::tlm_generic_payload& trans, tlm::tlm_dmi& dmi);
  unsigned transport_dbg(int master, tlm::tlm_generic_payload& trans);

  void arbitrate();
  void schedule(std::uint64_t at);
  std::size_t choose(const Channel& channel) const;

  const Range* decode(std::uint64_t address, std::uint64_t bytes);
  void refuse(tlm::tlm_generic_payload& trans, std::uint64_t at, unsigned master);
  tlm::tlm_sync_enum forward(const Waiting& w, std::uint64_t grant, tlm::tlm_phase& phase, sc_time& delay);
  std::uint64_t take_grant(Channel& channel, std::uint64_t at);
  void reach_target(Target& target, AxiBurstTiming& burst);
  void leave_target(Target& target, AxiBurstTiming& burst, std::uint64_t end);
  std::uint64_t path_ps(const Target& target) const;
  std::uint64_t period() const { return clock_.period().value(); }

  Context& ctx_;
  ClockDomain& clock_;
  InterconnectParams params_;
  bool by_qos_;
  std::vector<std::unique_ptr<Master>> masters_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<Range> ranges_;
  std::size_t last_range_ = 0;
  sc_core::sc_event arbitrate_event_;
  std::uint64_t arbitrate_at_ = ~std::uint64_t{0};
  static constexpr unsigned kLookAgain = 2;
  unsigned look_again_ = 0;  // delta cycles until everybody who asks at this edge has been heard
  unsigned non_blocking_masters_ = 0;
};

}  // namespace vp
