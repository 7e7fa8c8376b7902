// eMMC set-up and the commands of a running card (JESD84-B51 6.4, 6.6), in the order Linux uses.
// Identify, read CSD and EXT_CSD, set the erase groups, go to the best mode (HS400ES, HS400, HS200, DDR52,
// HS, legacy); a mode whose switch, status or tuning fails is dropped and the card is identified anew for the
// next one. Then power class, HPI and the write cache. The queue's commands are in card_queue.cpp. Boot, RPMB,
// partitions and sleep are not here. A card that does not answer CMD1 is tried as an SD memory card (sd_setup.cpp),
// unless the board says what it is.
#pragma once

#include "firmware/mmc/card_info.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

struct CardConfig {
  CardMode max_mode = CardMode::hs400es;
  std::uint32_t max_clock_hz = 200'000'000;
  bool enable_cache = true;
  std::uint64_t bounce_address = 0;  ///< 512 bytes of DMA memory for EXT_CSD
  CardKind kind = CardKind::probe;
};

enum class SetupResult : std::uint8_t {
  ok,
  no_clock,
  no_card,
  identify_failed,
  ext_csd_failed,
  mode_failed,
  option_failed
};

class Card {
 public:
  Card() = default;
  Card(MmcHost& host, const CardConfig& config) : host_(&host), config_(config) {}

  SetupResult set_up();

  const CardInfo& info() const { return info_; }
  CardMode mode() const { return mode_; }
  std::uint32_t clock_hz() const { return clock_hz_; }
  unsigned bus_width() const { return width_; }
  bool cache_on() const { return cache_on_; }
  std::uint32_t rca_arg() const;
  /// Command argument of a sector: sectors, or bytes on cards up to 2 GiB.
  std::uint32_t address_arg(std::uint64_t sector) const {
    return static_cast<std::uint32_t>(info_.sector_addressed ? sector : sector * 512);
  }

  /// CMD6 write-byte argument (JESD84-B51 6.6.1).
  static constexpr std::uint32_t switch_arg(unsigned index, unsigned value) {
    return 3u << 24 | index << 16 | value << 8 | 1;
  }
  /// CMD13 until the card is in tran and ready, or `limit_ns` has passed.
  bool wait_tran(std::uint64_t limit_ns);
  /// Ends a transfer that went wrong: CMD12 (when data was moving), then CMD13 until tran.
  bool recover(bool data_was_moving, bool was_write);

  /// CMDQ_MODE_EN (EXT_CSD byte 15) by CMD6; the queue must be empty and the host's engine off.
  bool set_queue_mode(bool on);
  /// Ends the running transfer and empties the queue: CMD12, CMD13 until not busy, CMD48.
  bool abort_queue();
  /// CMD48 for the whole queue; a busy card refuses it, so it is tried more than once.
  bool discard_queue();

 private:
  SetupResult identify();
  /// Power and the identification clock, one line: how every card is first spoken to. False: no clock.
  bool start_identification(std::uint32_t rca);
  bool poll_op_cond();
  SetupResult read_registers();
  bool command(std::uint8_t index, std::uint32_t arg, Response response, MmcCommand& c);
  bool switch_byte(unsigned index, unsigned value, bool check = true);
  bool check_switch();
  bool read_ext_csd(std::array<std::uint8_t, 512>& out);
  bool select_bus_width();
  bool try_bus_width(unsigned bits);
  bool set_clock(std::uint32_t limit_hz);
  bool select_mode(CardMode mode);
  bool select_hs();
  bool select_ddr52();
  bool select_hs200();
  bool hs200_to_hs400();
  bool select_hs400es();
  bool select_power_class();
  bool set_options();
  // sd_setup.cpp
  SetupResult set_up_sd();
  bool app_command(std::uint8_t index, std::uint32_t arg, Response response, MmcCommand& c);
  bool read_sd_register(std::uint8_t index, std::uint32_t arg, bool app, std::span<std::uint8_t> out);
  bool sd_op_cond();
  SetupResult sd_registers();
  bool sd_speed();

  MmcHost* host_ = nullptr;
  CardConfig config_;
  CardInfo info_;
  CardMode mode_ = CardMode::legacy;
  std::uint32_t clock_hz_ = 0;
  unsigned width_ = 1;
  std::uint32_t rca_ = 1;  ///< an SD card chooses its own
  bool cache_on_ = false;
};

}  // namespace fw
