#include "models/dwmmc/dwmmc.hpp"

#include <fmt/format.h>

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

void DwmmcParams::declare(ParamRegistry& r, const std::string& at) {
  const auto u32 = std::uint64_t{0xFFFFFFFF};
  r.add(at + ".hcon", hcon, "", 0, u32, "HCON: b9:7 FIFO width 0 16, 1 32, 2 64 bit; b27 64-bit IDMAC");
  r.add(at + ".verid", verid, "", 0, u32, "VERID, version in b15:0; 0x240A and 0x280A add registers");
  r.add(at + ".usrid", usrid, "", 0, u32, "USRID");
  r.add(at + ".cmd_reset", cmd_reset, "", 0, u32, "CMD after reset");
  r.add(at + ".tmout_extended_from", tmout_extended_from, "", 0, 0xFFFF,
        "version from which TMOUT[10:8] multiplies TMOUT[31:11]");
  r.add(at + ".ciu_clock_hz", ciu_clock_hz, "Hz", 1e6, 1e9, "clock in front of the card clock dividers");
  r.add(at + ".core_clock_hz", core_clock_hz, "Hz", 1e6, 2e9, "host core clock");
  r.add(at + ".cmd_issue", cmd_issue, "core cycles", 0, 1000, "START written to command start");
  r.add(at + ".resp_latch", resp_latch, "core cycles", 0, 1000, "response end to CMD_DONE");
  r.add(at + ".fifo_latency", fifo_latency, "core cycles", 0, 1000, "word sampled to word in the FIFO");
  r.add(at + ".crc_check", crc_check, "core cycles", 0, 1000, "frame end to block checked");
  r.add(at + ".dto_latch", dto_latch, "core cycles", 0, 1000,
        "last block checked or CRC status to DATA_OVER");
  r.add(at + ".register_cycles", register_cycles, "bus cycles", 0, 1000, "register access");
  r.add(at + ".reset_cycles", reset_cycles, "core cycles", 1, 1000000, "resets in CTRL and BMOD");
  r.add(at + ".fifo_depth", fifo_depth, "words", 8, 4096, "FIFO depth in words of HCON's width");
  r.add(at + ".fifo64_32", fifo64_32, "a 64-bit FIFO is read and written as two 32-bit halves");
  r.add(at + ".prefetch_depth", prefetch_depth, "descriptors", 0, 16,
        "descriptors fetched ahead; 0: after the close");
  r.add(at + ".posted_drain", posted_drain,
        "a burst frees the FIFO when its last W beat has left (else at its B)");
  r.add(at + ".sample_window_first", sample_window_first, "phase", 0, 127,
        "first SAMPLE_PHASE that reads right above 52 MHz");
  r.add(at + ".sample_window_last", sample_window_last, "phase", 0, 127,
        "last SAMPLE_PHASE that reads right above 52 MHz");
  axi.declare(r, at + ".axi");
}

namespace {

const DwmmcParams& checked(const DwmmcParams& p) {
  const auto hcon = static_cast<std::uint32_t>(p.hcon);
  if ((hcon >> lsb("HCON", "DATA_WIDTH") & 7) > 2)
    throw InputError(
        fmt::format("dwmmc.hcon 0x{:08x}: data width in bits 9:7 is 0 (16), 1 (32) or 2 (64 bit)", hcon));
  if (hcon & mask("HCON", "DMA_INTERFACE"))
    throw InputError(fmt::format(
        "dwmmc.hcon 0x{:08x}: bits 17:16 name an external DMA; this model has the IDMAC (0)", hcon));
  return p;
}

}  // namespace

Dwmmc::Dwmmc(sc_core::sc_module_name name, Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
             const DwmmcParams& params)
    : sc_module(name),
      socket("socket"),
      ctx_(ctx),
      params_(checked(params)),
      core_("host_core", params.core_clock_hz),
      axi_(axi_clock),
      bus_(bus),
      bank_(ctx, this->name(),
            register_map(static_cast<std::uint32_t>(params.hcon), static_cast<std::uint32_t>(params.verid)),
            kWindowBytes),
      idmac_(idmac_offsets(static_cast<std::uint32_t>(params.hcon))),
      data_("data", ctx, core_, axi_clock, bus, params_, *this) {
  socket.register_b_transport(this, &Dwmmc::b_transport);
  socket.register_transport_dbg(this, &Dwmmc::transport_dbg);
  bus_.attach(*this, card);
  SC_METHOD(try_load);
  sensitive << start_event_;
  dont_initialize();
  SC_METHOD(on_response);
  sensitive << response_event_;
  dont_initialize();
  SC_METHOD(on_busy_over);
  sensitive << busy_event_;
  dont_initialize();
  hook_registers();
  hook_identity();
  hook_idmac();
  update_bursts();
  t_irq_ = ctx_.trace.add_vector("dwmmc.irq", 1);
}

// --- interrupts ---

void Dwmmc::raise(std::uint32_t bits) {
  if (bits & (kIntCommandErrors | kIntDataErrors) & ~std::uint32_t{kIntBusyClear}) ++counters_.errors;
  bank_.set_bits(reg("RINTSTS"), bits);
  update_irq();
}

/// IDSTS as it is read: EB and FSM come from the machines.
std::uint32_t Dwmmc::idsts() const {
  return get(idmac_.status) | eb_ << kIdEbShift | static_cast<std::uint32_t>(data_.fsm()) << kIdFsmShift;
}

/// NIS and AIS follow what is set and enabled; they stay until written.
void Dwmmc::update_summary() {
  const std::uint32_t seen = get(idmac_.status) & get(idmac_.enable);
  if (seen & (kIdTransmit | kIdReceive)) bank_.set_bits(idmac_.status, kIdNormal);
  if (seen & (kIdFatalBusError | kIdUnavailable | kIdCardError)) bank_.set_bits(idmac_.status, kIdAbnormal);
}

void Dwmmc::update_irq() {
  const bool enabled = get(reg("CTRL")) & mask("CTRL", "INT_ENABLE");
  const bool host = get(reg("RINTSTS")) & get(reg("INTMASK"));
  const bool idmac = get(idmac_.status) & get(idmac_.enable) & (kIdNormal | kIdAbnormal);
  const bool level = enabled && (host || idmac);
  if (level && !irq.level()) ++counters_.interrupts_raised;
  if (level != irq.level()) ctx_.trace.change(t_irq_, sc_time_stamp(), level);
  irq.set(level);
}

// --- what the data path reports ---

CauseGraph& Dwmmc::graph() {
  CauseGraph* g = ctx_.spans.graph(SpanRecorder::kLegacyTag);
  return g ? *g : no_graph_;
}

void Dwmmc::data_over(std::uint32_t errors, NodeId last) {
  const bool lost = errors == 0 && bus_.loses_completion(data_command_ & mask("CMD", "INDEX"));
  if (!lost) raise(kIntDataOver | errors);
  if (errors & kIntStartBit) ++counters_.errors;
  if (errors != 0) waits_ &= ~(wait_auto | wait_busy | wait_idmac);
  if (errors == 0 && (waits_ & wait_auto)) {
    auto_stop_due_ = true;
    if (stage_ == Stage::idle) send_auto_stop();
  }
  done_waiting_for(wait_data, last);
  try_load();
}

void Dwmmc::data_status(std::uint32_t bits) {
  raise(bits);
  // The driver has work now: what the wait was for is charged up to here.
  if (bits & kIntHostTimeout) done_waiting_for(waits_, graph().add(last_node_, Span::wire, sc_time_stamp()));
}

void Dwmmc::write_busy_over(NodeId last) {
  raise(kIntBusyClear);
  done_waiting_for(wait_busy, last);
}

void Dwmmc::idmac_event(std::uint32_t bits, std::uint32_t eb) {
  if (bits & kIdFatalBusError) eb_ = eb;
  if (bits & (kIdFatalBusError | kIdUnavailable | kIdCardError)) ++counters_.errors;
  bank_.set_bits(idmac_.status, bits);
  update_summary();
  update_irq();
}

void Dwmmc::idmac_over(NodeId last) { done_waiting_for(wait_idmac, last); }

/// Above 52 MHz without strobe reads sample right only in a window of phases.
bool Dwmmc::sampling_good() {
  constexpr double kSlowHz = 52e6 * 1.001;
  if (bus_.clock().frequency_hz() <= kSlowHz ||
      version_of(static_cast<std::uint32_t>(params_.verid)) < kVersion240)
    return true;
  if (get(reg("EMMC_DDR_REG")) & mask("EMMC_DDR_REG", "HS400")) return true;  // the card strobes
  const std::uint64_t phase =
      (get(reg("UHS_REG_EXT")) & mask("UHS_REG_EXT", "SAMPLE_PHASE")) >> lsb("UHS_REG_EXT", "SAMPLE_PHASE");
  return phase >= params_.sample_window_first && phase <= params_.sample_window_last;
}

}  // namespace vp
