// CMD6 SWITCH (JESD84-B51 6.6.1, 6.10.4): what may be written, what it does, how long it takes.
#include <algorithm>

#include "models/emmc/emmc.hpp"

namespace vp {
namespace {

using namespace ext_csd;

/// HS_TIMING and the BUS_WIDTH values legal with it (JESD84-B51 tables 145 and 147; enhanced strobe in bit
/// 7).
struct ModeRule {
  std::uint8_t timing, width;
  std::uint8_t device_types;  ///< any of these DEVICE_TYPE bits; 0: none needed
};
constexpr ModeRule kModes[] = {
    {0, 0, 0},    {0, 1, 0},       {0, 2, 0},        // legacy
    {1, 0, 0x03}, {1, 1, 0x03},    {1, 2, 0x03},     // HS SDR
    {1, 5, 0x0C}, {1, 6, 0x0C},    {1, 0x86, 0x0C},  // DDR52; 0x86 prepares HS400ES
    {2, 1, 0x30}, {2, 2, 0x30},                      // HS200
    {3, 6, 0xC0}, {3, 0x86, 0xC0},                   // HS400, HS400ES
};

}  // namespace

bool Emmc::mode_allowed(std::uint8_t timing, std::uint8_t width) const {
  if ((width & 0x80) != 0 && ext_csd_[kStrobeSupport] == 0) return false;
  return std::any_of(std::begin(kModes), std::end(kModes), [&](const ModeRule& m) {
    return m.timing == (timing & 0x0F) && m.width == width &&
           (m.device_types == 0 || (ext_csd_[kDeviceType] & m.device_types) != 0);
  });
}

/// Rules beyond the access classes.
bool Emmc::switch_allowed(unsigned index, std::uint8_t value) const {
  const std::uint8_t width = ext_csd_[kBusWidth], timing = ext_csd_[kHsTiming];
  switch (index) {
    case kBusWidth:
      return mode_allowed(timing, value);
    case kHsTiming:
      // Back to HS from HS400 the width is still x8 DDR; into HS from HS200 it stays.
      if (value >> 4 > 4) return false;  // driver strength
      return mode_allowed(value, width);
    case kPartitionConfig:
      return (value & 7) <= 2 && ((value & 7) == 0 || ext_csd_[kBootSizeMult] != 0);
    case kCacheCtrl:
      return value == 0 || ext_csd_.u32(kCacheSize) != 0;
    case kFlushCache:
      return value == 1 || value == 2;
    case kPowerOffNotification:
      return value <= 4;
    case kRstNFunction:
      return value <= 2;
    case kHpiMgmt:
      return value == 0 || (ext_csd_[503] & 1) != 0;
    case kBkopsStart:
      return (ext_csd_[502] & 1) != 0;
    case kSanitizeStart:
      return (ext_csd_[kSecFeatureSupport] & 0x40) != 0;
    case kCmdqModeEn:
      return value == 0 || (value == 1 && (ext_csd_[kCmdqSupport] & 1) != 0);
    default:
      return true;
  }
}

void Emmc::switch_byte(Call& c) {
  const std::uint32_t arg = c.cmd.argument;
  const auto access = static_cast<SwitchAccess>(arg >> 24 & 3);
  const unsigned index = arg >> 16 & 0xFF;
  const auto operand = static_cast<std::uint8_t>(arg >> 8);
  const auto other = [&](double us) {
    const sc_time until = c.now + from_ps(NandParams::us(us));
    busy(c, CardState::prg, until, c.graph.add(c.after, Span::busy, until));
  };
  // SWITCH_ERROR belongs to the execution: it is seen in the response after this one.
  if (access == SwitchAccess::command_set) {
    other(params_.switch_other_us);
    if ((arg & 7) != 0) deferred_status_ |= status::kSwitchError;
    return;
  }
  const ExtCsd::Change change = ext_csd_.change(access, index, operand);
  if (!change.allowed || !switch_allowed(index, change.value)) {
    other(params_.switch_other_us);
    deferred_status_ |= status::kSwitchError;
    return;
  }
  const Accepted done = apply_switch(c, index, change.value);
  busy(c, CardState::prg, done.at, done.why);
}

Accepted Emmc::apply_switch(Call& c, unsigned index, std::uint8_t value) {
  const auto after = [&](double us) {
    const sc_time until = c.now + from_ps(NandParams::us(us));
    return Accepted{until, c.graph.add(c.after, Span::busy, until)};
  };
  const auto flushed_and = [&](double us) {
    const Accepted f = ftl_->flush(c.now, c.graph, c.after);
    const sc_time until = f.at + from_ps(NandParams::us(us));
    return Accepted{until, c.graph.add(f.why, Span::busy, until)};
  };
  const bool write_only = ext_csd_field(index) && ext_csd_field(index)->write_only && index != kBusWidth;
  const std::uint8_t before = ext_csd_[index];
  if (!write_only) ext_csd_.store(index, value);
  switch (index) {
    case kHsTiming:
    case kBusWidth: {
      Accepted a = after(params_.switch_mode_us);
      old_mode_ = mode(c.now);
      new_mode_ = {ext_csd_[kHsTiming], ext_csd_[kBusWidth]};
      new_mode_from_ = a.at;  // in force from the end of busy
      return a;
    }
    case 187:
      return after(params_.switch_mode_us);  // POWER_CLASS
    case kPartitionConfig:
      return after(params_.switch_partition_us);
    case kCacheCtrl: {
      const bool off = (before & 1) != 0 && (value & 1) == 0;
      Accepted a = off ? flushed_and(params_.switch_cache_us) : after(params_.switch_cache_us);
      ftl_->set_cache((value & 1) != 0);
      return a;
    }
    case kCmdqModeEn: {
      Accepted a = after(params_.switch_other_us);
      queue_.parameters.reset();
      queue_from_ = a.at;
      return a;
    }
    case kFlushCache:
      return ftl_->flush(c.now, c.graph, c.after);  // a barrier needs no less on this device
    case kPowerOffNotification:
      return value >= 2 ? flushed_and(params_.switch_power_us) : after(params_.switch_power_us);
    case kBkopsStart:
      return after(params_.bkops_us);
    case kSanitizeStart:
      return after(params_.sanitize_us);
    default:
      return after(params_.switch_other_us);
  }
}

}  // namespace vp
