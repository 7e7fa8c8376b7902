// Register behaviour of the HSMMC host: what a bus access does, and bursts at DATA.
#include <algorithm>

#include "models/core/register_access.hpp"
#include "models/hsmmc/hsmmc.hpp"

namespace vp {

using namespace hsmmc;
using sc_core::sc_time_stamp;

namespace {
constexpr std::uint32_t kSra = field_mask(kRegs, "SYSCTL", "SRA"), kSrc = field_mask(kRegs, "SYSCTL", "SRC"),
                        kSrd = field_mask(kRegs, "SYSCTL", "SRD"), kIce = field_mask(kRegs, "SYSCTL", "ICE"),
                        kIcs = field_mask(kRegs, "SYSCTL", "ICS"), kCen = field_mask(kRegs, "SYSCTL", "CEN");
constexpr auto kSysCtl = reg_offset(kRegs, "SYSCTL"), kStat = reg_offset(kRegs, "STAT");
constexpr unsigned kDtoNone = 15;
}  // namespace

void Hsmmc::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  const unsigned bytes = payload.get_data_length();
  auto* axi = payload.get_extension<AxiExtension>();
  if (axi && !axi->pieces.empty()) {  // a DMA by reservation
    axi->timing = this;  // it asks for the bursts' times afterwards: here they are taken as uncontended
    const std::uint64_t beats = bytes / std::max(1u, axi->beat_bytes);
    const sc_time last = axi_.cycles(beats + (payload.is_read() ? params_.data_first_beat : 0));
    return burst_at_data(payload, axi->pieces.front().ready + last);
  }
  delay += axi_.cycles(params_.register_cycles);
  access_time_ = sc_time_stamp() + delay;
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  if (is_port(offset)) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return port_access(payload, bytes, access_time_);
  }
  serve_register_access(
      payload, [&] { return bank_.read(offset, bytes); },
      [&](std::uint64_t value) { bank_.write(offset, bytes, value); });
}

/// One AXI burst at DATA: FIXED, or a single beat of the port's width; anything else is refused.
tlm::tlm_sync_enum Hsmmc::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                          sc_time& delay) {
  auto* axi = payload.get_extension<AxiExtension>();
  if (phase != tlm::BEGIN_REQ || !axi) return tlm::TLM_COMPLETED;
  const sc_time now = sc_time_stamp();
  AxiBurstTiming b{.address = payload.get_address(),
                   .bytes = payload.get_data_length(),
                   .beats = axi->beats,
                   .is_write = payload.is_write(),
                   .issued_ps = (now + delay).value()};
  b.last_ps = std::max<std::uint64_t>(axi->last_beat.value(), b.issued_ps);
  time_burst(b);
  axi->first_beat = from_ps(b.first_ps);
  axi->last_beat = from_ps(b.last_ps);
  burst_at_data(payload, from_ps(b.last_ps));
  delay = from_ps(b.done_ps) - now;
  return tlm::TLM_COMPLETED;
}

void Hsmmc::time_burst(AxiBurstTiming& b) {
  const std::uint64_t a = axi_.period().value();
  if (b.granted_ps == 0) b.granted_ps = b.issued_ps;
  if (b.is_write) {
    b.done_ps = b.last_ps + params_.data_accept * a;
    return;
  }
  b.first_ps = std::max(b.issued_ps + params_.data_first_beat * a, read_beats_free_);
  b.done_ps = b.last_ps = read_beats_free_ = b.first_ps + b.beats * a;
}

void Hsmmc::burst_at_data(tlm::tlm_generic_payload& payload, sc_time until) {
  const auto* axi = payload.get_extension<AxiExtension>();
  const bool single = payload.get_data_length() <= kDataBytes;
  if (payload.get_address() != kData || !(single || axi->burst == AxiBurst::fixed) || axi->beat_bytes < 1) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  port_access(payload, payload.get_data_length(), std::max(until, sc_time_stamp()));
}

/// The buffer moves on with the most significant byte lane; shorter accesses are taken as they come.
void Hsmmc::port_access(tlm::tlm_generic_payload& payload, unsigned bytes, sc_time until) {
  auto* data = reinterpret_cast<std::byte*>(payload.get_data_ptr());
  const bool good = payload.is_read() ? data_.take({data, bytes}, until) : data_.give({data, bytes}, until);
  if (!good) raise(kIntBada);
}

void Hsmmc::hook_registers() {
  bank_.set_reset(reg_offset(kRegs, "CAPA"), params_.capabilities);
  // Written while data move, the block register keeps its value (as SDHCI 4.20 2.2.3).
  bank_.guard_writes(
      [this](const RegDef& r) { return !(r.offset == reg_offset(kRegs, "BLK") && data_.active()); });
  const auto on = [this](const char* name, auto action) {
    bank_.on_write(find_register(kRegs, name)->offset,
                   [action](const RegisterBank::WriteEvent& e) { action(e); });
  };
  using Event = RegisterBank::WriteEvent;
  on("CMD", [this](const Event& e) {
    if (e.lanes & 0xFF00'0000) command_written(static_cast<std::uint32_t>(e.value));
  });
  on("SYSCONFIG", [this](const Event& e) {
    constexpr std::uint32_t kReset = field_mask(kRegs, "SYSCONFIG", "SOFTRESET");
    bank_.clear_bits(reg_offset(kRegs, "SYSCONFIG"), kReset);
    if (e.written & kReset) reset(kSra);
  });
  bank_.on_read(reg_offset(kRegs, "SYSSTATUS"), [this]() -> std::uint64_t {
    return access_time_ >= reset_done_at_ || !(reset_pending_ & kSra);
  });
  on("SYSCTL", [this](const Event& e) {
    system_control_written(static_cast<std::uint32_t>(e.value), static_cast<std::uint32_t>(e.old_value));
  });
  bank_.on_read(kSysCtl, [this] {
    std::uint64_t v = bank_.get(kSysCtl);
    if ((v & kIce) && access_time_ >= clock_stable_at_) v |= kIcs;
    return access_time_ >= reset_done_at_ ? v : v | reset_pending_;
  });
  for (const char* name : {"CON", "HCTL"})
    on(name, [this](const Event&) {
      update_lines();
      update_clock();
    });
  for (const char* name : {"STAT", "IE", "ISE"}) on(name, [this](const Event&) { update_irq(); });
  bank_.on_read(kStat, [this] {
    const std::uint64_t v = bank_.get(kStat);
    return v >> 16 ? v | kIntErr : v;
  });
  bank_.on_read(reg_offset(kRegs, "PSTATE"), [this] { return present_state(); });
}

void Hsmmc::system_control_written(std::uint32_t value, std::uint32_t old_value) {
  const std::uint32_t resets = value & (kSra | kSrc | kSrd);
  bank_.clear_bits(kSysCtl, kSra | kSrc | kSrd);
  if ((value & kIce) && !(old_value & kIce))
    clock_stable_at_ = access_time_ + sc_time(params_.clock_stable_us, sc_core::SC_US);
  if (resets) reset(resets);
  update_clock();
}

void Hsmmc::reset(std::uint32_t which) {
  if (which & (kSra | kSrc)) reset_command_line();
  if (which & (kSra | kSrd)) reset_data_lines();
  if (which & kSra) {
    bank_.reset();
    update_lines();
    update_clock();
  }
  reset_pending_ = which;
  reset_done_at_ = core_.align(access_time_) + core_.cycles(params_.reset_cycles);
  update_irq();
}

void Hsmmc::reset_command_line() {
  if (stage_ != Stage::idle && stage_ != Stage::waiting_start) bus_.abandon_command();
  stage_ = Stage::idle;
  start_event_.cancel();
  cc_event_.cancel();
  auto_cmd12_due_ = false;
  bank_.clear_bits(kStat, kIntCc | kIntCommandErrors | kIntCerr);
}

void Hsmmc::reset_data_lines() {
  data_.abort();
  tc_event_.cancel();
  dat_owned_ = data_ended_ = tc_pending_ = busy_timeout_ = auto_cmd12_due_ = false;
  if (end_waits_) release_hardware(waiting_node_);
  end_waits_ = false;
  bank_.clear_bits(kStat, kIntTc | kIntBrr | kIntBwr);
}

void Hsmmc::update_clock() {
  const std::uint64_t c = bank_.get(kSysCtl);
  const bool power = bank_.get(reg_offset(kRegs, "HCTL")) & field_mask(kRegs, "HCTL", "SDBP");
  if (!(c & kIce) || !(c & kCen) || !power) {
    if (bus_.clock_running()) bus_.set_clock(0);
    return;
  }
  const std::uint64_t divider =
      (c & field_mask(kRegs, "SYSCTL", "CLKD")) >> field_lsb(kRegs, "SYSCTL", "CLKD");
  const double hz = params_.functional_clock_hz / static_cast<double>(std::max<std::uint64_t>(divider, 1));
  if (!bus_.clock_running() || bus_.clock().frequency_hz() != hz) bus_.set_clock(hz);
}

void Hsmmc::update_lines() {
  const bool wide8 = reg("CON") & field_mask(kRegs, "CON", "DW8");
  const bool wide4 = reg("HCTL") & field_mask(kRegs, "HCTL", "DTW");
  bus_.set_line_mode({wide8 ? 8u : wide4 ? 4u : 1u, (reg("CON") & field_mask(kRegs, "CON", "DDR")) != 0});
}

sc_time Hsmmc::data_timeout() const {
  const unsigned n =
      (bank_.get(kSysCtl) & field_mask(kRegs, "SYSCTL", "DTO")) >> field_lsb(kRegs, "SYSCTL", "DTO");
  return n == kDtoNone ? sc_core::sc_max_time() : bus_.clock().cycles(std::uint64_t{1} << (13 + n));
}

std::uint64_t Hsmmc::present_state() {
  std::uint64_t v = find_register(kRegs, "PSTATE")->reset;
  const auto add = [&](bool on, std::uint32_t mask) { v |= on ? mask : 0; };
  const bool busy = bus_.busy(access_time_);
  add(stage_ != Stage::idle, field_mask(kRegs, "PSTATE", "CMDI"));
  add(dat_owned_ || busy, field_mask(kRegs, "PSTATE", "DATI"));
  add(data_.active() || busy, field_mask(kRegs, "PSTATE", "DLA"));
  add(data_.writing(), field_mask(kRegs, "PSTATE", "WTA"));
  add(data_.reading(), field_mask(kRegs, "PSTATE", "RTA"));
  add(data_.can_write(), field_mask(kRegs, "PSTATE", "BWE"));
  add(data_.can_read(), field_mask(kRegs, "PSTATE", "BRE"));
  v |= std::uint64_t{bus_.dat_levels(access_time_) & 0xF} << field_lsb(kRegs, "PSTATE", "DLEV");
  add(bus_.cmd_level(), field_mask(kRegs, "PSTATE", "CLEV"));
  return v;
}

}  // namespace vp
