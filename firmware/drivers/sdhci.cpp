#include "firmware/drivers/sdhci.hpp"

#include "firmware/drivers/sdhci_clock.hpp"
#include "firmware/drivers/sdhci_hw.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kResetStepNs = 10'000, kResetLimitNs = 100 * kMs;  // what Linux allows
constexpr std::uint64_t kClockStepNs = 10'000, kClockLimitNs = 150 * kMs;
constexpr std::uint64_t kPowerSettleNs = 1 * kMs;  // JESD84-B51 10.1: 1 ms and 74 clocks
// POWER_CONTROL.VDD1_VOLTAGE for an eMMC on a DWC MSHC
constexpr std::uint32_t kEmmc3V3 = 7, kEmmc1V8 = 6;
constexpr std::uint32_t kOcr3V3 = 0x0030'0000, kOcr3V0 = 0x0006'0000, kOcr1V8 = 0x0000'0080;
constexpr std::uint32_t kDmaSelSdma = 0, kDmaSelAdma2 = 2, kDmaSelAdma64V3 = 3;
}  // namespace

std::uint32_t Sdhci::read32(std::uint32_t o) const { return hal::read32(at(o)); }
void Sdhci::write32(std::uint32_t o, std::uint32_t v) { hal::write32(at(o), v); }
std::uint16_t Sdhci::read16(std::uint32_t o) const { return hal::read16(at(o)); }
void Sdhci::write16(std::uint32_t o, std::uint32_t v) { hal::write16(at(o), static_cast<std::uint16_t>(v)); }
void Sdhci::write8(std::uint32_t o, std::uint32_t v) { hal::write8(at(o), static_cast<std::uint8_t>(v)); }

void Sdhci::write_hc1(std::uint32_t v) {
  if (v != hc1_) write8(hw::kHostControl1, v);
  hc1_ = v;
}

void Sdhci::write_hc2(std::uint32_t v) {
  if (v != hc2_) write16(hw::kHostControl2, v);
  hc2_ = v;
}

void Sdhci::write_interrupts(std::uint32_t enabled) {
  if (enabled == interrupts_) return;
  write32(hw::kIntEnable, enabled);
  write32(hw::kIntSignal, enabled);
  interrupts_ = enabled;
}

bool Sdhci::reset(std::uint32_t which) {
  write8(hw::kSoftwareReset, which);
  return poll_until([&] { return (hal::read8(at(hw::kSoftwareReset)) & which) == 0; }, kResetStepNs,
                    kResetLimitNs);
}

bool Sdhci::init(const SdhciConfig& config) {
  *this = Sdhci{};
  config_ = config;
  if (!reset(hw::kResetAll)) return false;
  read_capabilities();
  choose_addressing();
  if (!choose_dma()) return false;
  write_interrupts(hw::kIntForPio);
  return true;
}

void Sdhci::read_capabilities() {
  spec_ = read16(hw::kVersion) & hw::kVersionSpecMask;
  cap1_ = read32(hw::kCapabilities1);
  cap2_ = read32(hw::kCapabilities2);
  vendor1_ = read16(hw::kVendor1Pointer) & hw::kVendor1PointerMask;

  constexpr std::uint32_t kMHz = 1'000'000;
  base_hz_ = config_.base_clock_hz ? config_.base_clock_hz
                                   : ((cap1_ & hw::kCap1BaseMask) >> hw::kCap1BaseLsb) * kMHz;
  tmclk_khz_ = (cap1_ & hw::kCap1TimeoutMask) * ((cap1_ & hw::kCap1TimeoutMhz) ? 1000u : 1u);

  caps_ = HostCaps{};
  caps_.max_clock_hz = base_hz_;
  // A board description outranks the capability bit: an embedded host may wire eight lines and not say so.
  caps_.width8 = config_.bus_width ? config_.bus_width == 8 : (cap1_ & hw::kCap1Width8) != 0;
  caps_.width4 = config_.bus_width != 1;
  caps_.high_speed = cap1_ & hw::kCap1HighSpeed;
  caps_.ddr52 = cap2_ & hw::kCap2Ddr50;
  caps_.hs200 = cap2_ & hw::kCap2Sdr104;
  // No standard capability bit exists for HS400; a DWC MSHC with SDR104, eight lines and its vendor area can
  // do it.
  caps_.hs400 = caps_.hs200 && caps_.width8 && vendor1_ != 0;
  caps_.hs400es = caps_.hs400;
  if (cap1_ & hw::kCap1V33) caps_.ocr |= kOcr3V3;
  if (cap1_ & hw::kCap1V30) caps_.ocr |= kOcr3V0;
  if (cap1_ & hw::kCap1V18) caps_.ocr |= kOcr1V8;
}

// SDHCI 4.20 2.2.21, 2.2.27: V4 mode decides where SDMA's address lives and how wide descriptors are.
void Sdhci::choose_addressing() {
  const bool can64_v4 = cap1_ & hw::kCap1Addr64V4;
  v4_ = config_.v4 == V4Policy::always || (config_.v4 == V4Policy::when_capable && can64_v4);
  addr64_ = v4_ ? can64_v4 : (cap1_ & hw::kCap1Addr64V3) != 0;
  format_ = !addr64_ ? AdmaFormat::bits32 : v4_ ? AdmaFormat::bits64_v4 : AdmaFormat::bits64_v3;
  auto_select_ = v4_ && spec_ >= hw::kSpec410;
  if (v4_) write_hc2(hc2_ | hw::kHc2V4 | (addr64_ ? hw::kHc2Addr64 : 0));
}

bool Sdhci::choose_dma() {
  if (config_.dma == DmaKind::adma2 && !(cap1_ & hw::kCap1Adma2)) config_.dma = DmaKind::sdma;
  if (config_.dma == DmaKind::sdma && !(cap1_ & hw::kCap1Sdma)) config_.dma = DmaKind::pio;
  if (config_.dma == DmaKind::sdma) write_hc1((hc1_ & ~hw::kHc1DmaMask) | kDmaSelSdma << hw::kHc1DmaLsb);
  if (config_.dma != DmaKind::adma2) return true;

  const std::uint64_t end = config_.table_address + config_.table_bytes;
  if (config_.table_bytes == 0 || (config_.table_address & 7) || (!addr64_ && (end - 1) >> 32)) return false;
  table_ = AdmaTable(hal::ram(config_.table_address, config_.table_bytes),
                     config_.table_bytes / adma_entry_bytes(format_), format_, config_.split_128m);
  const std::uint32_t select = format_ == AdmaFormat::bits64_v3 ? kDmaSelAdma64V3 : kDmaSelAdma2;
  write_hc1((hc1_ & ~hw::kHc1DmaMask) | select << hw::kHc1DmaLsb);
  return true;
}

void Sdhci::power_on() {
  const bool high = (caps_.ocr & (kOcr3V3 | kOcr3V0)) != 0 || caps_.ocr == 0;
  const std::uint32_t voltage = (high ? kEmmc3V3 : kEmmc1V8) << hw::kPowerVoltageLsb;
  write8(hw::kPowerControl, voltage);
  write8(hw::kPowerControl, voltage | hw::kPowerOn);
  hal::delay_ns(kPowerSettleNs);
}

bool Sdhci::wait_clock_stable() {
  return poll_until([&] { return (read16(hw::kClockControl) & hw::kClockStable) != 0; }, kClockStepNs,
                    kClockLimitNs);
}

// SDHCI 4.20 3.2.1 and 3.2.2; in V4 mode the PLL is enabled and waited for as a second step.
std::uint32_t Sdhci::set_clock(std::uint32_t hz) {
  write16(hw::kClockControl, clock_ = 0);
  if (hz == 0) return 0;
  const std::uint32_t n = clock_divider(base_hz_, hz);
  clock_ = (n & 0xFF) << hw::kClockDivLowLsb | (n >> 8) << hw::kClockDivHighLsb | hw::kClockInternal;
  write16(hw::kClockControl, clock_);
  if (!wait_clock_stable()) return 0;
  if (v4_) {
    write16(hw::kClockControl, clock_ |= hw::kClockPll);
    if (!wait_clock_stable()) return 0;
  }
  write16(hw::kClockControl, clock_ |= hw::kClockCard);
  return base_hz_ ? divided_clock(base_hz_, n) : hz;
}

void Sdhci::set_bus_width(unsigned bits) {
  std::uint32_t v = hc1_ & ~(hw::kHc1Width4 | hw::kHc1Width8);
  if (bits == 4) v |= hw::kHc1Width4;
  if (bits == 8) v |= hw::kHc1Width8;
  write_hc1(v);
}

void Sdhci::write_emmc_ctrl(CardMode mode) {
  if (!vendor1_) return;
  std::uint32_t v = read16(vendor1_ + hw::kEmmcCtrl) & ~(hw::kEmmcCard | hw::kEmmcStrobe);
  if (mode >= CardMode::hs400) v |= hw::kEmmcCard;
  if (mode == CardMode::hs400es) v |= hw::kEmmcStrobe;
  write16(vendor1_ + hw::kEmmcCtrl, v);
}

// UHS mode and strobe change with the card clock stopped (SDHCI 4.20 2.2.27).
void Sdhci::set_timing(CardMode mode) {
  static constexpr std::uint32_t kUhs[] = {hw::kUhsLegacy, hw::kUhsHighSpeed, hw::kUhsDdr52,
                                           hw::kUhsHs200,  hw::kUhsHs400,     hw::kUhsHs400};
  const bool running = clock_ & hw::kClockCard;
  if (running) write16(hw::kClockControl, clock_ & ~hw::kClockCard);
  write_hc1(mode == CardMode::legacy ? hc1_ & ~hw::kHc1HighSpeed : hc1_ | hw::kHc1HighSpeed);
  std::uint32_t hc2 = (hc2_ & ~(hw::kHc2UhsMask | hw::kHc2Signal1v8)) | kUhs[static_cast<unsigned>(mode)];
  if (mode >= CardMode::hs200) hc2 |= hw::kHc2Signal1v8;
  if (mode < CardMode::hs52) hc2 &= ~hw::kHc2Tuned;  // a new start: the tuned sampling point is void
  write_hc2(hc2);
  write_emmc_ctrl(mode);
  if (running) write16(hw::kClockControl, clock_);
}

void Sdhci::reset_lines() {
  reset(hw::kResetCmd);
  reset(hw::kResetDat);
  acknowledge_all();  // on a DWC MSHC the CMD reset leaves Command Complete set
  active_ = beside_ = nullptr;
  phase_ = Phase::idle;
}

}  // namespace fw
