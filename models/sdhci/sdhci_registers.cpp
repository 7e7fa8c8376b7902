// Register behaviour of the SDHCI model: what a bus access does.
#include <fmt/format.h>

#include <algorithm>

#include "models/core/register_access.hpp"
#include "models/sdhci/sdhci.hpp"

namespace vp {

using namespace sdhci;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kVendorBytes = 0x100;
constexpr std::uint32_t kClockInternal = field_mask(kRegs, "CLOCK_CONTROL", "INTERNAL_ENABLE");
constexpr std::uint32_t kClockStable = field_mask(kRegs, "CLOCK_CONTROL", "INTERNAL_STABLE");
constexpr std::uint32_t kClockCard = field_mask(kRegs, "CLOCK_CONTROL", "SD_CLOCK_ENABLE");
constexpr std::uint32_t kResetAll = field_mask(kRegs, "SOFTWARE_RESET", "ALL");
constexpr std::uint32_t kResetCmd = field_mask(kRegs, "SOFTWARE_RESET", "CMD");
constexpr std::uint32_t kResetDat = field_mask(kRegs, "SOFTWARE_RESET", "DAT");
/// Error bits that belong to the command line; a CMD reset clears them.
constexpr std::uint32_t kCommandErrors =
    kIntCommandTimeout | kIntCommandCrc | kIntCommandEndBit | kIntCommandIndex | kIntResponse;
constexpr std::uint32_t kDataPort = reg_offset(kRegs, "BUFFER_DATA_PORT");
constexpr std::uint32_t kDataPortBytes = 4;

/// Bytes of an access at `offset` that fall into the data port, from its first one on; 0: it starts elsewhere.
unsigned port_bytes(std::uint32_t offset, unsigned bytes) {
  if (offset < kDataPort || offset >= kDataPort + kDataPortBytes) return 0;
  return std::min<unsigned>(bytes, kDataPort + kDataPortBytes - offset);
}

}  // namespace

void Sdhci::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  delay += axi_.cycles(params_.register_cycles);
  access_time_ = sc_time_stamp() + delay;
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  const unsigned bytes = payload.get_data_length();
  serve_register_access(
      payload, [&] { return read(offset, bytes); },
      [&](std::uint64_t value) { write(offset, bytes, value); });
}

/// Reads registers without time and without effect: a data port reads 0. Writes are refused.
unsigned Sdhci::transport_dbg(tlm::tlm_generic_payload& payload) {
  if (!payload.is_read()) return 0;
  const sc_time kept = access_time_;
  access_time_ = sc_time_stamp();
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  const unsigned bytes = payload.get_data_length();
  const bool port = port_bytes(offset, bytes) != 0;
  serve_register_access(
      payload, [&] { return port ? 0 : read(offset, bytes); }, [](std::uint64_t) {});
  access_time_ = kept;
  return payload.is_response_ok() ? bytes : 0;
}

bool Sdhci::in_queue_window(std::uint32_t offset) const {
  return queue_ && offset >= params_.vendor2_pointer &&
         offset < params_.vendor2_pointer + queue_->window_bytes();
}

std::uint64_t Sdhci::read(std::uint32_t offset, unsigned bytes) {
  const auto base = static_cast<std::uint32_t>(params_.vendor1_pointer);
  if (offset >= base && offset < base + kVendorBytes) return vendor_.read(offset - base, bytes);
  if (in_queue_window(offset)) {
    const auto area = static_cast<std::uint32_t>(params_.vendor2_pointer);
    if (bank_.get(reg_offset(kRegs, "CLOCK_CONTROL")) & kClockInternal)
      return queue_->read_register(offset - area, bytes, access_time_);
    ctx_.log(
        fmt::format("{}: read of 0x{:03x} (vendor area 2) with the internal clock off: 0", name(), offset));
    return 0;
  }
  const unsigned port = port_bytes(offset, bytes);
  if (port == 0) return bank_.read(offset, bytes);
  const std::uint64_t value = data_.pio_read(port);
  return port == bytes ? value : value | bank_.read(offset + port, bytes - port) << (8 * port);
}

void Sdhci::write(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  const auto base = static_cast<std::uint32_t>(params_.vendor1_pointer);
  if (offset >= base && offset < base + kVendorBytes) return vendor_.write(offset - base, bytes, value);
  if (in_queue_window(offset)) {
    const auto area = static_cast<std::uint32_t>(params_.vendor2_pointer);
    if (bank_.get(reg_offset(kRegs, "CLOCK_CONTROL")) & kClockInternal)
      return queue_->write_register(offset - area, bytes, value, access_time_);
    ctx_.log(fmt::format("{}: write of 0x{:03x} (vendor area 2) with the internal clock off: ignored", name(),
                         offset));
    return;
  }
  const unsigned port = port_bytes(offset, bytes);
  if (port != 0) data_.pio_write(port, static_cast<std::uint32_t>(value));
  if (port < bytes) bank_.write(offset + port, bytes - port, value >> (8 * port));
}

void Sdhci::hook_registers() {
  bank_.set_reset(reg_offset(kRegs, "CAPABILITIES1"), params_.capabilities1);
  bank_.set_reset(reg_offset(kRegs, "CAPABILITIES2"), params_.capabilities2);
  bank_.set_reset(reg_offset(kRegs, "VERSION"), params_.version);
  bank_.set_reset(reg_offset(kRegs, "VENDOR1_POINTER"), params_.vendor1_pointer);
  bank_.set_reset(reg_offset(kRegs, "VENDOR2_POINTER"), params_.vendor2_pointer);
  vendor_.set_reset(reg_offset(dwcmshc::kRegs, "MBIU_CTRL"), params_.mbiu_reset);
  vendor_.set_reset(reg_offset(dwcmshc::kRegs, "EMMC_CTRL"), params_.emmc_ctrl_reset);
  update_bursts();

  // While a transfer runs these may not be written; the write is ignored (SDHCI 4.20 2.2.3 to 2.2.5).
  bank_.guard_writes([this](const RegDef& r) {
    const bool held = r.offset == reg_offset(kRegs, "BLOCK_SIZE") ||
                      r.offset == reg_offset(kRegs, "BLOCK_COUNT") ||
                      r.offset == reg_offset(kRegs, "TRANSFER_MODE") ||
                      (r.offset == reg_offset(kRegs, "SDMA_ADDRESS") && v4());  // the 32-bit block count
    return !(held && data_.active());
  });
  bank_.on_write(reg_offset(kRegs, "COMMAND"), [this](const RegisterBank::WriteEvent& e) {
    if (e.lanes & 0xFF00) command_written(static_cast<std::uint16_t>(e.value));
  });
  bank_.on_read(reg_offset(kRegs, "PRESENT_STATE"), [this] { return present_state(); });
  bank_.on_write(reg_offset(kRegs, "CLOCK_CONTROL"), [this](const RegisterBank::WriteEvent& e) {
    // The stable bit tells of the oscillator, then (V4) of the PLL: it starts anew when either is enabled.
    const std::uint64_t sources =
        kClockInternal | (v4() ? field_mask(kRegs, "CLOCK_CONTROL", "PLL_ENABLE") : 0u);
    if (e.value & ~e.old_value & sources)
      clock_stable_at_ = access_time_ + sc_time(params_.clock_stable_us, sc_core::SC_US);
    update_clock();
  });
  bank_.on_read(reg_offset(kRegs, "CLOCK_CONTROL"), [this] {
    const std::uint64_t v = bank_.get(reg_offset(kRegs, "CLOCK_CONTROL"));
    return (v & kClockInternal) && access_time_ >= clock_stable_at_ ? v | kClockStable : v;
  });
  bank_.on_write(reg_offset(kRegs, "POWER_CONTROL"), [this](const RegisterBank::WriteEvent& e) {
    // Without VDD1 there is no card clock (SDHCI 4.20 2.2.12).
    if (!(e.value & field_mask(kRegs, "POWER_CONTROL", "VDD1_ON")))
      bank_.clear_bits(reg_offset(kRegs, "CLOCK_CONTROL"), kClockCard);
    update_clock();
  });
  bank_.on_write(reg_offset(kRegs, "SOFTWARE_RESET"), [this](const RegisterBank::WriteEvent& e) {
    software_reset(static_cast<std::uint32_t>(e.written));
  });
  bank_.on_read(reg_offset(kRegs, "SOFTWARE_RESET"),
                [this]() -> std::uint64_t { return access_time_ >= reset_done_at_ ? 0 : reset_pending_; });
  bank_.on_write(reg_offset(kRegs, "HOST_CONTROL1"),
                 [this](const RegisterBank::WriteEvent&) { update_lines(); });
  bank_.on_write(reg_offset(kRegs, "HOST_CONTROL2"), [this](const RegisterBank::WriteEvent& e) {
    const std::uint32_t execute = field_mask(kRegs, "HOST_CONTROL2", "EXECUTE_TUNING");
    // Only a tuning that succeeds selects the tuned clock; a write can only let go of it (SDHCI 4.20 2.2.24).
    bank_.clear_bits(reg_offset(kRegs, "HOST_CONTROL2"),
                     ~e.old_value & field_mask(kRegs, "HOST_CONTROL2", "SAMPLE_CLOCK_SELECT"));
    if ((e.value & execute) && !(e.old_value & execute)) tap_ = window_length_ = best_length_ = 0;
    tuning_ = e.value & execute;
    update_lines();
    update_clock();
  });
  bank_.on_write(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), [this](const RegisterBank::WriteEvent& e) {
    data_.request_stop_at_gap(e.value & field_mask(kRegs, "BLOCK_GAP_CONTROL", "STOP_AT_GAP"));
    const std::uint32_t go = field_mask(kRegs, "BLOCK_GAP_CONTROL", "CONTINUE");
    if (!(e.value & go)) return;
    bank_.clear_bits(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), go);
    // Continue is ignored while stop is asked for (SDHCI 4.20 2.2.13).
    if (!(e.value & field_mask(kRegs, "BLOCK_GAP_CONTROL", "STOP_AT_GAP"))) data_.continue_after_gap();
  });
  // SDMA goes on when its address is written: V3 at 0x00, V4 at 0x58 (32 bit) or 0x5C (64 bit).
  bank_.on_write(reg_offset(kRegs, "SDMA_ADDRESS"), [this](const RegisterBank::WriteEvent& e) {
    if (!v4() && data_.active() && (e.lanes & 0xFF000000)) data_.sdma_resume(e.value);
  });
  auto adma_written = [this](const RegisterBank::WriteEvent& e, bool high) {
    const bool wide =
        bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) & field_mask(kRegs, "HOST_CONTROL2", "ADDRESSING_64");
    if (!v4() || !data_.active() || high != wide || !(e.lanes & 0xFF000000)) return;
    data_.sdma_resume(bank_.get(reg_offset(kRegs, "ADMA_ADDRESS_LOW")) |
                      bank_.get(reg_offset(kRegs, "ADMA_ADDRESS_HIGH")) << 32);
  };
  bank_.on_write(reg_offset(kRegs, "ADMA_ADDRESS_LOW"),
                 [=](const RegisterBank::WriteEvent& e) { adma_written(e, false); });
  bank_.on_write(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"),
                 [=](const RegisterBank::WriteEvent& e) { adma_written(e, true); });
  bank_.on_read(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), [this] {
    return data_.active() && data_.descriptor_address() ? data_.descriptor_address() & 0xFFFFFFFF
                                                        : bank_.get(reg_offset(kRegs, "ADMA_ADDRESS_LOW"));
  });
  bank_.on_read(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), [this] {
    return data_.active() && data_.descriptor_address() ? data_.descriptor_address() >> 32
                                                        : bank_.get(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"));
  });
  vendor_.on_write(reg_offset(dwcmshc::kRegs, "MBIU_CTRL"),
                   [this](const RegisterBank::WriteEvent&) { update_bursts(); });
  vendor_.on_write(reg_offset(dwcmshc::kRegs, "EMMC_CTRL"), [this](const RegisterBank::WriteEvent& e) {
    const std::uint32_t level = field_mask(dwcmshc::kRegs, "EMMC_CTRL", "EMMC_RST_N");
    const std::uint32_t drive = field_mask(dwcmshc::kRegs, "EMMC_CTRL", "EMMC_RST_N_OE");
    const bool was_low = (e.old_value & drive) && !(e.old_value & level);
    if ((e.value & drive) && !(e.value & level) && !was_low) bus_.card().hardware_reset();
  });
}

void Sdhci::hook_interrupt_registers() {
  const auto update = [this](const RegisterBank::WriteEvent&) { update_irq(); };
  bank_.on_write(reg_offset(kRegs, "NORMAL_INT_STATUS"), update);
  bank_.on_write(reg_offset(kRegs, "ERROR_INT_STATUS"), update);
  bank_.on_write(reg_offset(kRegs, "NORMAL_INT_STATUS_ENABLE"), update);
  bank_.on_write(reg_offset(kRegs, "NORMAL_INT_SIGNAL_ENABLE"), update);
  bank_.on_write(reg_offset(kRegs, "ERROR_INT_SIGNAL_ENABLE"), update);
  bank_.on_read(reg_offset(kRegs, "NORMAL_INT_STATUS"), [this] {
    const bool error = bank_.get(reg_offset(kRegs, "ERROR_INT_STATUS")) != 0;
    return bank_.get(reg_offset(kRegs, "NORMAL_INT_STATUS")) | (error ? std::uint64_t{kIntError} : 0);
  });
  bank_.on_write(reg_offset(kRegs, "FORCE_ERROR_INT"), [this](const RegisterBank::WriteEvent& e) {
    raise(static_cast<std::uint32_t>(e.written & 0x1FFF) << 16);
  });
  bank_.on_write(reg_offset(kRegs, "FORCE_AUTO_CMD_ERROR"), [this](const RegisterBank::WriteEvent& e) {
    bank_.set_bits(reg_offset(kRegs, "AUTO_CMD_ERROR"), e.written & 0xBF);
    if (e.written & 0x3F) raise(kIntAutoCmd);
  });
}

bool Sdhci::v4() const {
  return bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) &
         field_mask(kRegs, "HOST_CONTROL2", "VERSION_4_ENABLE");
}

void Sdhci::software_reset(std::uint32_t bits) {
  if (queue_) {
    if (bits & kResetAll) queue_->reset_all();
    if (bits & kResetCmd) queue_->reset_line();
    if (bits & kResetDat) queue_->reset_data();
  }
  if (bits & (kResetAll | kResetCmd)) {
    // DWC: Command Complete stays; the driver clears it.
    if (stage_ != Stage::idle) bus_.abandon_command();
    stage_ = Stage::idle;
    start_event_.cancel();
    cc_event_.cancel();
    deferred_.reset();
    auto_cmd12_due_ = not_issued_ = false;
    bank_.clear_bits(reg_offset(kRegs, "ERROR_INT_STATUS"), kCommandErrors >> 16);
  }
  if (bits & (kResetAll | kResetDat)) reset_dat();
  if (bits & kResetAll) {
    bank_.reset();
    vendor_.reset();
    tuning_ = false;
    bus_.set_clock(0);
    update_lines();
    update_bursts();
  }
  bank_.set(reg_offset(kRegs, "SOFTWARE_RESET"), 0);
  reset_pending_ = bits & (kResetAll | kResetCmd | kResetDat);
  reset_done_at_ = core_.align(access_time_) + core_.cycles(params_.reset_cycles);
  update_irq();
}

void Sdhci::reset_dat() {
  data_.abort();
  tc_event_.cancel();
  dat_line_owned_ = transfer_ended_ = tc_pending_ = busy_timeout_ = auto_cmd12_due_ = false;
  const std::uint32_t data_bits =
      kIntTransferComplete | kIntBlockGap | kIntDma | kIntBufferWriteReady | kIntBufferReadReady;
  bank_.clear_bits(reg_offset(kRegs, "NORMAL_INT_STATUS"), data_bits);
  bank_.clear_bits(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 0x3);
  bank_.set(reg_offset(kRegs, "ADMA_ERROR"), 0);
  data_.request_stop_at_gap(false);
}

void Sdhci::update_clock() {
  const std::uint64_t c = bank_.get(reg_offset(kRegs, "CLOCK_CONTROL"));
  const bool power =
      bank_.get(reg_offset(kRegs, "POWER_CONTROL")) & field_mask(kRegs, "POWER_CONTROL", "VDD1_ON");
  if (!(c & kClockInternal) || !(c & kClockCard) || !power) {
    if (bus_.clock_running()) bus_.set_clock(0);
    return;
  }
  std::uint64_t n = (c >> 8 & 0xFF) | (c >> 6 & 0x3) << 8;
  bool programmable = c & field_mask(kRegs, "CLOCK_CONTROL", "PROGRAMMABLE");
  const std::uint64_t hc2 = bank_.get(reg_offset(kRegs, "HOST_CONTROL2"));
  if (hc2 & field_mask(kRegs, "HOST_CONTROL2", "PRESET_VALUE_ENABLE")) {
    static constexpr std::uint16_t kByMode[8] = {
        reg_offset(kRegs, "PRESET_SDR12"), reg_offset(kRegs, "PRESET_SDR25"),
        reg_offset(kRegs, "PRESET_SDR50"), reg_offset(kRegs, "PRESET_SDR104"),
        reg_offset(kRegs, "PRESET_DDR50"), reg_offset(kRegs, "PRESET_DDR50"),
        reg_offset(kRegs, "PRESET_SDR12"), reg_offset(kRegs, "PRESET_HS400")};
    const std::uint64_t preset = bank_.get(kByMode[hc2 & 7]);
    n = preset & 0x3FF;
    programmable = preset >> 10 & 1;
  }
  const std::uint64_t m =
      params_.capabilities2 >> field_lsb(kRegs, "CAPABILITIES2", "CLOCK_MULTIPLIER") & 0xFF;
  double hz = n == 0 ? params_.base_clock_hz : params_.base_clock_hz / static_cast<double>(2 * n);
  if (programmable && m != 0)
    hz = params_.base_clock_hz * static_cast<double>(m + 1) / static_cast<double>(n + 1);
  if (bus_.clock_running() && bus_.clock().frequency_hz() == hz) return;
  bus_.set_clock(hz);
  const std::uint64_t uhs = hc2 & 7;
  if ((uhs == kUhsHs200 || uhs == kUhsHs400) && hz < params_.dll_min_hz)
    ctx_.finding(
        "sdhci.clock_below_dll", name(), {},
        fmt::format("card clock {:.3f} MHz in HS200 or HS400 is below the {:.3f} MHz the host's DLL needs",
                    hz / 1e6, params_.dll_min_hz / 1e6),
        access_time_);
}

void Sdhci::update_lines() {
  const std::uint64_t hc1 = bank_.get(reg_offset(kRegs, "HOST_CONTROL1"));
  const std::uint64_t uhs = bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) & 7;
  LineMode mode;
  mode.width = hc1 & field_mask(kRegs, "HOST_CONTROL1", "WIDTH_8")   ? 8
               : hc1 & field_mask(kRegs, "HOST_CONTROL1", "WIDTH_4") ? 4
                                                                     : 1;
  mode.ddr = uhs == kUhsDdr52 || uhs == kUhsHs400;
  bus_.set_line_mode(mode);
}

void Sdhci::update_bursts() {
  const std::uint64_t m = vendor_.get(reg_offset(dwcmshc::kRegs, "MBIU_CTRL"));
  data_.port().set_allowed_bursts({(m & 1) != 0, (m & 2) != 0, (m & 4) != 0, (m & 8) != 0});
}

std::uint64_t Sdhci::present_state() {
  const sc_time now = access_time_;
  std::uint64_t s = field_mask(kRegs, "PRESENT_STATE", "REGULATOR_STABLE") |
                    field_mask(kRegs, "PRESENT_STATE", "CARD_INSERTED") |
                    field_mask(kRegs, "PRESENT_STATE", "CARD_STABLE") |
                    field_mask(kRegs, "PRESENT_STATE", "CARD_DETECT_LEVEL") |
                    field_mask(kRegs, "PRESENT_STATE", "WRITE_PROTECT_LEVEL") |
                    field_mask(kRegs, "PRESENT_STATE", "CMD_LEVEL");
  const unsigned dat = bus_.dat_levels(now);
  s |= std::uint64_t{dat & 0xFu} << field_lsb(kRegs, "PRESENT_STATE", "DAT3_0_LEVEL");
  s |= std::uint64_t{dat >> 4} << field_lsb(kRegs, "PRESENT_STATE", "DAT7_4_LEVEL");
  if (stage_ == Stage::waiting_start || stage_ == Stage::auto_cmd23 || stage_ == Stage::main || deferred_ ||
      (queue_ && queue_->owns_line()))
    s |= field_mask(kRegs, "PRESENT_STATE", "CMD_INHIBIT");
  if (dat_line_owned_ || (queue_ && queue_->owns_data()))
    s |= field_mask(kRegs, "PRESENT_STATE", "DAT_INHIBIT") |
         field_mask(kRegs, "PRESENT_STATE", "DAT_LINE_ACTIVE");
  if (data_.reading()) s |= field_mask(kRegs, "PRESENT_STATE", "READ_ACTIVE");
  if (data_.writing()) s |= field_mask(kRegs, "PRESENT_STATE", "WRITE_ACTIVE");
  if (data_.pio_can_write()) s |= field_mask(kRegs, "PRESENT_STATE", "BUFFER_WRITE_ENABLE");
  if (data_.pio_can_read()) s |= field_mask(kRegs, "PRESENT_STATE", "BUFFER_READ_ENABLE");
  if (not_issued_) s |= field_mask(kRegs, "PRESENT_STATE", "COMMAND_NOT_ISSUED");
  if (bank_.get(reg_offset(kRegs, "COMMAND")) & field_mask(kRegs, "COMMAND", "SUB_COMMAND"))
    s |= field_mask(kRegs, "PRESENT_STATE", "SUB_COMMAND_STATUS");
  return s;
}

sc_time Sdhci::data_timeout() const {
  const std::uint64_t unit =
      params_.capabilities1 & field_mask(kRegs, "CAPABILITIES1", "TIMEOUT_CLOCK_MHZ") ? 1000000 : 1000;
  const std::uint64_t tmclk_hz =
      (params_.capabilities1 & field_mask(kRegs, "CAPABILITIES1", "TIMEOUT_CLOCK")) * unit;
  const std::uint64_t n = bank_.get(reg_offset(kRegs, "TIMEOUT_CONTROL")) & 0xF;
  // 15 is reserved; it counts as 14. Without a clock the counter never ends: an hour stands for it.
  if (tmclk_hz == 0) return sc_time(3600, sc_core::SC_SEC);
  const double seconds =
      static_cast<double>(std::uint64_t{1} << (13 + (n == 15 ? 14 : n))) / static_cast<double>(tmclk_hz);
  return sc_time(seconds, sc_core::SC_SEC);
}

std::uint32_t Sdhci::block_count() const {
  const auto count16 = static_cast<std::uint32_t>(bank_.get(reg_offset(kRegs, "BLOCK_COUNT")));
  if (count16 != 0 || !v4()) return count16;
  return static_cast<std::uint32_t>(bank_.get(reg_offset(kRegs, "SDMA_ADDRESS")));
}

}  // namespace vp
