#include "models/hsmmc/hsmmc.hpp"

namespace vp {

using namespace hsmmc;
using sc_core::sc_time_stamp;

void HsmmcParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".capabilities", capabilities, "", 0, 0xFFFFFFFF, "capabilities register (CAPA)");
  r.add(at + ".functional_clock_hz", functional_clock_hz, "Hz", 1e6, 1e9,
        "clock in front of the card clock divider");
  r.add(at + ".core_clock_hz", core_clock_hz, "Hz", 1e6, 2e9, "clock of the host's own delays");
  r.add(at + ".cmd_issue", cmd_issue, "core cycles", 0, 1000, "register write to command start");
  r.add(at + ".resp_latch", resp_latch, "core cycles", 0, 1000, "response end to CC");
  r.add(at + ".crc_check", crc_check, "core cycles", 0, 1000, "frame end to block available");
  r.add(at + ".tc_latch", tc_latch, "core cycles", 0, 1000, "buffer empty or busy end to TC");
  r.add(at + ".register_cycles", register_cycles, "bus cycles", 0, 1000, "register access");
  r.add(at + ".data_first_beat", data_first_beat, "bus cycles", 0, 1000,
        "burst read of DATA: address to first beat");
  r.add(at + ".data_accept", data_accept, "bus cycles", 0, 1000, "burst write of DATA: last beat to B");
  r.add(at + ".clock_stable_us", clock_stable_us, "us", 0, 150000, "internal clock enable to stable");
  r.add(at + ".reset_cycles", reset_cycles, "core cycles", 1, 1000000, "software reset");
  r.add(at + ".buffer_bytes", buffer_bytes, "B", 512, 4096, "data buffer, both halves");
}

Hsmmc::Hsmmc(sc_core::sc_module_name module, Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
             const HsmmcParams& params)
    : sc_module(module),
      socket("socket"),
      ctx_(ctx),
      params_(params),
      core_("hsmmc_core", params.core_clock_hz),
      axi_(axi_clock),
      bus_(bus),
      bank_(ctx, name(), kRegs, kWindowBytes),
      data_("data", ctx, core_, bus, params_, *this) {
  socket.register_b_transport(this, &Hsmmc::b_transport);
  socket.register_nb_transport_fw(this, &Hsmmc::nb_transport_fw);
  bus_.attach(*this, card);
  SC_METHOD(start_command);
  sensitive << start_event_;
  dont_initialize();
  SC_METHOD(on_command_complete);
  sensitive << cc_event_;
  dont_initialize();
  SC_METHOD(on_transfer_complete);
  sensitive << tc_event_;
  dont_initialize();
  hook_registers();
  t_irq_ = ctx_.trace.add_vector("hsmmc.irq", 1);
  t_request_ = ctx_.trace.add_vector("hsmmc.dma_requests", 32);
}

// --- interrupts ---

void Hsmmc::raise(std::uint32_t bits) {
  bits &= reg("IE");
  if (bits >> 16) ++counters_.errors;
  counters_.cc += (bits & kIntCc) != 0;
  counters_.tc += (bits & kIntTc) != 0;
  bank_.set_bits(reg_offset(kRegs, "STAT"), bits);
  update_irq();
}

void Hsmmc::update_irq() {
  const bool level = (reg("STAT") & reg("ISE")) != 0;
  if (level && !irq.level()) ++counters_.interrupts;
  if (level != irq.level()) ctx_.trace.change(t_irq_, sc_time_stamp(), level);
  irq.set(level);
}

// --- what the data path reports ---

void Hsmmc::port_request(bool read) {
  if (!(data_command_ & field_mask(kRegs, "CMD", "DE"))) return raise(read ? kIntBrr : kIntBwr);
  ctx_.trace.change(t_request_, sc_time_stamp(), data_.counters().requests);
  read ? dma_rx.request() : dma_tx.request();
}

void Hsmmc::block_moved() {
  if (!(data_command_ & field_mask(kRegs, "CMD", "BCE"))) return;
  const std::uint64_t blk = bank_.get(reg_offset(kRegs, "BLK"));
  const std::uint64_t left = blk >> 16;
  if (left > 0) bank_.set(reg_offset(kRegs, "BLK"), (blk & 0xFFFF) | (left - 1) << 16);
}

void Hsmmc::data_complete(NodeId last) {
  if (tc_pending_) return;  // the busy of the command that stopped it ends later
  const std::uint32_t finite = field_mask(kRegs, "CMD", "MSBS") | field_mask(kRegs, "CMD", "BCE");
  const unsigned automatic =
      (data_command_ & field_mask(kRegs, "CMD", "ACEN")) >> field_lsb(kRegs, "CMD", "ACEN");
  if (automatic == 1 && (data_command_ & finite) == finite) return send_auto_cmd12(last);
  schedule_tc(sc_time_stamp(), last);
}

void Hsmmc::data_error(std::uint32_t bits) {
  raise(bits);
  release_hardware(graph().add(kRootNode, Span::wire, sc_time_stamp()));
}

void Hsmmc::dma_acknowledged() {
  ++acknowledged_;
  if (!end_waits_ || acknowledged_ < data_.blocks_done()) return;
  end_waits_ = false;
  release_hardware(graph().add(waiting_node_, Span::axi_write, sc_time_stamp()));
}

}  // namespace vp
