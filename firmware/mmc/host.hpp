// What the card layer needs of a host controller: one command at a time (with its data, CMD23 and CMD12), the
// bus settings, tuning. Modelled on the split every eMMC stack has: the card layer knows the card, the host
// knows wires.
//
// A command is started with start() and is finished when `done` is set, from the interrupt handler; send()
// waits. Nothing here waits without a limit in time. Queued (CQE) operation is a different back end of the
// block layer (block/request.hpp) and does not pass through this interface.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "firmware/app/job_table.hpp"

namespace fw {

/// A piece of DMA memory: bus address (multiple of 4) and length (multiple of 4).
struct Segment {
  std::uint64_t address;
  std::uint32_t bytes;
};

enum class Response : std::uint8_t {
  none,
  r1,
  r1b,
  r2,
  r3,
  r1b_unchecked,  ///< CRC and index not checked: what answers a command sent to clear up
};
constexpr bool has_busy(Response r) { return r == Response::r1b || r == Response::r1b_unchecked; }

/// Why a command or a request failed; the value is the error code in events and results.
enum class MmcError : std::uint32_t {
  none = 0,
  command_timeout = 1,  ///< no response
  command_crc = 2,      ///< CRC, end bit or index of the response
  data_timeout = 3,
  data_crc = 4,          ///< CRC or end bit of data, CRC status of a write
  auto_command = 5,      ///< Auto CMD12/23 failed
  adma = 6,              ///< the host's DMA stopped on an error
  software_timeout = 7,  ///< no interrupt within the request timeout
  line_busy = 8,         ///< CMD or DAT inhibit did not clear
  card_status = 9,       ///< error bit in R1
  bad_request = 10,      ///< not expressible: alignment, length, table full
  not_ready = 11,        ///< the card did not return to the transfer state
  crypto = 12,           ///< the command queue engine reported a crypto configuration error
};

struct MmcData {
  std::span<const Segment> segments;
  std::uint32_t block_bytes = 512;
  std::uint32_t blocks = 1;
  bool read = true;
};

struct MmcCommand {
  std::uint8_t index = 0;
  std::uint32_t arg = 0;
  Response response = Response::r1;
  const MmcData* data = nullptr;
  bool use_sbc = false;          ///< CMD23 first, by the host when it can
  std::uint32_t sbc_arg = 0;     ///< CMD23 argument
  bool stop = false;             ///< open-ended: CMD12 after the data, by the host when it can
  std::uint32_t timeout_ms = 0;  ///< busy or data limit; 0: the host's default
  // result
  std::array<std::uint32_t, 4> resp{};  ///< R1/R3 in [0]; R2: [0] = card bits 127:96
  MmcError error = MmcError::none;
  bool done = false;
};

struct HostCaps {
  bool width4 = true, width8 = false;
  bool high_speed = false, ddr52 = false, hs200 = false, hs400 = false, hs400es = false;
  std::uint32_t max_clock_hz = 0;  ///< 0: not known
  std::uint32_t ocr = 0;           ///< voltages, in OCR positions
};

class MmcHost {
 public:
  virtual const HostCaps& capabilities() const = 0;
  virtual void power_on() = 0;
  /// Sets the card clock to the nearest not above `hz` (0: off). Returns Hz reached, 0 on failure.
  virtual std::uint32_t set_clock(std::uint32_t hz) = 0;
  virtual void set_bus_width(unsigned bits) = 0;
  virtual void set_timing(CardMode mode) = 0;
  /// Runs the tuning procedure with CMD `opcode`; true when a sampling point was found.
  virtual bool execute_tuning(std::uint8_t opcode) = 0;
  /// Starts a command; `c` and its data must stay until `c.done`. Errors are reported in `c`.
  virtual void start(MmcCommand& c) = 0;
  /// The instant (ns) at which on_deadline() is due: the active command has failed for want of an interrupt, or the
  /// host has something to poll. It may move while the command runs.
  virtual std::uint64_t deadline_ns() const = 0;
  /// The deadline has come. A host that polls nothing gives the command up.
  virtual void on_deadline() { abort_active(); }
  /// Ends the active command with MmcError::software_timeout and reports the registers.
  virtual void abort_active() = 0;
  /// Resets the CMD then the DAT circuit; needed after every error.
  virtual void reset_lines() = 0;
  /// The host's interrupt service routine.
  virtual void irq() = 0;

  /// Starts and waits; resets the lines after an error. Returns c.error.
  MmcError send(MmcCommand& c);

 protected:
  ~MmcHost() = default;
};

}  // namespace fw
