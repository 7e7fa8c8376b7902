// IDMAC descriptor list: reads descriptors over AXI, at most `prefetch_depth` ahead of the one in use (0: the next one is
// read when the one before has been closed), follows the next pointer (CH) or the ring (DSL, ER), stops after LD.
// A descriptor with OWN = 0 or a failed read comes out in its place. Closing is the data path's. Both timing styles.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "models/axi/master_port.hpp"
#include "models/core/context.hpp"
#include "models/dwmmc/dwmmc_regs.hpp"

namespace vp {

struct IdmacDescriptor {
  std::uint32_t des0 = 0;
  std::uint32_t size1 = 0, size2 = 0;  ///< 13 bits each
  std::uint64_t buffer1 = 0;
  std::uint64_t buffer2 = 0;  ///< or the next descriptor when chained
  bool own() const { return des0 & dwmmc::kDesOwn; }
  bool chained() const { return des0 & dwmmc::kDesChained; }
  bool last() const { return des0 & dwmmc::kDesLast; }
  bool end_of_ring() const { return des0 & dwmmc::kDesEndOfRing; }
  bool interrupt() const { return !(des0 & dwmmc::kDesNoInterrupt); }
};

/// Decodes one descriptor from its 16 (or with `wide` 32) bytes, little-endian.
IdmacDescriptor decode_idmac(const std::byte* bytes, bool wide);

class DescriptorList {
 public:
  struct Entry {
    enum class Kind : std::uint8_t { data, unavailable, bus_error, end } kind = Kind::data;
    std::uint64_t address = 0;  ///< the descriptor's own
    std::uint32_t index = 0;    ///< in order of fetch, from 0
    IdmacDescriptor d;
    sc_time at;               ///< when it was here
    std::uint64_t data = 0;   ///< buffer in use
    std::uint32_t bytes = 0;  ///< left in it
    bool second = false;      ///< buffer 2 is in use
    bool checked = false;     ///< rules have been looked at
    bool told = false;        ///< unavailable, bus_error: reported

    /// Goes on to buffer 2 when buffer 1 is used up. True: the descriptor has no more room.
    bool used_up();
  };
  struct Setup {
    std::uint64_t base = 0;
    bool wide = false;       ///< 32-byte descriptors
    std::uint32_t skip = 0;  ///< DSL, descriptors left out between two
    unsigned depth = 0;
    TimingStyle style = TimingStyle::at;
  };
  static constexpr std::uint32_t kTransferId = 1;  ///< AXI id of descriptor reads

  DescriptorList(Context& ctx, AxiMasterPort& port, const std::string& path);

  /// `arrived` is called (at style) whenever a descriptor has come.
  void start(const Setup& setup, std::function<void()> arrived);
  void stop();
  bool running() const { return running_; }
  bool fetching() const { return fetching_; }
  const Setup& setup() const { return setup_; }
  std::uint32_t descriptor_bytes() const { return setup_.wide ? dwmmc::kDes64Bytes : dwmmc::kDes32Bytes; }

  /// The descriptor in use, or null when it has not arrived (at style). Kind end: LD has been passed.
  Entry* current();
  /// The descriptor in use, or null when current() has not been asked for it yet.
  const Entry* in_use() const { return running_ && in_use_ && !ready_.empty() ? &ready_.front() : nullptr; }
  /// lt style: as current(), fetching now if need be; `now` is when the engine looks.
  Entry* current_lt(sc_time now);
  /// The one in use is no longer needed here (issued; at depth 0: closed), at `now`.
  void pop(sc_time now);
  /// Reads the unavailable descriptor again.
  void resume(sc_time now);

  /// A descriptor read is back (the port's client routes id kTransferId here).
  void fetched(AxiMasterPort::Transfer& transfer);

  std::uint64_t descriptor_address() const { return current_address_; }
  std::uint64_t descriptors_fetched() const { return fetched_total_; }
  std::uint64_t max_ahead() const { return max_ahead_; }

 private:
  bool may_fetch() const;
  void pump();
  void take(sc_time at, bool bus_ok);
  void fetch_lt(sc_time at);
  std::uint64_t next_of(const Entry& e) const;

  Context& ctx_;
  AxiMasterPort& port_;
  Setup setup_;
  std::function<void()> arrived_;
  bool running_ = false, fetching_ = false, ended_ = false, in_use_ = false;
  std::uint64_t next_ = 0, current_address_ = 0;
  std::uint32_t index_ = 0;
  std::deque<Entry> ready_;
  Entry end_;
  sc_time last_fetch_;
  AxiMasterPort::Transfer transfer_;
  std::array<std::byte, dwmmc::kDes64Bytes> raw_{};
  std::uint64_t fetched_total_ = 0, max_ahead_ = 0;
  SignalId t_address_;
};

}  // namespace vp
