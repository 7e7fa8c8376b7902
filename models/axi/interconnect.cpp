#include "models/axi/interconnect.hpp"

#include <algorithm>
#include <array>

namespace vp {
namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr const char* kUnmappedRule = "axi.unmapped";

std::uint64_t now_ps() { return sc_core::sc_time_stamp().value(); }
sc_time after_now(std::uint64_t ps) {
  const std::uint64_t now = now_ps();
  return from_ps(ps > now ? ps - now : 0);
}

}  // namespace

void InterconnectParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".hop_cycles", hop_cycles, "axi cycles", 0, 64, "one-way latency through the interconnect");
  r.add(at + ".decode_cycles", decode_cycles, "axi cycles", 0, 64, "default slave: address to DECERR");
  r.add(at + ".target_accepts", target_accepts, "bursts", 0, 256,
        "unfinished bursts a target accepts per direction; 0: no limit");
  r.add(at + ".arbitration", arbitration, {"round_robin", "qos"}, "who is granted when several masters ask");
}

struct AxiInterconnect::Master {
  Master(const std::string& name, unsigned q) : socket(name.c_str()), qos(q) {}
  UpSocket socket;
  unsigned qos;
  std::vector<std::unique_ptr<Lane>> lanes;  // by target
};

struct AxiInterconnect::Target {
  Target(const std::string& name, AxiAddress a, std::uint64_t s)
      : socket(name.c_str()), address(a), slices(s) {}
  DownSocket socket;
  AxiAddress address;
  std::uint64_t slices;
  std::array<Channel, 2> channels;  // 0 read, 1 write
  InterconnectCounters counters;
  std::uint64_t local(std::uint64_t system, std::uint64_t base) const {
    return address == AxiAddress::offset ? system - base : system;
  }
};

/// `lt` style: the way of one master's bursts to one target and back.
struct AxiInterconnect::Lane final : AxiTimingTarget {
  AxiInterconnect* fabric = nullptr;
  Target* target = nullptr;
  AxiTimingTarget* downstream = nullptr;
  std::uint64_t base = 0;

  void time_burst(AxiBurstTiming& burst) override {
    burst.granted_ps = fabric->take_grant(target->channels[burst.is_write], burst.issued_ps);
    fabric->reach_target(*target, burst);
    AxiBurstTiming below = burst;
    below.address = target->local(burst.address, base);
    below.issued_ps = burst.granted_ps + burst.path_ps;
    below.path_ps = 0;
    downstream->time_burst(below);
    burst.first_ps = below.first_ps;
    burst.last_ps = below.last_ps;
    burst.path_ps += below.path_ps;
    fabric->leave_target(*target, burst, below.done_ps);
  }

  bool time_train(AxiTrain& train) override {
    Channel& channel = target->channels[train.is_write];
    const std::uint64_t path = fabric->path_ps(*target), a = train.period_ps, data = train.beats * a;
    const std::uint64_t at = train.at_ps;
    if (a != fabric->period() || channel.address.until() >= at || channel.latest > at ||
        channel.data.until() >= at + path)
      return false;
    AxiTrain below = train;
    below.address = target->local(train.address, base);
    below.at_ps = at + path;
    below.path_ps += path;
    if (!downstream->time_train(below)) return false;
    const std::uint64_t end = path + below.end_ps, entry = path + (train.is_write ? 0 : below.first_ps);
    const unsigned n = train.bursts();
    const std::uint64_t last = at + below.last(), before = at + below.last_but_one();
    if (n == 1) {
      channel.address.append(at, a);
      channel.data.append(at + entry, data);
    } else {
      channel.address.append_apart(before, last, a);
      channel.data.append_apart(before + entry, last + entry, data);
    }
    if (!train.is_write) channel.data.extend(last + end);
    channel.latest = std::max(channel.latest, last + end);
    if (!channel.accepted.empty()) {
      std::uint64_t* const ends = channel.accepted.data();
      const std::size_t size = channel.accepted.size();
      std::size_t slot = channel.slot;
      train.rhythm.each([&, count = train.count, step = below.step_ps](std::uint64_t offset) {
        std::uint64_t over = at + end + offset;
        for (unsigned i = 0; i < count; ++i, over += step) {
          ends[slot] = over;
          if (++slot == size) slot = 0;
        }
      });
      channel.slot = slot;
    }
    target->counters.grants += n;
    (train.is_write ? target->counters.write_busy : target->counters.read_busy) +=
        std::uint64_t{n} * train.beats;
    train.path_ps = below.path_ps;
    train.first_ps = path + below.first_ps;
    train.end_ps = end + path;
    train.step_ps = below.step_ps;
    return true;
  }
};

AxiInterconnect::AxiInterconnect(sc_core::sc_module_name name, Context& ctx, ClockDomain& clock,
                                 const InterconnectParams& params)
    : sc_module(name), ctx_(ctx), clock_(clock), params_(params), by_qos_(params.arbitration == "qos") {
  if (!by_qos_ && params.arbitration != "round_robin")
    throw InputError(std::string(this->name()) + ".arbitration must be round_robin or qos");
  SC_METHOD(arbitrate);
  sensitive << arbitrate_event_;
  dont_initialize();
}

AxiInterconnect::~AxiInterconnect() = default;

unsigned AxiInterconnect::add_master(const std::string& master_name, unsigned qos, bool blocking_only) {
  simcontext()->hierarchy_push(this);
  masters_.push_back(std::make_unique<Master>("from_" + master_name, qos));
  simcontext()->hierarchy_pop();
  const auto index = static_cast<int>(masters_.size() - 1);
  UpSocket& s = masters_.back()->socket;
  s.register_nb_transport_fw(this, &AxiInterconnect::nb_fw, index);
  s.register_b_transport(this, &AxiInterconnect::b_transport, index);
  s.register_get_direct_mem_ptr(this, &AxiInterconnect::get_dmi, index);
  s.register_transport_dbg(this, &AxiInterconnect::transport_dbg, index);
  if (!blocking_only) ++non_blocking_masters_;
  return static_cast<unsigned>(index);
}

unsigned AxiInterconnect::add_target(const std::string& target_name, std::uint64_t base, std::uint64_t size,
                                     AxiAddress address, std::uint64_t slice_cycles) {
  simcontext()->hierarchy_push(this);
  targets_.push_back(std::make_unique<Target>("to_" + target_name, address, slice_cycles));
  simcontext()->hierarchy_pop();
  const auto index = static_cast<unsigned>(targets_.size() - 1);
  Target& t = *targets_.back();
  t.socket.register_nb_transport_bw(this, &AxiInterconnect::nb_bw, static_cast<int>(index));
  for (Channel& c : t.channels) c.accepted.assign(params_.target_accepts, 0);
  add_range(index, base, size);
  return index;
}

void AxiInterconnect::add_range(unsigned target, std::uint64_t base, std::uint64_t size) {
  for (const Range& r : ranges_)
    if (base < r.base + r.size && r.base < base + size)
      throw InputError(std::string(name()) + ": address ranges of two targets overlap");
  ranges_.push_back({base, size, target});
}

AxiInterconnect::UpSocket& AxiInterconnect::master_socket(unsigned master) {
  return masters_.at(master)->socket;
}
AxiInterconnect::DownSocket& AxiInterconnect::target_socket(unsigned target) {
  return targets_.at(target)->socket;
}
const InterconnectCounters& AxiInterconnect::target_counters(unsigned target) const {
  return targets_.at(target)->counters;
}

std::uint64_t AxiInterconnect::path_ps(const Target& target) const {
  return (params_.hop_cycles + target.slices) * period();
}

const AxiInterconnect::Range* AxiInterconnect::decode(std::uint64_t address, std::uint64_t bytes) {
  const auto inside = [&](const Range& r) { return address >= r.base && address - r.base + bytes <= r.size; };
  if (last_range_ < ranges_.size() && inside(ranges_[last_range_])) return &ranges_[last_range_];
  for (std::size_t i = 0; i < ranges_.size(); ++i)
    if (inside(ranges_[i])) {
      last_range_ = i;
      return &ranges_[i];
    }
  return nullptr;
}

void AxiInterconnect::refuse(tlm::tlm_generic_payload& trans, std::uint64_t at, unsigned master) {
  ctx_.finding(kUnmappedRule, masters_[master]->socket.name(),
               {trans.get_address(), trans.get_address() + trans.get_data_length() - 1},
               "access to unbacked address", from_ps(at));
  trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

// --- timing, shared by both styles ---

std::uint64_t AxiInterconnect::take_grant(Channel& channel, std::uint64_t at) {
  if (channel.address.take_before(at, period())) return at;
  const std::uint64_t room = channel.accepts_from();
  if (room > at) at = clock_.align(from_ps(room)).value();
  return channel.address.take(at, period());
}

/// A granted burst on its way: when its W beats pass the target's port.
void AxiInterconnect::reach_target(Target& target, AxiBurstTiming& burst) {
  burst.path_ps = path_ps(target);
  if (!burst.is_write) return;
  const std::uint64_t data = burst.beats * period();
  const std::uint64_t start = std::max(burst.granted_ps, burst.w_free_ps) + burst.path_ps;
  burst.first_ps = target.channels[1].data.take(start, data);
  burst.last_ps = burst.first_ps + data;
}

/// The target's answer (`end`: its B or last R beat) on the way back to the master.
void AxiInterconnect::leave_target(Target& target, AxiBurstTiming& burst, std::uint64_t end) {
  Channel& channel = target.channels[burst.is_write];
  if (!burst.is_write) {
    const std::uint64_t data = burst.beats * period();
    const std::uint64_t start = burst.first_ps != 0 ? burst.first_ps : end;
    burst.first_ps = channel.data.take(start, data);
    burst.last_ps = end = std::max(end, burst.first_ps + data);
  }
  channel.data.extend(burst.last_ps);
  channel.accept(end);
  burst.done_ps = end + burst.path_ps;
  target.counters.grants += burst.bursts;
  (burst.is_write ? target.counters.write_busy : target.counters.read_busy) += burst.beats;
}

// --- at style ---

tlm::tlm_sync_enum AxiInterconnect::nb_fw(int master, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                          sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;  // END_RESP: nothing is kept past BEGIN_RESP
  auto* axi = trans.get_extension<AxiExtension>();
  if (!axi) {
    trans.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
  }
  const auto index = static_cast<unsigned>(master);
  axi->master = index;
  axi->system_address = trans.get_address();
  const std::uint64_t at = clock_.align(sc_core::sc_time_stamp() + delay).value();
  const Waiting w{&trans, axi, index, decode(trans.get_address(), trans.get_data_length())};
  if (!w.range) {
    refuse(trans, at, index);
    const std::uint64_t data = axi->beats * period(), hops = 2 * params_.hop_cycles + params_.decode_cycles;
    const std::uint64_t start = trans.is_write() ? std::max<std::uint64_t>(at, axi->w_free.value()) : at;
    axi->granted = from_ps(at);
    delay = after_now(start + data + hops * period());
    return tlm::TLM_COMPLETED;
  }
  Channel& channel = targets_[w.range->target]->channels[trans.is_write()];
  if (non_blocking_masters_ <= 1) return forward(w, take_grant(channel, at), phase, delay);
  channel.waiting.push_back(w);
  schedule(std::max({at, channel.address.until(), channel.accepts_from()}));
  return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum AxiInterconnect::forward(const Waiting& w, std::uint64_t grant, tlm::tlm_phase& phase,
                                            sc_time& delay) {
  Target& target = *targets_[w.range->target];
  AxiBurstTiming burst{.address = w.axi->system_address,
                       .bytes = w.trans->get_data_length(),
                       .beats = w.axi->beats,
                       .is_write = w.trans->is_write(),
                       .issued_ps = grant,
                       .w_free_ps = w.axi->w_free.value()};
  burst.granted_ps = grant;
  reach_target(target, burst);
  w.axi->granted = from_ps(grant);
  w.axi->path = from_ps(burst.path_ps);
  w.axi->first_beat = from_ps(burst.first_ps);
  w.axi->last_beat = from_ps(burst.last_ps);
  w.trans->set_address(target.local(burst.address, w.range->base));
  phase = tlm::BEGIN_REQ;
  delay = after_now(grant + burst.path_ps);
  const tlm::tlm_sync_enum answer = target.socket->nb_transport_fw(*w.trans, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
    const std::uint64_t end = now_ps() + delay.value();
    if (answer == tlm::TLM_UPDATED) {
      tlm::tlm_phase last = tlm::END_RESP;
      sc_time when = delay;
      target.socket->nb_transport_fw(*w.trans, last, when);
    }
    burst.first_ps = w.axi->first_beat.value();
    burst.last_ps = w.axi->last_beat.value();
    leave_target(target, burst, end);
    w.axi->first_beat = from_ps(burst.first_ps);
    w.axi->last_beat = from_ps(burst.last_ps);
    w.trans->set_address(burst.address);
    delay = after_now(burst.done_ps);
    return tlm::TLM_COMPLETED;
  }
  phase = tlm::END_REQ;  // granted; the target answers later through nb_bw
  delay = after_now(grant);
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum AxiInterconnect::nb_bw(int index, tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                          sc_time& delay) {
  if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
  Target& target = *targets_[static_cast<std::size_t>(index)];
  auto* axi = trans.get_extension<AxiExtension>();
  AxiBurstTiming burst{.address = axi->system_address,
                       .bytes = trans.get_data_length(),
                       .beats = axi->beats,
                       .is_write = trans.is_write()};
  burst.path_ps = axi->path.value();
  burst.first_ps = axi->first_beat.value();
  burst.last_ps = axi->last_beat.value();
  leave_target(target, burst, clock_.align(sc_core::sc_time_stamp() + delay).value());
  axi->first_beat = from_ps(burst.first_ps);
  axi->last_beat = from_ps(burst.last_ps);
  trans.set_address(burst.address);
  delay = after_now(burst.done_ps);
  masters_[axi->master]->socket->nb_transport_bw(trans, phase, delay);
  return tlm::TLM_COMPLETED;
}

void AxiInterconnect::schedule(std::uint64_t at) {
  if (at >= arbitrate_at_) return;
  arbitrate_at_ = at;
  // Who asks at an edge is a matter of the edge, not of delta cycles: a master that was told ahead asks in the edge's
  // first one, one whose client is called there in the second or third.
  const std::uint64_t now = now_ps();
  look_again_ = kLookAgain;
  arbitrate_event_.notify(at > now ? from_ps(at - now) : sc_core::SC_ZERO_TIME);
}

/// Round-robin: the next master index after the last one served; qos: the highest AxQOS (the master's own or
/// the burst's), round-robin among equals.
std::size_t AxiInterconnect::choose(const Channel& channel) const {
  const auto count = static_cast<unsigned>(masters_.size());
  const auto distance = [&](const Waiting& w) {
    return (w.master + count - channel.last_master - 1) % count;
  };
  const auto level = [&](const Waiting& w) {
    return by_qos_ ? std::max<unsigned>(w.axi->qos, masters_[w.master]->qos) : 0U;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < channel.waiting.size(); ++i) {
    const Waiting &a = channel.waiting[i], &b = channel.waiting[best];
    if (level(a) > level(b) || (level(a) == level(b) && distance(a) < distance(b))) best = i;
  }
  return best;
}

void AxiInterconnect::arbitrate() {
  if (look_again_ > 0) {
    --look_again_;
    return arbitrate_event_.notify(sc_core::SC_ZERO_TIME);
  }
  const std::uint64_t now = now_ps();
  arbitrate_at_ = kNever;
  std::uint64_t next = kNever;
  for (auto& target : targets_)
    for (Channel& channel : target->channels) {
      if (channel.waiting.empty()) continue;
      if (std::max(channel.address.until(), channel.accepts_from()) <= now) {
        const std::size_t i = choose(channel);
        const Waiting w = channel.waiting[i];
        channel.waiting.erase(channel.waiting.begin() + static_cast<std::ptrdiff_t>(i));
        channel.last_master = w.master;
        channel.address.take(now, period());
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_time delay;
        if (forward(w, now, phase, delay) == tlm::TLM_COMPLETED) phase = tlm::BEGIN_RESP;
        masters_[w.master]->socket->nb_transport_bw(*w.trans, phase, delay);
      }
      if (!channel.waiting.empty())
        next = std::min(next, std::max({now, channel.address.until(), channel.accepts_from()}));
    }
  if (next != kNever) schedule(clock_.align(from_ps(next)).value());
}

// --- blocking ---

void AxiInterconnect::b_transport(int master, tlm::tlm_generic_payload& trans, sc_time& delay) {
  const auto index = static_cast<unsigned>(master);
  const std::uint64_t address = trans.get_address();
  const Range* range = decode(address, trans.get_data_length());
  auto* axi = trans.get_extension<AxiExtension>();
  const bool pieces = axi && !axi->pieces.empty();
  if (!range) {
    // A refused run is tried again burst by burst: only those accesses are findings.
    if (pieces) return trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    refuse(trans, now_ps() + delay.value(), index);
    delay += clock_.cycles(2 * params_.hop_cycles + params_.decode_cycles);
    return;
  }
  Target& target = *targets_[range->target];
  if (axi) axi->master = index;
  trans.set_address(target.local(address, range->base));
  const sc_time hops = from_ps(path_ps(target));
  if (!pieces) delay += hops;
  target.socket->b_transport(trans, delay);
  delay += hops;
  if (pieces) delay += hops;
  trans.set_address(address);
  if (!pieces || !axi->timing) return;
  axi->timing = lane(index, *range, axi->timing);
}

AxiTimingTarget* AxiInterconnect::lane(unsigned master, const Range& range, AxiTimingTarget* downstream) {
  auto& lanes = masters_[master]->lanes;
  lanes.resize(targets_.size());
  auto& lane = lanes[range.target];
  if (!lane) lane = std::make_unique<Lane>();
  lane->fabric = this;
  lane->target = targets_[range.target].get();
  lane->downstream = downstream;
  lane->base = range.base;
  return lane.get();
}

/// A lane may be kept beyond its transaction when its addresses always count from the same base.
bool AxiInterconnect::fixed_base(unsigned target) const {
  if (targets_[target]->address == AxiAddress::absolute) return true;
  return std::count_if(ranges_.begin(), ranges_.end(), [&](const Range& r) { return r.target == target; }) ==
         1;
}

bool AxiInterconnect::get_dmi(int master, tlm::tlm_generic_payload& trans, tlm::tlm_dmi& dmi) {
  const std::uint64_t address = trans.get_address();
  const Range* range = decode(address, 1);
  if (!range) return false;
  Target& target = *targets_[range->target];
  const std::uint64_t shift = address - target.local(address, range->base);
  trans.set_address(address - shift);
  const bool granted = target.socket->get_direct_mem_ptr(trans, dmi);
  trans.set_address(address);
  dmi.set_start_address(dmi.get_start_address() + shift);
  dmi.set_end_address(std::min<std::uint64_t>(dmi.get_end_address() + shift, range->base + range->size - 1));
  if (auto* axi = trans.get_extension<AxiExtension>(); granted && axi && axi->timing)
    axi->timing =
        fixed_base(range->target) ? lane(static_cast<unsigned>(master), *range, axi->timing) : nullptr;
  return granted;
}

unsigned AxiInterconnect::transport_dbg(int, tlm::tlm_generic_payload& trans) {
  const std::uint64_t address = trans.get_address();
  const Range* range = decode(address, trans.get_data_length());
  if (!range) return 0;
  Target& target = *targets_[range->target];
  trans.set_address(target.local(address, range->base));
  const unsigned moved = target.socket->transport_dbg(trans);
  trans.set_address(address);
  return moved;
}

}  // namespace vp
