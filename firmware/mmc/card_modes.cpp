// Bus width and speed mode switches (JESD84-B51 6.6.2 to 6.6.6), the steps of Linux.
#include "firmware/hal/hal.hpp"
#include "firmware/mmc/card.hpp"
#include "firmware/mmc/commands.hpp"
#include "firmware/mmc/modes.hpp"

namespace fw {

namespace {
constexpr unsigned kTimingHs = 1, kTimingHs200 = 2, kTimingHs400 = 3;
constexpr unsigned kWidth1 = 0, kWidth4 = 1, kWidth8 = 2, kWidth4Ddr = 5, kWidth8Ddr = 6, kStrobe = 0x80;
}  // namespace

bool Card::set_clock(std::uint32_t limit_hz) {
  const std::uint32_t hz = limit_hz < config_.max_clock_hz ? limit_hz : config_.max_clock_hz;
  clock_hz_ = host_->set_clock(hz);
  return clock_hz_ != 0;
}

bool Card::select_mode(CardMode mode) {
  switch (mode) {
    case CardMode::legacy: {
      const std::uint32_t hz = info_.max_legacy_hz ? info_.max_legacy_hz : mode_max_hz(mode);
      return set_clock(hz) && select_bus_width();
    }
    case CardMode::hs52:
      return select_hs() && select_bus_width();
    case CardMode::ddr52:
      return select_hs() && select_bus_width() && select_ddr52();
    case CardMode::hs200:
      return select_bus_width() && select_hs200();
    case CardMode::hs400:
      return select_bus_width() && select_hs200() && hs200_to_hs400();
    case CardMode::hs400es:
      return select_bus_width() && select_hs400es();
  }
  return false;
}

// A width counts when EXT_CSD reads the same through it; the next narrower one is tried otherwise.
bool Card::select_bus_width() {
  const HostCaps& caps = host_->capabilities();
  if (caps.width8 && try_bus_width(8)) return true;
  if (caps.width4 && try_bus_width(4)) return true;
  return try_bus_width(1);
}

bool Card::try_bus_width(unsigned bits) {
  const unsigned value = bits == 8 ? kWidth8 : bits == 4 ? kWidth4 : kWidth1;
  if (!switch_byte(ext_csd::kBusWidth, value)) return false;
  host_->set_bus_width(bits);
  std::array<std::uint8_t, 512> again;
  if (read_ext_csd(again) && same_card(info_.raw, again)) {
    width_ = bits;
    return true;
  }
  host_->set_bus_width(width_);
  return false;
}

// CMD6 answers in the old timing; the CMD13 that follows is sent in the new one.
bool Card::select_hs() {
  if (!switch_byte(ext_csd::kHsTiming, kTimingHs, false)) return false;
  host_->set_timing(CardMode::hs52);
  const std::uint32_t hz =
      (info_.device_type & kTypeHs52) ? mode_max_hz(CardMode::hs52) : mode_max_hz(CardMode::legacy);
  return set_clock(hz) && check_switch();
}

bool Card::select_ddr52() {
  if (width_ == 1) return false;
  if (!switch_byte(ext_csd::kBusWidth, width_ == 8 ? kWidth8Ddr : kWidth4Ddr, false)) return false;
  host_->set_timing(CardMode::ddr52);
  return set_clock(mode_max_hz(CardMode::ddr52)) && check_switch();
}

bool Card::select_hs200() {
  if (width_ == 1) return false;
  if (!switch_byte(ext_csd::kHsTiming, kTimingHs200, false)) return false;
  host_->set_timing(CardMode::hs200);
  if (!check_switch()) return false;
  return set_clock(mode_max_hz(CardMode::hs200)) && host_->execute_tuning(cmd::kSendTuningBlock);
}

// By way of HS at no more than 52 MHz, because the card refuses HS400 from HS200.
bool Card::hs200_to_hs400() {
  if (width_ != 8) return false;
  if (!switch_byte(ext_csd::kHsTiming, kTimingHs, false)) return false;
  host_->set_timing(CardMode::hs52);
  if (!set_clock(mode_max_hz(CardMode::hs52)) || !check_switch()) return false;
  if (!switch_byte(ext_csd::kBusWidth, kWidth8Ddr)) return false;
  if (!switch_byte(ext_csd::kHsTiming, kTimingHs400, false)) return false;
  host_->set_timing(CardMode::hs400);
  return set_clock(mode_max_hz(CardMode::hs400)) && check_switch();
}

bool Card::select_hs400es() {
  if (width_ != 8) return false;
  if (!switch_byte(ext_csd::kHsTiming, kTimingHs, false)) return false;
  host_->set_timing(CardMode::hs52);
  if (!set_clock(mode_max_hz(CardMode::hs52)) || !check_switch()) return false;
  if (!switch_byte(ext_csd::kBusWidth, kWidth8Ddr | kStrobe)) return false;
  if (!switch_byte(ext_csd::kHsTiming, kTimingHs400, false)) return false;
  host_->set_timing(CardMode::hs400es);
  return set_clock(mode_max_hz(CardMode::hs400es)) && check_switch();
}

// JESD84-B51 7.4.66: high nibble for eight lines, low nibble for four; 0 needs no switch.
bool Card::select_power_class() {
  unsigned index = ext_csd::kPowerClass52_360;
  if (mode_ == CardMode::ddr52) index = ext_csd::kPowerClassDdr52_360;
  if (mode_ == CardMode::hs200) index = ext_csd::kPowerClass200_195;
  if (mode_ >= CardMode::hs400) index = ext_csd::kPowerClassDdr200_360;
  if (mode_ == CardMode::legacy || width_ == 1) return true;
  const unsigned field = info_.raw[index];
  const unsigned power = width_ == 8 ? field >> 4 : field & 15;
  return power == 0 || switch_byte(ext_csd::kPowerClass, power);
}

}  // namespace fw
