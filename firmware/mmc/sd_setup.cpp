// SD memory card set-up (SD Physical Layer 4.2, 4.3), in the order Linux uses: CMD0, CMD8, ACMD41, CMD2, CMD3, CMD9, CMD7,
// ACMD51, CMD6 to High Speed, ACMD6 to four lines. High capacity cards; 3.3 V signalling only, so no UHS-I modes.
#include <cstring>

#include "firmware/hal/hal.hpp"
#include "firmware/mmc/card.hpp"
#include "firmware/mmc/commands.hpp"
#include "firmware/mmc/sd_card.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kOpCondStepNs = 10 * kMs;
constexpr unsigned kOpCondTries = 100;  // SD 4.2.3: ready within 1 s
constexpr std::uint32_t kOcrReady = 1u << 31, kOcrHighCapacity = 1u << 30, kOcrVoltages = 0x00FF'8000;
constexpr std::uint32_t kIfCond = 0x1AA;  // 2.7 to 3.6 V and the usual check pattern
constexpr std::uint32_t kBusWidth4 = 2;
}  // namespace

bool Card::app_command(std::uint8_t index, std::uint32_t arg, Response response, MmcCommand& c) {
  MmcCommand app;
  if (!command(sd_cmd::kAppCmd, rca_ << 16, Response::r1, app) || !(app.resp[0] & sd_cmd::kAppCmdBit))
    return false;
  return command(index, arg, response, c);
}

bool Card::read_sd_register(std::uint8_t index, std::uint32_t arg, bool app, std::span<std::uint8_t> out) {
  const Segment segment{config_.bounce_address, static_cast<std::uint32_t>(out.size())};
  MmcData data;
  data.segments = {&segment, 1};
  data.block_bytes = segment.bytes;
  MmcCommand c;
  c.data = &data;
  void* memory = hal::ram(config_.bounce_address, out.size());
  std::memset(memory, 0, out.size());
  if (!(app ? app_command(index, arg, Response::r1, c) : command(index, arg, Response::r1, c))) return false;
  std::memcpy(out.data(), memory, out.size());
  return true;
}

SetupResult Card::set_up_sd() {
  if (!start_identification(0)) return SetupResult::no_clock;
  if (!sd_op_cond()) return SetupResult::no_card;
  if (const SetupResult r = sd_registers(); r != SetupResult::ok) return r;
  if (!sd_speed()) return SetupResult::mode_failed;
  hal::event(hal::Event::ready, 0, info_.sectors);
  return SetupResult::ok;
}

bool Card::sd_op_cond() {
  MmcCommand c;
  command(cmd::kGoIdle, 0, Response::none, c);
  hal::delay_ns(kMs);
  if (!command(sd_cmd::kSendIfCond, kIfCond, Response::r1, c) || (c.resp[0] & 0xFFF) != kIfCond) return false;
  if (!app_command(sd_cmd::kOpCond, 0, Response::r3, c)) return false;
  const std::uint32_t host = host_->capabilities().ocr;
  std::uint32_t want = c.resp[0] & kOcrVoltages & (host ? host : kOcrVoltages);
  if (!want) want = c.resp[0] & kOcrVoltages;
  for (unsigned i = 0; i < kOpCondTries; ++i) {
    if (!app_command(sd_cmd::kOpCond, want | kOcrHighCapacity, Response::r3, c)) return false;
    if (c.resp[0] & kOcrReady) {
      info_.sector_addressed = c.resp[0] & kOcrHighCapacity;
      return true;
    }
    hal::delay_ns(kOpCondStepNs);
  }
  return false;
}

SetupResult Card::sd_registers() {
  MmcCommand c;
  if (!command(cmd::kAllSendCid, 0, Response::r2, c)) return SetupResult::identify_failed;
  if (!command(cmd::kSetRelativeAddr, 0, Response::r1, c)) return SetupResult::identify_failed;
  rca_ = c.resp[0] >> 16;
  if (!command(cmd::kSendCsd, rca_arg(), Response::r2, c)) return SetupResult::identify_failed;
  if (!parse_sd_csd(c.resp, info_)) return SetupResult::identify_failed;
  if (!command(cmd::kSelect, rca_arg(), Response::r1, c)) return SetupResult::identify_failed;
  std::array<std::uint8_t, 8> scr{};
  if (!read_sd_register(sd_cmd::kSendScr, 0, true, scr) || !parse_scr(scr, info_))
    return SetupResult::identify_failed;
  return SetupResult::ok;
}

/// High Speed when host and card have it, then as many lines as both have, then the clock.
bool Card::sd_speed() {
  std::uint32_t hz = sd_cmd::kDefaultHz;
  std::array<std::uint8_t, 64> status{};
  const bool wanted = host_->capabilities().high_speed && config_.max_mode >= CardMode::hs52;
  if (wanted && info_.sd_switch && read_sd_register(cmd::kSwitch, sd_cmd::kCheckFunctions, false, status) &&
      sd_function_supported(status, sd_cmd::kHighSpeed)) {
    if (!read_sd_register(cmd::kSwitch, sd_cmd::kSwitchHighSpeed, false, status)) return false;
    if (sd_function_selected(status) == sd_cmd::kHighSpeed) {
      host_->set_timing(CardMode::hs52);
      mode_ = CardMode::hs52;
      hz = sd_cmd::kHighSpeedHz;
    }
  }
  if (!set_clock(hz)) return false;
  if (!host_->capabilities().width4 || !info_.sd_width4) return true;
  MmcCommand c;
  if (!app_command(sd_cmd::kSetBusWidth, kBusWidth4, Response::r1, c)) return false;
  host_->set_bus_width(4);
  width_ = 4;
  return read_sd_register(sd_cmd::kSdStatus, 0, true, status);  // the first block over four lines
}

}  // namespace fw
