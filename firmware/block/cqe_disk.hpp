// Back end with a command queue engine: as many requests at once as the device's queue holds, each under the
// lowest free tag, completed in any order. A flush is a direct command in slot 31 where that is allowed;
// otherwise it waits for an empty queue, the engine is switched off, the flush runs as without queueing and
// the engine goes on. Timeouts, error reports and a lost engine lead to recovery (cqe_recovery.cpp): every
// request that was out is completed as it ended, or sent again; one that was named as the culprit twice
// fails. Requests that arrive meanwhile wait. Limits: data that the descriptors cannot address fails (no PIO
// in queue mode); no priorities, no reliable writes.
#pragma once

#include <array>

#include "firmware/block/mmc_disk.hpp"
#include "firmware/block/ring.hpp"
#include "firmware/drivers/cqhci.hpp"

namespace fw {

struct CqeDiskConfig {
  std::uint32_t depth = 32;  ///< requests at once, equal to the engine's data tags
  bool dcmd = false;
  std::uint32_t max_seg_bytes = 65536;
  std::uint32_t request_timeout_ms = 10'000;
  std::uint32_t flush_timeout_ms = 30'000;  ///< what Linux allows
};

class CqeDisk final : public BlockBackend {
 public:
  /// `legacy` carries out flushes without direct commands. The engine is initialised and off.
  void init(Cqhci& engine, Sdhci& host, Card& card, MmcDisk& legacy, const CqeDiskConfig& config);
  /// Switches the card to queue mode and starts the engine. False when either refuses.
  bool start();
  /// Stops the engine and leaves queue mode; nothing may be in flight.
  bool stop();

  unsigned max_in_flight() const override;
  std::uint32_t tag(const Request& r) const override;
  void issue(Request& r) override;
  void service() override;
  Request* take_finished() override;
  bool pending() const override;
  std::uint64_t deadline_ns() const override;

  std::uint32_t recoveries() const { return recoveries_; }

 private:
  static constexpr unsigned kSlots = 32;
  struct Slot {
    Request* request = nullptr;
    MmcError error = MmcError::none;  ///< why it is blamed in the recovery that runs
    std::uint64_t deadline_ns = 0;
  };

  bool describe(unsigned tag);
  void submit(unsigned tag);
  void ring(unsigned tag);
  void collect();
  void direct_ended();
  void end(unsigned tag, MmcError error);
  bool must_recover();
  bool past_deadline();
  void start_flushes();
  void service_legacy();

  // recovery (cqe_recovery.cpp)
  void recover();
  std::uint32_t blame();
  void report(std::uint32_t blamed) const;
  bool reset_queue();
  void settle(bool usable);
  void resume();

  Cqhci* engine_ = nullptr;
  Sdhci* host_ = nullptr;
  Card* card_ = nullptr;
  MmcDisk* legacy_ = nullptr;
  CqeDiskConfig config_;
  std::array<Slot, kSlots> slots_{};
  std::uint32_t data_tags_ = 0;         ///< the tags data may have
  std::uint32_t free_ = 0;              ///< of these, not in use
  std::uint32_t outstanding_ = 0;       ///< doorbell rung, not ended
  std::uint32_t held_ = 0;              ///< described, waiting for the end of recovery
  std::uint64_t next_deadline_ns_ = 0;  ///< not after any outstanding slot's
  Ring<Request*, kSlots + 1> flushes_, finished_;
  Request* legacy_flush_ = nullptr;
  bool legacy_running_ = false, recovering_ = false, engine_lost_ = false;
  bool queue_unclean_ = false;  ///< the last recovery could not empty the card's queue
  std::uint32_t recoveries_ = 0;
  std::array<Segment, kMaxSegments> segments_{};
};

}  // namespace fw
