// Back end without command queueing: one request at a time as CMD17/18/24/25 (with CMD23), CMD6 for a flush.
// After a write or a flush CMD13 is polled until the card is in tran and ready: at once, then after 32 us,
// doubling to 32.768 ms, for 10 s, as Linux does. An error resets the lines, stops the card, waits for tran
// and tries once more.
#pragma once

#include <array>

#include "firmware/block/request.hpp"
#include "firmware/block/split.hpp"
#include "firmware/mmc/card.hpp"

namespace fw {

struct MmcDiskConfig {
  bool use_cmd23 = true;  ///< false: open-ended transfers ended by CMD12
  std::uint32_t max_seg_bytes = 65536;
  std::uint32_t flush_timeout_ms = 30'000;  ///< what Linux allows
};

class MmcDisk final : public BlockBackend {
 public:
  void init(MmcHost& host, Card& card, const MmcDiskConfig& config);

  unsigned max_in_flight() const override { return 1; }
  std::uint32_t tag(const Request&) const override { return 32; }
  void issue(Request& r) override;
  void service() override;
  Request* take_finished() override;
  bool pending() const override;
  std::uint64_t deadline_ns() const override;
  bool can_fua() const override;

  std::uint32_t recoveries() const { return recoveries_; }

 private:
  enum class State : std::uint8_t { idle, transfer, status, backoff };

  void start_transfer();
  void start_flush();
  void start_status();
  void transfer_ended();
  void status_ended();
  void fail(MmcError error);
  void finish(MmcError error);

  MmcHost* host_ = nullptr;
  Card* card_ = nullptr;
  MmcDiskConfig config_;
  State state_ = State::idle;
  Request* request_ = nullptr;
  Request* finished_ = nullptr;
  MmcCommand command_;
  MmcData data_;
  std::array<Segment, kMaxSegments> segments_{};
  std::uint64_t poll_ns_ = 0, poll_step_ns_ = 0, poll_end_ns_ = 0;
  std::uint32_t recoveries_ = 0;
};

}  // namespace fw
