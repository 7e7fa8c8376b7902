// What the device side of an eMMC bus looks like to the lines. Times are absolute and may lie in the future: the device
// computes them once, from resources that keep their next free time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/core/clock.hpp"
#include "models/core/spans.hpp"

namespace vp {

struct MmcCommand {
  std::uint8_t index = 0;  ///< 0..63
  std::uint32_t argument = 0;
};

/// Response formats of the standard (JESD84-B51 6.12); R1b is R1 with busy.
enum class RespType : std::uint8_t { none, r1, r1b, r2, r3, r4, r5 };

struct MmcResponse {
  RespType type = RespType::none;
  std::uint8_t index = 0;              ///< as sent; 0x3F in R2 and R3
  std::uint32_t content = 0;           ///< card status, OCR, QSR
  std::array<std::uint8_t, 16> reg{};  ///< R2: CID or CSD, byte 0 = bits 127:120, byte 15 = CRC7 and end bit
};

enum class DataDir : std::uint8_t { none, read, write };

/// What a command did, decided at its end bit.
struct CommandEffect {
  std::optional<MmcResponse> response;  ///< none: the device stays silent
  DataDir data = DataDir::none;
  std::uint32_t block_bytes = 0;
  sc_time busy_until;            ///< R1b: end of busy on DAT0; not after `now`: no busy
  NodeId busy_node = kRootNode;  ///< what the busy end waits for
};

/// When a block of a read can start on the wire, and why not earlier.
struct BlockReady {
  sc_time at;
  NodeId why = kRootNode;
};

/// CRC status token on DAT0 after a written block (positive 010, negative 101, or none at all).
enum class CrcStatus : std::uint8_t { accepted, crc_error, none };

struct WriteEffect {
  CrcStatus status = CrcStatus::accepted;
  sc_time busy_until;  ///< not after the token's end: no busy
  NodeId why = kRootNode;
};

/// Timing of the DAT lines as one side understands it.
struct LineMode {
  unsigned width = 1;  ///< 1, 4, 8
  bool ddr = false;
  bool operator==(const LineMode&) const = default;
};

class MmcCard {
 public:
  virtual ~MmcCard() = default;

  /// The end bit of a command whose CRC7 was good, at kernel time. `after` is the node of the command's end in `graph`.
  virtual CommandEffect command(const MmcCommand& command, CauseGraph& graph, NodeId after) = 0;
  /// The end bit of a command with a bad CRC7: no answer, COM_CRC_ERROR in the next R1.
  virtual void corrupted_command() = 0;

  /// Block k of the running read transfer. Called with k = 0, 1, 2, ...
  virtual BlockReady read_ready(std::uint32_t k, CauseGraph& graph) = 0;
  /// How many blocks from `k` on, k included, are ready when k is: those of one buffer page.
  virtual std::uint32_t ready_with(std::uint32_t k) const {
    (void)k;
    return 1;
  }
  /// The block's bytes; called once per k in order, for a frame that ends at `frame_end`.
  virtual void read_block(std::uint32_t k, std::span<std::byte> out, sc_time frame_end) = 0;
  /// A block arrives; `token_end` is the end of the CRC status token. `after` is the frame's node.
  virtual WriteEffect write_block(std::uint32_t k, std::span<const std::byte> in, bool crc_good,
                                  sc_time token_end, CauseGraph& graph, NodeId after) = 0;
  /// Is there a next block in the running transfer (false once a pre-counted transfer has all its blocks)?
  virtual bool transfer_running() const = 0;

  /// When queued task `tag` became ready for execution and why not earlier; `after` is the end of CMD45's response.
  /// The host asks once per task, when the queue status first shows it ready. `at` zero: not known.
  virtual BlockReady queue_ready(unsigned tag, CauseGraph& graph, NodeId after) {
    (void)tag, (void)graph;
    return {sc_time(), after};
  }

  /// Gap in card clocks the device leaves between blocks of a read at this clock (contract symbol G).
  virtual unsigned block_gap_clocks(double card_clock_hz) const = 0;
  /// What the device has been switched to (HS_TIMING, BUS_WIDTH).
  virtual LineMode line_mode() const = 0;
  virtual double max_clock_hz() const = 0;
  virtual const char* mode_name() const = 0;
  /// N_CR in card clocks at this clock.
  virtual unsigned response_delay_clocks(double card_clock_hz) const = 0;
  /// Hardware reset by RST_n.
  virtual void hardware_reset() = 0;
};

}  // namespace vp
