// Back end with a queue in the host's software and none in the device, as Linux's mmc_hsq: two requests are here at once,
// one at the hardware, the next one prepared; it is sent from the interrupt of the one before it, so that no context
// switch stands between them. When two of them are writes of 4 KiB the limit rises to five, as in Linux. Transfers are
// those of MmcDisk (CMD17/18/24/25 with CMD23), without CMD13 after a write: Transfer Complete comes after its busy. A
// flush runs alone, by MmcDisk. An error stops the line; recovery is the thread's: reset, CMD12, CMD13, one more try.
#pragma once

#include <array>

#include "firmware/block/mmc_disk.hpp"
#include "firmware/block/ring.hpp"

namespace fw {

struct HsqDiskConfig {
  std::uint32_t depth = 2;        ///< Linux HSQ_NORMAL_DEPTH
  std::uint32_t write_depth = 5;  ///< Linux HSQ_PERFORMANCE_DEPTH; at most 8
  std::uint32_t max_seg_bytes = 65536;
};

class HsqDisk final : public BlockBackend, private CommandListener {
 public:
  static constexpr unsigned kMaxDepth = 8;

  /// `host` tells listeners. `legacy` does flushes.
  void init(MmcHost& host, Card& card, MmcDisk& legacy, const HsqDiskConfig& config);

  unsigned max_in_flight() const override;
  std::uint32_t tag(const Request& r) const override;
  void issue(Request& r) override;
  void service() override;
  Request* take_finished() override;
  bool pending() const override;
  std::uint64_t deadline_ns() const override;

  std::uint32_t recoveries() const { return recoveries_; }

 private:
  void command_answered(MmcCommand&) override {}
  void command_ended(MmcCommand& c) override;

  bool idle() const { return !running_ && !flush_; }
  void start_next();
  void start(Request& r);
  void recover();
  void end(Request& r, MmcError error);

  MmcHost* host_ = nullptr;
  Card* card_ = nullptr;
  MmcDisk* legacy_ = nullptr;
  HsqDiskConfig config_;
  Ring<Request*, kMaxDepth + 1> waiting_, finished_;
  Request* running_ = nullptr;  ///< at the hardware
  Request* flush_ = nullptr;    ///< at MmcDisk
  bool failed_ = false;
  MmcError error_ = MmcError::none;
  unsigned small_writes_ = 0;  ///< of 4 KiB, waiting or running
  MmcCommand command_;
  MmcData data_;
  std::array<Segment, kMaxSegments> segments_{};
  std::uint32_t recoveries_ = 0;
};

}  // namespace fw
