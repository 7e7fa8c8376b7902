// Set-up, bus settings and recovery.
#include "firmware/drivers/dwmmc.hpp"

#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStepNs = 10'000, kLimitNs = 500 * kMs;  // what Linux allows every self-clearing bit
constexpr std::uint64_t kPowerSettleNs = 1 * kMs;                // JESD84-B51 10.1: 1 ms and 74 clocks
constexpr std::uint32_t kOcr = 0x0036'0080;  // 3.2 to 3.4 V, 2.9 to 3.1 V, 1.8 V: the board's
constexpr std::uint32_t kWidthCodes = 3;     // HCON.DATA_WIDTH 0 to 2
constexpr std::uint32_t kLeastDepth = 4;
}  // namespace

std::uint32_t DwMmc::read(std::uint32_t offset) const { return hal::read32(config_.base + offset); }
void DwMmc::write(std::uint32_t offset, std::uint32_t value) { hal::write32(config_.base + offset, value); }

void DwMmc::update(std::uint32_t offset, std::uint32_t value, std::uint32_t& shadow) {
  if (value != shadow) write(offset, value);
  shadow = value;
}

bool DwMmc::reset(std::uint32_t which) {
  write(dw::kCtrl, shadow_.ctrl | which);
  return poll_until([&] { return (read(dw::kCtrl) & which) == 0; }, kStepNs, kLimitNs);
}

bool DwMmc::init(const DwMmcConfig& config) {
  *this = DwMmc{};
  config_ = config;
  if (!config_.base_clock_hz || !identify()) return false;
  if (!reset(dw::kCtrlReset | dw::kCtrlFifoReset | dw::kCtrlDmaReset)) return false;
  if (!choose_dma()) return false;
  describe();
  shadow_.tmout = dw::kAll;
  shadow_.blksiz = MmcData{}.block_bytes;
  shadow_.fifoth = dw_default_thresholds(depth_).value();
  shadow_.intmask = dw::kIntForDma;
  shadow_.ctrl = dw::kCtrlIntEnable;
  write(dw::kRintsts, dw::kAll);
  write(dw::kClksrc, 0);
  restore();
  if (dma_) init_idmac();
  return true;
}

/// The FIFO's depth is only to be had before anyone writes FIFOTH.
bool DwMmc::identify() {
  const std::uint32_t verid = read(dw::kVerid);
  version_ = dw::version_of(verid);
  if (verid == dw::kAll || version_ == 0) return false;
  hcon_ = read(dw::kHcon);
  wide_ = dw::has_address64(hcon_);
  idmac_ = &dw::idmac_offsets(hcon_);
  const std::uint32_t code = (hcon_ & dw::kHconWidthMask) >> dw::kHconWidthLsb;
  width_ = code < kWidthCodes ? dw::data_width_bytes(hcon_) : 4;  // Linux: an unknown code is 32 bits
  fifo_port_ = config_.base + dw::data_offset(verid);
  depth_ = config_.fifo_depth;
  if (!depth_) depth_ = ((read(dw::kFifoth) & dw::kFifothRxMask) >> dw::kFifothRxLsb) + 1;
  return depth_ >= kLeastDepth;
}

bool DwMmc::choose_dma() {
  dma_ = config_.dma && (hcon_ & dw::kHconDmaMask) == 0;
  if (!dma_) return true;
  const std::uint64_t end = config_.ring_address + config_.ring_bytes;
  if ((config_.ring_address & 3) || (!wide_ && (end - 1) >> 32)) return false;
  if (config_.ring_bytes < (wide_ ? dw::kDes64Bytes : dw::kDes32Bytes)) return false;
  ring_ = DwRing(hal::ram(config_.ring_address, config_.ring_bytes), config_.ring_address, config_.ring_bytes,
                 wide_);
  return true;
}

/// No register tells the speeds: a board description does, and what the version's registers can express.
void DwMmc::describe() {
  caps_.max_clock_hz = config_.base_clock_hz;
  caps_.width8 = config_.bus_width == 0 || config_.bus_width == 8;
  caps_.width4 = caps_.width8 || config_.bus_width == 4;
  caps_.high_speed = caps_.ddr52 = caps_.hs200 = true;
  caps_.hs400 = caps_.width8 && version_ >= dw::kVersion280;
  caps_.hs400es = false;
  caps_.ocr = kOcr;
}

DwLimits DwMmc::limits() const {
  if (!dma_) return dw_pio_limits();
  return dw_ring_limits(config_.ring_bytes, wide_ ? dw::kDes64Bytes : dw::kDes32Bytes, config_.max_seg_bytes);
}

void DwMmc::init_idmac() {
  ring_.link();
  write(dw::kBmod, dw::kBmodReset);
  write(idmac_->status, dw::kAll);
  write(idmac_->enable, dw::kIdmacForDriver);
  write(idmac_->base_low, static_cast<std::uint32_t>(config_.ring_address));
  if (wide_) write(idmac_->base_high, static_cast<std::uint32_t>(config_.ring_address >> 32));
}

void DwMmc::stop_idmac() {
  update(dw::kCtrl, dw::kCtrlIntEnable, shadow_.ctrl);
  reset(dw::kCtrlDmaReset);
  write(dw::kBmod, dw::kBmodReset);
}

void DwMmc::power_on() {
  write(dw::kPwren, shadow_.power = dw::kSlot);
  hal::delay_ns(kPowerSettleNs);
  send_init_ = true;
}

/// Makes the host load CLKDIV, CLKSRC and CLKENA: a command that stays off the bus and has no CMD_DONE.
bool DwMmc::update_clock(bool wait_data) {
  if (wait_data && !wait_not_busy()) return false;
  write(dw::kCmdarg, 0);
  hal::barrier();
  write(dw::kCmd, dw::kCmdStart | dw::kCmdUpdateClock | (wait_data ? dw::kCmdWaitData : 0));
  return poll_until([&] { return (read(dw::kCmd) & dw::kCmdStart) == 0; }, 0, kLimitNs);
}

// Off, divide, on: each step is loaded on its own, so that the card never sees a short clock.
std::uint32_t DwMmc::set_clock(std::uint32_t hz) {
  card_hz_ = 0;
  write(dw::kClkena, shadow_.clock_enable = 0);
  if (!update_clock(true) || hz == 0) return 0;
  const std::uint32_t n = dw_divider(config_.base_clock_hz, hz);
  if (n > kDwMaxDivider) return 0;
  write(dw::kClkdiv, shadow_.clock_divider = n);
  if (!update_clock(true)) return 0;
  write(dw::kClkena, shadow_.clock_enable = dw::kSlot);
  if (!update_clock(true)) return 0;
  return card_hz_ = dw_divided(config_.base_clock_hz, n);
}

void DwMmc::set_bus_width(unsigned bits) {
  lines_ = bits;
  update(dw::kCtype, bits == 8 ? dw::kCtypeWidth8 : bits == 4 ? dw::kCtypeWidth4 : 0, shadow_.ctype);
}

void DwMmc::set_timing(CardMode mode) {
  timing_ = mode;
  const bool hs400 = mode >= CardMode::hs400, ddr = hs400 || mode == CardMode::ddr52;
  const std::uint32_t uhs = (ddr ? dw::kUhsDdr : 0) | (mode >= CardMode::hs200 ? dw::kUhs1V8 : 0);
  update(dw::kUhsReg, uhs, shadow_.uhs);
  if (!late_registers()) return;
  update(dw::kEmmcDdrReg, (ddr ? dw::kDdrHalfStart : 0) | (hs400 ? dw::kDdrHs400 : 0), shadow_.ddr);
  if (mode < CardMode::hs52)
    update(dw::kUhsRegExt, 0, shadow_.phase);  // a new start: the tuned phase is void
}

/// Writes every register that keeps its value, whatever the host has in them.
void DwMmc::restore() {
  write(dw::kPwren, shadow_.power);
  write(dw::kIntmask, shadow_.intmask);
  write(dw::kTmout, shadow_.tmout);
  write(dw::kBlksiz, shadow_.blksiz);
  write(dw::kCtype, shadow_.ctype);
  write(dw::kFifoth, shadow_.fifoth);
  write(dw::kUhsReg, shadow_.uhs);
  if (late_registers()) {
    write(dw::kCardthrctl, shadow_.threshold);
    write(dw::kEmmcDdrReg, shadow_.ddr);
    write(dw::kUhsRegExt, shadow_.phase);
  }
  write(dw::kClkdiv, shadow_.clock_divider);
  write(dw::kClkena, shadow_.clock_enable);
  write(dw::kCtrl, shadow_.ctrl);
}

// The order of Linux: IDMAC off, everything reset, the DMA request gone, the FIFO emptied once more, then the registers,
// the ring and, because a controller reset drops the clock setting, UPDATE_CLOCK.
void DwMmc::reset_lines() {
  active_ = nullptr;
  phase_ = Phase::idle;
  pio_data_ = nullptr;
  shadow_.intmask = dw::kIntForDma;
  if (dma_) stop_idmac();
  bool good = reset(dw::kCtrlReset | dw::kCtrlFifoReset | (dma_ ? dw::kCtrlDmaReset : 0));
  write(dw::kRintsts, dw::kAll);
  if (dma_) {
    good &= poll_until([&] { return (read(dw::kStatus) & dw::kStatusDmaReq) == 0; }, kStepNs, kLimitNs);
    good &= reset(dw::kCtrlFifoReset);
  }
  restore();
  if (dma_) init_idmac();
  good &= update_clock(false);
  dma_reset_due_ = false;
  if (!good) hal::event(hal::Event::driver_error, dw::kCtrl, read(dw::kRintsts), aborts_, read(dw::kStatus));
}

}  // namespace fw
