// ADMA2 descriptor fetch: reads descriptors over AXI in table order, at most `prefetch_depth` ahead of the one in use
// (0: the next one is fetched only when the current one's last burst has been issued), follows LINK, skips NOP, stops at
// END. Hands out TRAN descriptors as segments; an invalid one comes out in its place in the order.
// One code for both timing styles: `at` fetches by transactions and callbacks, `lt` by reservation.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "models/axi/master_port.hpp"
#include "models/core/context.hpp"
#include "models/sdhci/sdhci_regs.hpp"

namespace vp {

struct AdmaFormat {
  std::uint32_t bytes = sdhci::kAdma32Bytes;  ///< 8, 12 or 16: size and stride
  bool length26 = false;                      ///< 26-bit lengths (HOST_CONTROL2.10)
};

struct AdmaDescriptor {
  std::uint64_t address = 0;
  std::uint32_t length = 0;  ///< bytes; the field's 0 is already 65536 (64 MiB with 26-bit lengths)
  std::uint32_t attr = 0;    ///< VALID, END, INT, ACT
  bool valid() const { return attr & sdhci::kAdmaValid; }
  bool end() const { return attr & sdhci::kAdmaEnd; }
  bool interrupt() const { return attr & sdhci::kAdmaInt; }
  std::uint32_t act() const { return attr & sdhci::kAdmaActMask; }
};

/// Decodes one descriptor from its `format.bytes` bytes, little-endian (SDHCI 4.20 1.13).
AdmaDescriptor decode_adma(const std::byte* bytes, AdmaFormat format);

/// Descriptors that are here before the walk begins, from `address` on: they need no fetch.
struct BufferedDescriptors {
  const std::byte* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint64_t address = 0;
};

class DescriptorWalker {
 public:
  struct Segment {
    enum class Kind : std::uint8_t { data, invalid, bus_error, end } kind = Kind::data;
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;  ///< left to move
    bool interrupt = false;
    bool last = false;             ///< END was set in this descriptor
    std::uint64_t descriptor = 0;  ///< its own address
    std::uint32_t index = 0;       ///< in order of fetch, from 0
    sc_time at;                    ///< when it was here
    std::uint64_t window_end = 0;  ///< first byte beyond the 128 MiB window when it crosses one, else 0
    bool checked = false;          ///< the window rule has been looked at
  };
  static constexpr std::uint32_t kTransferId = 1;  ///< AXI id of descriptor reads
  /// A stretch of the table as it was fetched.
  struct Run {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    std::uint32_t offset = 0;  ///< of its copy in copies()
  };

  DescriptorWalker(Context& ctx, AxiMasterPort& port, const std::string& path);

  /// How the next walk fetches: by transactions and callbacks (at) or by reservation (lt).
  void set_style(TimingStyle style) { style_ = style; }
  /// Starts at `table`. `arrived` is called (at style) whenever a segment has come.
  /// `buffered` must live until the walk ends; with `keep_copies` the descriptors fetched are kept for runs().
  void start(std::uint64_t table, AdmaFormat format, unsigned depth, std::function<void()> arrived,
             const BufferedDescriptors& buffered = {}, bool keep_copies = false);
  void stop();
  bool running() const { return running_; }

  /// The segment in use, or null when it has not arrived yet (at style). Kind end: the table has ended.
  Segment* current();
  /// lt style: as current(), fetching now if need be; `now` is when the engine looks.
  Segment* current_lt(sc_time now);
  /// The current segment is no longer in use: it is used up and, at prefetch depth 0, its last burst has been issued.
  /// `now` is that instant (in lt style it may lie ahead of kernel time).
  void advance(sc_time now);
  unsigned depth() const { return depth_; }

  /// A descriptor read is back (the port's client routes id kTransferId here).
  void fetched(AxiMasterPort::Transfer& transfer);

  std::uint64_t descriptor_address() const { return current_address_; }
  std::uint64_t next_address() const { return next_; }
  std::uint64_t descriptors_fetched() const { return fetched_total_; }
  std::uint64_t max_ahead() const { return max_ahead_; }
  bool fetching() const { return fetching_; }
  /// What the last walk has read, until the next start.
  std::span<const Run> runs() const { return runs_; }
  const std::byte* copies() const { return copies_.data(); }

 private:
  void pump();
  bool may_fetch() const;
  void take(sc_time at, bool bus_ok);
  bool take_buffered(sc_time at);
  void keep_copy();
  void fetch_lt(sc_time at);

  Context& ctx_;
  AxiMasterPort& port_;
  std::function<void()> arrived_;
  AdmaFormat format_;
  unsigned depth_ = 0;
  TimingStyle style_ = TimingStyle::at;
  bool running_ = false, fetching_ = false, ended_ = false, in_use_ = false;
  std::uint64_t next_ = 0, current_address_ = 0;
  std::uint32_t index_ = 0;
  std::deque<Segment> ready_;
  sc_time last_fetch_;
  AxiMasterPort::Transfer transfer_;
  std::array<std::byte, sdhci::kAdma128Bytes> raw_{};
  BufferedDescriptors buffered_;
  bool keep_copies_ = false;
  std::vector<Run> runs_;
  std::vector<std::byte> copies_;
  std::uint64_t fetched_total_ = 0, max_ahead_ = 0;
  SignalId t_address_;
};

}  // namespace vp
