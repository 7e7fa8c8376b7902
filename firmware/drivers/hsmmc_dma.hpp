// One peripheral's two channels of the system DMA, as Linux's EDMA driver runs them: each segment is a parameter set
// (AB-sync: one block per request), at most `max_linked` sets are linked at once. Of a longer list the last linked set
// completes early, and the interrupt handler writes the next batch while that set's last block is still on its way. A
// request that comes before the batch is there is missed; the channel is then started by software.
// With `linked_list` the whole list lies in memory and the DMA fetches it: one interrupt at its end.
#pragma once

#include <cstdint>

#include "firmware/mmc/host.hpp"
#include "models/dma/edma_regs.hpp"

namespace fw {

struct HsmmcDmaConfig {
  std::uint64_t base = 0;  ///< registers of the DMA
  std::uint64_t port = 0;  ///< bus address of the host's DATA register
  unsigned rx_channel = 25, tx_channel = 24;
  std::uint32_t max_linked = 20;  ///< Linux MAX_NR_SG
  bool linked_list = false;
  std::uint64_t list_address = 0;  ///< for linked_list: descriptors, 8-byte aligned
  std::uint32_t list_entries = 0;
};

class HsmmcDma {
 public:
  static constexpr std::uint32_t kMaxLinked = 128;  ///< sets 64 on are the links'; 32 to 63 stay free
  void init(const HsmmcDmaConfig& config);
  /// Programs and enables the channel for `data`. False when the list cannot be expressed: a segment that is no whole
  /// number of blocks, an address above 4 GiB, too long a linked list.
  bool start(const MmcData& data);
  void stop();
  /// Completion interrupt: next batch, or done.
  void irq();
  /// Error interrupt: a missed event, or a bus error.
  void error_irq();

  bool done() const { return done_; }
  bool failed() const { return failed_; }
  std::uint32_t reloads() const { return reloads_; }
  std::uint32_t missed() const { return missed_events_; }

  static constexpr std::uint32_t list_bytes(std::uint32_t segments) {
    return segments * vp::edma::kDescriptorBytes;
  }

 private:
  std::uint32_t read(std::uint32_t offset) const;
  void write(std::uint32_t offset, std::uint32_t value) const;
  std::uint32_t bit() const { return 1u << channel_; }
  vp::edma::ParamSet make_set(const Segment& s, std::uint32_t opt, std::uint32_t link) const;
  void write_set(unsigned index, const vp::edma::ParamSet& set) const;
  void write_batch();
  bool write_list();
  bool expressible(const MmcData& data) const;

  HsmmcDmaConfig config_;
  const MmcData* data_ = nullptr;
  unsigned channel_ = 0;
  std::size_t next_ = 0;  ///< first segment not yet written
  bool done_ = false, failed_ = false, lost_event_ = false;
  std::uint32_t reloads_ = 0, missed_events_ = 0;
};

}  // namespace fw
