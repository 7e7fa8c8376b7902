// AXI master port: what a DMA engine holds. Splits transfers into bursts (4 KiB, maximum length, data width,
// allowed INCR lengths), keeps 1..N reads and writes outstanding, and counts why it waited. Timing (contract
// "AXI"): see the formulas at the top of master_port.cpp.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "models/axi/axi_extension.hpp"
#include "models/axi/bursts.hpp"
#include "models/core/context.hpp"
#include "models/core/params.hpp"

namespace vp {

struct AxiMasterParams {
  std::uint64_t data_width_bits = 64;
  std::uint64_t max_burst_beats = 16;
  std::uint64_t outstanding_reads = 4;
  std::uint64_t outstanding_writes = 4;
  std::uint64_t qos = 0;
  std::uint64_t address_bits = 64;
  void declare(ParamRegistry& r, const std::string& at);
};

struct AxiCounters {  // in AXI cycles except where said
  std::uint64_t read_bursts = 0, write_bursts = 0, read_beats = 0, write_beats = 0, read_bytes = 0,
                write_bytes = 0;
  std::uint64_t busy = 0;                 ///< at least one burst unfinished
  std::uint64_t wait_grant = 0;           ///< address not yet accepted by the interconnect
  std::uint64_t limited_outstanding = 0;  ///< a burst is ready to go but N are unfinished
  std::uint64_t wait_first_beat = 0;      ///< reads: address accepted, no data yet
  std::uint64_t w_back_pressure = 0;      ///< writes: W beats held back
  std::uint64_t wait_b = 0;               ///< writes: last W beat gone, B not back
};

/// Memory a master in `lt` style reaches without transactions: DMI for the data, a timing target for the bursts.
struct AxiLtMemory {
  std::byte* host = nullptr;  ///< of address `from`; null: none
  std::uint64_t from = 0, last = 0;
  AxiTimingTarget* timing = nullptr;
  bool holds(std::uint64_t address, std::uint64_t bytes) const {
    return host && address >= from && bytes - 1 <= last - from && address - from <= last - from - (bytes - 1);
  }
  std::byte* at(std::uint64_t address) const { return host + (address - from); }
};

class AxiMasterPort : public sc_core::sc_module {
 public:
  /// One contiguous transfer. Owned by the client; must live until `done`.
  struct Transfer {
    static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
    bool is_write = false;
    std::uint64_t address = 0;
    std::byte* data = nullptr;
    std::uint32_t bytes = 0;
    std::uint32_t id = 0;
    /// 0: INCR bursts. Else FIXED bursts, every beat of so many bytes (a power of two, at most the data
    /// width) at `address`: a peripheral's FIFO. A FIXED burst has at most 16 beats (ARM IHI 0022 A3.4.1).
    std::uint32_t fixed_beat_bytes = 0;
    bool error = false;  ///< out: DECERR or SLVERR on any burst
    std::uint64_t error_address = 0;
    void* user = nullptr;
    /// A client that looks at `left_ps` and `done_ps` when it needs them is not called; an error is told all the same.
    bool quiet_left = false, quiet_done = false;
    std::uint64_t left_ps = 0, done_ps = 0;  ///< out: as soon as known, may be ahead of now; kUnknown before
    // port's own
    std::uint64_t from_ps = 0;  // not issued before
    std::uint32_t bursts_open = 0;
    bool all_issued = false;
  };
  /// Calls come at the kernel time they speak of.
  struct Client {
    virtual ~Client() = default;
    /// Writes: the last W beat has left. Not called for reads.
    virtual void axi_left(Transfer& transfer) = 0;
    /// The last B response (writes) or R beat (reads) is back; data of a read are in place.
    virtual void axi_done(Transfer& transfer) = 0;
    /// The last burst's address has been issued (descriptor fetch at prefetch depth 0 waits for it).
    virtual void axi_issued(Transfer&) {}
  };

  tlm_utils::simple_initiator_socket<AxiMasterPort> socket;

  AxiMasterPort(sc_core::sc_module_name name, Context& ctx, ClockDomain& clock,
                const AxiMasterParams& params);
  ~AxiMasterPort() override;

  void set_client(Client& client);
  void set_allowed_bursts(const BurstSet& set);

  /// `at` style: queues a transfer, in order per direction. It starts on the next AXI edge when bursts are
  /// free.
  void start(Transfer& transfer) { start(transfer, sc_core::SC_ZERO_TIME); }
  /// As start() called at `from`, for what is known ahead: the transfer keeps its place in the queue until then.
  void start(Transfer& transfer, sc_time from);
  /// Calls for a quiet transfer after all, if what the client is to hear of is not over by now. No later transfer may be
  /// that far yet: with one outstanding burst none is.
  void tell_left(Transfer& transfer);
  void tell_done(Transfer& transfer);
  /// Takes back the transfer started last in its direction, of which nothing has been issued.
  void withdraw(Transfer& transfer);
  /// Drops what has not been issued yet; bursts under way end silently (no callback for their transfers).
  void abort();
  bool idle() const;

  /// `lt` style: moves a contiguous run at once by reservation. pieces[] give when each part is ready and
  /// receive when it left and was done; they add up to `bytes`. Returns false on a bus error (then
  /// `error_address` tells where).
  bool run_lt(bool is_write, std::uint64_t address, std::byte* data, std::span<LtPiece> pieces,
              std::uint64_t* error_address = nullptr);
  /// `lt` style: the memory around `address`, all zero when there is none to hand out.
  AxiLtMemory memory_lt(std::uint64_t address);
  /// `lt` style: times one piece of run_lt() whose data the client moves itself, in `memory`, which holds it.
  void time_lt(const AxiLtMemory& memory, bool is_write, std::uint64_t address, LtPiece& piece);
  /// As calls of time_lt() for equal pieces that follow each other in memory, ready in `rhythm` and each over before the
  /// next is ready; `first` is the first one's. False: that does not hold, nothing was timed.
  bool time_pieces_lt(const AxiLtMemory& memory, bool is_write, std::uint64_t address,
                      const AxiRhythm& rhythm, LtPiece& first);
  /// `lt` style counterpart of a small single read or write (a descriptor): returns when it is done.
  sc_time access_lt(bool is_write, std::uint64_t address, std::byte* data, std::uint32_t bytes, sc_time ready,
                    bool* ok);
  /// `lt` style counterpart of a transfer with `fixed_beat_bytes`.
  sc_time access_fixed_lt(bool is_write, std::uint64_t address, std::byte* data, std::uint32_t bytes,
                          std::uint32_t beat_bytes, sc_time ready, bool* ok);

  const AxiCounters& counters() const;
  const AxiMasterParams& params() const;

 private:
  SC_HAS_PROCESS(AxiMasterPort);
  void step();
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace vp
