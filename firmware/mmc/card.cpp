#include "firmware/mmc/card.hpp"

#include <cstring>

#include "firmware/hal/hal.hpp"
#include "firmware/mmc/commands.hpp"
#include "firmware/mmc/modes.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kIdentifyHz = 400'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kOpCondStepNs = 10 * kMs;
constexpr unsigned kOpCondTries = 100;  // JESD84-B51 6.4.3: ready within 1 s
constexpr std::uint32_t kOcrReady = 1u << 31, kOcrSectors = 1u << 30, kOcrVoltages = 0x00FF'8080;
constexpr std::uint32_t kRca = 1;  // the host's choice
constexpr std::uint64_t kTranLimitNs = 1000 * kMs;
constexpr std::uint64_t kStatusStepNs = kMs;
}  // namespace

std::uint32_t Card::rca_arg() const { return rca_ << 16; }

bool Card::command(std::uint8_t index, std::uint32_t arg, Response response, MmcCommand& c) {
  c.index = index;
  c.arg = arg;
  c.response = response;
  return host_->send(c) == MmcError::none;
}

SetupResult Card::set_up() {
  if (config_.kind == CardKind::sd) return set_up_sd();
  std::uint32_t dropped = 0;
  for (;;) {
    const SetupResult r = identify();
    if (r == SetupResult::no_card && config_.kind == CardKind::probe && dropped == 0) return set_up_sd();
    if (r != SetupResult::ok) return r;
    const std::uint32_t modes = possible_modes(host_->capabilities(), info_, config_.max_mode) & ~dropped;
    const CardMode mode = best_mode(modes);
    if (select_mode(mode)) {
      mode_ = mode;
      break;
    }
    host_->reset_lines();
    if (mode == CardMode::legacy) return SetupResult::mode_failed;
    dropped |= 1u << static_cast<unsigned>(mode);
  }
  if (!select_power_class() || !set_options()) return SetupResult::option_failed;
  hal::event(hal::Event::ready, 0, info_.sectors);
  return SetupResult::ok;
}

bool Card::start_identification(std::uint32_t rca) {
  info_ = CardInfo{};
  cache_on_ = false;
  width_ = 1;
  rca_ = rca;
  mode_ = CardMode::legacy;
  host_->set_timing(CardMode::legacy);
  host_->set_bus_width(1);
  host_->power_on();
  clock_hz_ = host_->set_clock(kIdentifyHz);
  if (clock_hz_ != 0) hal::delay_ns(kMs);
  return clock_hz_ != 0;
}

SetupResult Card::identify() {
  if (!start_identification(kRca)) return SetupResult::no_clock;
  if (!poll_op_cond()) return SetupResult::no_card;
  return read_registers();
}

// CMD0, CMD1 with argument 0 to ask, CMD0, CMD1 with the voltages until the busy bit rises.
bool Card::poll_op_cond() {
  MmcCommand c;
  command(cmd::kGoIdle, 0, Response::none, c);
  hal::delay_ns(kMs);
  if (!command(cmd::kSendOpCond, 0, Response::r3, c)) return false;
  const std::uint32_t host = host_->capabilities().ocr ? host_->capabilities().ocr : kOcrVoltages;
  std::uint32_t want = c.resp[0] & kOcrVoltages & host;
  if (!want) want = c.resp[0] & kOcrVoltages;  // supplies of the board, not the host's choice
  command(cmd::kGoIdle, 0, Response::none, c);
  hal::delay_ns(kMs);
  for (unsigned i = 0; i < kOpCondTries; ++i) {
    if (!command(cmd::kSendOpCond, want | kOcrSectors, Response::r3, c)) return false;
    if (c.resp[0] & kOcrReady) return true;
    hal::delay_ns(kOpCondStepNs);
  }
  return false;
}

SetupResult Card::read_registers() {
  MmcCommand c;
  if (!command(cmd::kAllSendCid, 0, Response::r2, c)) return SetupResult::identify_failed;
  if (!command(cmd::kSetRelativeAddr, rca_arg(), Response::r1, c)) return SetupResult::identify_failed;
  if (!command(cmd::kSendCsd, rca_arg(), Response::r2, c)) return SetupResult::identify_failed;
  if (!parse_csd(c.resp, info_)) return SetupResult::identify_failed;
  if (!command(cmd::kSelect, rca_arg(), Response::r1, c)) return SetupResult::identify_failed;

  std::array<std::uint8_t, 512> bytes;
  if (!read_ext_csd(bytes) || !parse_ext_csd(bytes, info_)) return SetupResult::ext_csd_failed;
  constexpr std::uint32_t kAccessMask = 7;
  if (info_.revision >= 3 && !switch_byte(ext_csd::kEraseGroupDef, 1)) return SetupResult::option_failed;
  if ((info_.partition_config & kAccessMask) &&
      !switch_byte(ext_csd::kPartitionConfig, info_.partition_config & ~kAccessMask))
    return SetupResult::option_failed;
  if (info_.revision >= 6 && !switch_byte(ext_csd::kPowerOffNotification, 1))
    return SetupResult::option_failed;
  return SetupResult::ok;
}

bool Card::read_ext_csd(std::array<std::uint8_t, 512>& out) {
  const Segment segment{config_.bounce_address, 512};
  MmcData data;
  data.segments = {&segment, 1};
  MmcCommand c;
  c.data = &data;
  void* memory = hal::ram(config_.bounce_address, out.size());
  std::memset(memory, 0, out.size());
  if (!command(cmd::kSendExtCsd, 0, Response::r1, c)) return false;
  std::memcpy(out.data(), memory, out.size());
  return true;
}

/// CMD13 after CMD6: the card must be back in tran and not refuse.
bool Card::check_switch() {
  MmcCommand c;
  if (!command(cmd::kSendStatus, rca_arg(), Response::r1, c)) return false;
  return !(c.resp[0] & r1::kSwitchError) && r1::state(c.resp[0]) == r1::kStateTran;
}

bool Card::switch_byte(unsigned index, unsigned value, bool check) {
  MmcCommand c;
  c.timeout_ms = index == ext_csd::kPartitionConfig ? info_.partition_switch_ms : info_.generic_cmd6_ms;
  if (!command(cmd::kSwitch, switch_arg(index, value), Response::r1b, c)) return false;
  return !check || check_switch();
}

bool Card::wait_tran(std::uint64_t limit_ns) {
  const std::uint64_t deadline = hal::now_ns() + limit_ns;
  for (;;) {
    MmcCommand c;
    if (command(cmd::kSendStatus, rca_arg(), Response::r1, c) && r1::ready_for_data(c.resp[0])) return true;
    if (hal::now_ns() >= deadline) return false;
    hal::delay_ns(kStatusStepNs);
  }
}

bool Card::recover(bool data_was_moving, bool was_write) {
  host_->reset_lines();
  if (data_was_moving) {
    MmcCommand c;  // a card already back in tran does not answer; that is no error here
    command(cmd::kStop, 0, was_write ? Response::r1b : Response::r1, c);
  }
  return wait_tran(kTranLimitNs);
}

// HPI and cache after the mode, as Linux does; a card that refuses HPI is used without it.
bool Card::set_options() {
  if (info_.hpi) switch_byte(ext_csd::kHpiMgmt, 1);
  if (config_.enable_cache && info_.revision >= 6 && info_.cache_bytes) {
    if (!switch_byte(ext_csd::kCacheCtrl, 1)) return false;
    cache_on_ = true;
  }
  return true;
}

}  // namespace fw
