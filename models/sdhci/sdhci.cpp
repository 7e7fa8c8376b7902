#include "models/sdhci/sdhci.hpp"

#include <fmt/format.h>

namespace vp {

using namespace sdhci;
using sc_core::sc_time_stamp;

namespace {
constexpr std::uint32_t kWindowBytes = 0x1000;
constexpr std::uint32_t kVendorBytes = 0x100;
}  // namespace

void SdhciParams::declare(ParamRegistry& r, const std::string& at) {
  const auto u32 = std::uint64_t{0xFFFFFFFF};
  r.add(at + ".capabilities1", capabilities1, "", 0, u32, "capabilities register 1 (0x40)");
  r.add(at + ".capabilities2", capabilities2, "", 0, u32, "capabilities register 2 (0x44)");
  r.add(at + ".version", version, "", 0, 0xFFFF, "host controller version (0xFE)");
  r.add(at + ".vendor1_pointer", vendor1_pointer, "", 0x100, 0xF00, "offset of vendor area 1 (0xE8)");
  r.add(at + ".vendor2_pointer", vendor2_pointer, "", 0x100, 0xF00, "offset of vendor area 2 (0xEA)");
  r.add(at + ".mbiu_reset", mbiu_reset, "", 0, u32,
        "MBIU_CTRL at reset: b0 undefined INCR, b1 INCR4, b2 INCR8, b3 INCR16");
  r.add(at + ".emmc_ctrl_reset", emmc_ctrl_reset, "", 0, 0xFFFF,
        "EMMC_CTRL at reset; bit 0: the card is an eMMC");
  r.add(at + ".base_clock_hz", base_clock_hz, "Hz", 1e6, 1e9, "clock in front of the card clock divider");
  r.add(at + ".core_clock_hz", core_clock_hz, "Hz", 1e6, 2e9, "host core clock");
  r.add(at + ".cmd_issue", cmd_issue, "core cycles", 0, 1000, "register write to command start");
  r.add(at + ".resp_latch", resp_latch, "core cycles", 0, 1000, "response end to Command Complete");
  r.add(at + ".crc_check", crc_check, "core cycles", 0, 1000, "frame end to block available");
  r.add(at + ".tc_latch", tc_latch, "core cycles", 0, 1000, "last B or busy end to Transfer Complete");
  r.add(at + ".register_cycles", register_cycles, "bus cycles", 0, 1000, "register access");
  r.add(at + ".clock_stable_us", clock_stable_us, "us", 0, 150000, "internal clock enable to stable");
  r.add(at + ".reset_cycles", reset_cycles, "core cycles", 1, 1000000, "software reset");
  r.add(at + ".fifo_bytes", fifo_bytes, "B", 512, 65536, "FIFO between wire and DMA, whole 512-byte blocks");
  r.add(at + ".prefetch_depth", prefetch_depth, "descriptors", 0, 16, "descriptors fetched ahead");
  r.add(at + ".posted_drain", posted_drain,
        "a block is drained when its last W beat has left (else at its last B)");
  r.add(at + ".boundary_128m", boundary_128m, {"ok", "wrap", "adma_error", "stall"},
        "what the DMA does with a descriptor across a 128 MiB multiple");
  r.add(at + ".dll_min_hz", dll_min_hz, "Hz", 0, 200e6,
        "erratum: HS200 and HS400 sample wrong below this clock; 0: never");
  r.add(at + ".tuning_taps", tuning_taps, "taps", 1, 128, "phases walked by tuning, one per CMD21");
  r.add(at + ".tuning_window_first", tuning_window_first, "tap", 0, 127, "first phase that samples right");
  r.add(at + ".tuning_window_last", tuning_window_last, "tap", 0, 127, "last phase that samples right");
  axi.declare(r, at + ".axi");
}

Sdhci::Sdhci(sc_core::sc_module_name name, Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
             const SdhciParams& params)
    : sc_module(name),
      socket("socket"),
      ctx_(ctx),
      params_(params),
      core_("host_core", params.core_clock_hz),
      axi_(axi_clock),
      bus_(bus),
      bank_(ctx, this->name(), kRegs, kWindowBytes),
      vendor_(ctx, std::string(this->name()) + ".vendor1", dwcmshc::kRegs, kVendorBytes),
      data_("data", ctx, core_, axi_clock, bus, params_, *this) {
  socket.register_b_transport(this, &Sdhci::b_transport);
  socket.register_transport_dbg(this, &Sdhci::transport_dbg);
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
  hook_interrupt_registers();
  t_irq_ = ctx_.trace.add_vector("sdhci.irq", 1);
}

// --- interrupts ---

void Sdhci::raise(std::uint32_t bits) {
  const std::uint32_t enabled =
      static_cast<std::uint32_t>(bank_.get(reg_offset(kRegs, "NORMAL_INT_STATUS_ENABLE"))) |
      static_cast<std::uint32_t>(bank_.get(reg_offset(kRegs, "ERROR_INT_STATUS_ENABLE"))) << 16;
  bits &= enabled;
  if (bits >> 16) ++counters_.errors;
  bank_.set_bits(reg_offset(kRegs, "NORMAL_INT_STATUS"), bits & 0xFFFF);
  bank_.set_bits(reg_offset(kRegs, "ERROR_INT_STATUS"), bits >> 16);
  update_irq();
}

void Sdhci::queue_interrupt(bool level) {
  queue_level_ = level;
  update_irq();
}

void Sdhci::update_irq() {
  // CQE is a level (choice: SDHCI 4.20 and the CQHCI annex leave it open); its status enable gates it.
  if (queue_ && queue_level_ && (bank_.get(reg_offset(kRegs, "NORMAL_INT_STATUS_ENABLE")) & kIntCqe))
    bank_.set_bits(reg_offset(kRegs, "NORMAL_INT_STATUS"), kIntCqe);
  else if (queue_)
    bank_.clear_bits(reg_offset(kRegs, "NORMAL_INT_STATUS"), kIntCqe);
  const std::uint64_t normal = bank_.get(reg_offset(kRegs, "NORMAL_INT_STATUS")) &
                               bank_.get(reg_offset(kRegs, "NORMAL_INT_SIGNAL_ENABLE"));
  const std::uint64_t error = bank_.get(reg_offset(kRegs, "ERROR_INT_STATUS")) &
                              bank_.get(reg_offset(kRegs, "ERROR_INT_SIGNAL_ENABLE"));
  const bool level = normal != 0 || error != 0;
  if (level && !irq.level()) ++counters_.interrupts_raised;
  if (level != irq.level()) ctx_.trace.change(t_irq_, sc_time_stamp(), level);
  irq.set(level);
}

// --- what the data engine reports ---

void Sdhci::data_complete(NodeId last) {
  if (queue_ && queue_->owns_data()) return queue_->data_complete(last);
  if (tc_pending_) return;  // the busy of the command that stopped it ends later
  if (wants_auto_cmd12()) {
    auto_cmd12_node_ = last;
    auto_cmd12_due_ = stage_ != Stage::idle;
    if (!auto_cmd12_due_) send_auto_cmd12();
    return;
  }
  const bool read = data_mode_ & field_mask(kRegs, "TRANSFER_MODE", "DIRECTION_READ");
  schedule_transfer_complete(sc_time_stamp(), last, read ? Span::axi_write : Span::busy);
}

void Sdhci::data_error(std::uint32_t bits) {
  raise(bits);
  if (queue_ && queue_->owns_data()) return queue_->data_failed();
  end_hardware(dat_tag_, graph(dat_tag_).add(kRootNode, data_.blocked_on(), sc_time_stamp()));
}

void Sdhci::adma_error(DataEngine::AdmaState state, bool length_mismatch, std::uint64_t descriptor) {
  bank_.set(reg_offset(kRegs, "ADMA_ERROR"),
            static_cast<std::uint64_t>(state) |
                (length_mismatch ? field_mask(kRegs, "ADMA_ERROR", "LENGTH_MISMATCH") : 0));
  bank_.set(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), descriptor & 0xFFFFFFFF);
  bank_.set(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), descriptor >> 32);
  raise(kIntAdma);
  if (queue_ && queue_->owns_data()) return queue_->data_failed();
  end_hardware(dat_tag_, graph(dat_tag_).add(kRootNode, Span::descriptor_fetch, sc_time_stamp()));
}

void Sdhci::queue_descriptor_error(std::uint64_t descriptor) {
  bank_.set(reg_offset(kRegs, "ADMA_ERROR"), static_cast<std::uint64_t>(DataEngine::AdmaState::fetch));
  bank_.set(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), descriptor & 0xFFFFFFFF);
  bank_.set(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), descriptor >> 32);
  raise(kIntAdma);
}

void Sdhci::data_interrupt(std::uint32_t bits) { raise(bits); }

void Sdhci::block_moved() {
  const std::uint16_t count16 = reg_offset(kRegs, "BLOCK_COUNT");
  if (queue_ && queue_->owns_data()) {
    if (bank_.get(count16) != 0) bank_.set(count16, bank_.get(count16) - 1);
    return queue_->block_counted(data_.block_counted_at());
  }
  constexpr std::uint32_t counted = field_mask(kRegs, "TRANSFER_MODE", "BLOCK_COUNT_ENABLE") |
                                    field_mask(kRegs, "TRANSFER_MODE", "MULTI_BLOCK");
  if ((data_mode_ & counted) != counted) return;
  if (bank_.get(count16) != 0)
    bank_.set(count16, bank_.get(count16) - 1);
  else if (v4() && bank_.get(reg_offset(kRegs, "SDMA_ADDRESS")) != 0)
    bank_.set(reg_offset(kRegs, "SDMA_ADDRESS"), bank_.get(reg_offset(kRegs, "SDMA_ADDRESS")) - 1);
}

bool Sdhci::tuned() const {
  return bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) &
         field_mask(kRegs, "HOST_CONTROL2", "SAMPLE_CLOCK_SELECT");
}

/// Reads sample right when the clock is slow, the phase was tuned, or the device strobes.
bool Sdhci::sampling_good() {
  if (tuning_) return tap_ >= params_.tuning_window_first && tap_ <= params_.tuning_window_last;
  const std::uint32_t uhs =
      bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) & field_mask(kRegs, "HOST_CONTROL2", "UHS_MODE");
  if (uhs != kUhsHs200 && uhs != kUhsHs400) return true;
  if (bus_.clock().frequency_hz() < params_.dll_min_hz) return false;
  const std::uint64_t emmc = vendor_.get(reg_offset(dwcmshc::kRegs, "EMMC_CTRL"));
  const bool strobe_pad = emmc & field_mask(dwcmshc::kRegs, "EMMC_CTRL", "CARD_IS_EMMC");
  const bool enhanced = emmc & field_mask(dwcmshc::kRegs, "EMMC_CTRL", "ENH_STROBE_ENABLE");
  return uhs == kUhsHs200 ? tuned() : strobe_pad && (enhanced || tuned());
}

void Sdhci::tuning_block(bool good) {
  data_.abort();
  dat_line_owned_ = false;
  stage_ = Stage::idle;
  if (good) {
    if (window_length_++ == 0) window_first_ = tap_;
    if (window_length_ > best_length_) best_first_ = window_first_, best_length_ = window_length_;
  } else {
    window_length_ = 0;
  }
  if (++tap_ >= params_.tuning_taps) {
    tuning_ = false;
    const std::uint64_t at_ctrl = vendor_.get(reg_offset(dwcmshc::kRegs, "AT_CTRL"));
    const bool threshold = at_ctrl & field_mask(dwcmshc::kRegs, "AT_CTRL", "SWIN_TH_EN");
    const std::uint64_t needed =
        threshold ? (at_ctrl >> field_lsb(dwcmshc::kRegs, "AT_CTRL", "SWIN_TH_VAL")) + 1 : 1;
    bank_.clear_bits(reg_offset(kRegs, "HOST_CONTROL2"),
                     field_mask(kRegs, "HOST_CONTROL2", "EXECUTE_TUNING"));
    if (best_length_ >= needed) {
      bank_.set_bits(reg_offset(kRegs, "HOST_CONTROL2"),
                     field_mask(kRegs, "HOST_CONTROL2", "SAMPLE_CLOCK_SELECT"));
      const std::uint64_t left = best_first_, right = best_first_ + best_length_ - 1;
      vendor_.set(reg_offset(dwcmshc::kRegs, "AT_STAT"), left << 16 | right << 8 | (left + right) / 2);
    }
  }
  raise(kIntBufferReadReady);
}

}  // namespace vp
