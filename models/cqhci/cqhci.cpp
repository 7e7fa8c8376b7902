// CQHCI: construction, interrupts, coalescing.
#include "models/cqhci/cqhci.hpp"

#include <cmath>

namespace vp {

using namespace cqhci;
using sc_core::sc_time_stamp;

namespace {

/// CQCAP's timer fields for a frequency: the largest unit that divides it, else the smallest that holds it.
std::uint32_t timer_fields(double hz) {
  constexpr double kUnits[] = {1e3, 1e4, 1e5, 1e6, 1e7};
  for (unsigned mul = 5; mul-- > 0;) {
    const double n = hz / kUnits[mul];
    if (n >= 1 && n <= 1023 && n == std::floor(n)) return mul << 12 | static_cast<std::uint32_t>(n);
  }
  for (unsigned mul = 0; mul < 5; ++mul)
    if (hz / kUnits[mul] <= 1023)
      return mul << 12 | static_cast<std::uint32_t>(std::lround(hz / kUnits[mul]));
  return 4u << 12 | 1023;
}

}  // namespace

void CqhciParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".version", version, "", 0, 0xFFF, "CQVER, BCD");
  r.add(at + ".reported_timer_hz", reported_timer_hz, "Hz", 0, 10'230'000'000,
        "timer frequency CQCAP reports; 0: the true one");
  r.add(at + ".reset_cit", reset_cit, "timer clocks", 0, 0xFFFF, "CQSSC1.CIT at reset");
  r.add(at + ".reset_cbc", reset_cbc, "blocks", 0, 15, "CQSSC1.CBC at reset");
  r.add(at + ".crypto_slots", crypto_slots, "", 0, 255, "inline encryption key slots; 0: no encryption");
  r.add(at + ".cqetmclk_hz", cqetmclk_hz, "Hz", 1e3, 1e9, "timer clock of status queries and coalescing");
  r.add(at + ".issue_cycles", issue_cycles, "core cycles", 0, 1000, "engine's decision to command start");
  r.add(at + ".clear_cycles", clear_cycles, "core cycles", 1, 1000000, "clear request to task cleared");
  r.add(at + ".short_transfer_descriptors", short_transfer_descriptors,
        "with 64-bit addressing transfer descriptors are 12 bytes, not 16");
  r.add(at + ".task_fetch_ahead", task_fetch_ahead, "slots", 0, 31,
        "slots fetched ahead of the one being queued");
  r.add(at + ".transfer_prefetch", transfer_prefetch, {"execute", "ready", "doorbell"},
        "when the first transfer descriptors of a task are fetched");
  r.add(at + ".transfer_prefetch_depth", transfer_prefetch_depth, "descriptors", 1, 16,
        "transfer descriptors of that first fetch (not at execute)");
  r.add(at + ".check_descriptors", check_descriptors, "compare descriptors with memory at completion");
  r.add(at + ".latch_sdhci_status", latch_sdhci_status,
        "erratum: engine commands also latch Command Complete and Transfer Complete");
}

Cqhci::Cqhci(sc_core::sc_module_name name, Context& ctx, Sdhci& host, const CqhciParams& params)
    : sc_module(name),
      ctx_(ctx),
      params_(params),
      host_(host),
      core_(host.core_clock()),
      bus_(host.bus()),
      data_(host.data_engine()),
      timer_("cqetmclk", params.cqetmclk_hz),
      bank_(ctx, this->name(), kRegs, kWindowBytes) {
  SC_METHOD(on_action);
  sensitive << action_event_;
  dont_initialize();
  SC_METHOD(on_wake);
  sensitive << wake_event_;
  dont_initialize();
  SC_METHOD(on_cbc);
  sensitive << cbc_event_;
  dont_initialize();
  SC_METHOD(on_complete);
  sensitive << complete_event_;
  dont_initialize();
  SC_METHOD(on_coalescing_timer);
  sensitive << coalesce_event_;
  dont_initialize();
  SC_METHOD(on_clear);
  sensitive << clear_event_;
  dont_initialize();
  const double reported =
      params.reported_timer_hz ? static_cast<double>(params.reported_timer_hz) : params.cqetmclk_hz;
  bank_.set_reset(reg_offset(kRegs, "CQVER"), params.version);
  bank_.set_reset(reg_offset(kRegs, "CQCAP"),
                  timer_fields(reported) | (params.crypto_slots ? field_mask(kRegs, "CQCAP", "CRYPTO") : 0));
  bank_.set_reset(reg_offset(kRegs, "CCAP"), params.crypto_slots ? params.crypto_slots - 1 : 0);
  bank_.set_reset(reg_offset(kRegs, "CQSSC1"), params.reset_cbc << 16 | params.reset_cit);
  hook_registers();
  hook_interrupt_registers();
  waiting_.reserve(kSlots);
  completions_.reserve(kSlots);
  t_doorbell_ = ctx_.trace.add_vector("cqhci.doorbell", 32);
  t_pending_ = ctx_.trace.add_vector("cqhci.pending", 32);
  t_qsr_ = ctx_.trace.add_vector("cqhci.qsr", 32);
  t_tag_ = ctx_.trace.add_vector("cqhci.running_tag", 6, kSlots);
  t_state_ = ctx_.trace.add_state("cqhci.state", "off");
  data_.on_fetched([this](bool ok) { fetched(ok); });
  host_.attach(*this);
}

// --- interrupts ---

void Cqhci::raise(std::uint32_t bits) {
  bank_.set_bits(reg_offset(kRegs, "CQIS"), bits & reg(reg_offset(kRegs, "CQISTE")));
  update_interrupt();
}

void Cqhci::update_interrupt() {
  const bool level = (reg(reg_offset(kRegs, "CQIS")) & reg(reg_offset(kRegs, "CQISGE"))) != 0;
  if (level == irq_level_) return;
  irq_level_ = level;
  if (level) ++counters_.interrupts;
  host_.queue_interrupt(level);
}

/// A task completion interrupt: the driver will see every completion notified so far.
void Cqhci::task_interrupt() {
  raise(kIsTcc);
  release_waiting(~std::uint32_t{0});
}

void Cqhci::release_waiting(std::uint32_t tags) {
  tags &= waiting_interrupt_;
  waiting_interrupt_ &= ~tags;
  for (unsigned tag = 0; tags != 0; ++tag, tags >>= 1)
    if (tags & 1)
      end_hardware(tag, graph(tag).add(waiting_node_[tag], Span::interrupt_latency, sc_time_stamp()));
}

/// An INT = 0 task is complete. Counter and timer run until the driver resets them (JESD84-B51 B.3.8).
void Cqhci::count_completion(unsigned tag, NodeId node) {
  ++counters_.coalesced;
  waiting_interrupt_ |= 1u << tag;
  waiting_node_[tag] = node;
  const std::uint32_t ic = reg(reg_offset(kRegs, "CQIC"));
  if (!(ic & field_mask(kRegs, "CQIC", "ENABLE"))) return;
  coalesce_seen_ = true;
  const std::uint32_t threshold =
      (ic & field_mask(kRegs, "CQIC", "COUNTER")) >> field_lsb(kRegs, "CQIC", "COUNTER");
  const std::uint32_t timeout = ic & field_mask(kRegs, "CQIC", "TIMEOUT");
  if (timeout != 0 && !coalesce_timer_ran_) {
    const sc_time now = sc_time_stamp();
    coalesce_timer_ran_ = true;
    coalesce_event_.notify(timer_.align(now) + timer_.cycles(std::uint64_t{timeout} * 1024) - now);
  }
  if (coalesce_count_ < threshold && ++coalesce_count_ == threshold) task_interrupt();
}

void Cqhci::on_coalescing_timer() { task_interrupt(); }

void Cqhci::reset_coalescing() {
  coalesce_event_.cancel();
  coalesce_timer_ran_ = coalesce_seen_ = false;
  coalesce_count_ = 0;
}

}  // namespace vp
