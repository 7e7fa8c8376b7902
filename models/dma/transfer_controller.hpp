// What carries one transfer request of the system DMA out: reads the source, holds a few chunks, writes the
// destination. One request at a time; a chunk is written when it has been read whole.
//
// A side is a run when its arrays follow each other (index = ACNT) or a FIFO (address constant): FIXED bursts
// of beats of ACNT (EDMA3 drivers program a FIFO as BIDX = 0) or of FWID (SAM, DAM). Two runs are moved in
// chunks across array bounds; otherwise each array is chunked by itself.
// Time, uncontended: chunk k's read is issued when a place is free, its write when its last R beat is back;
// the request is done with the last B.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/axi/master_port.hpp"
#include "models/core/context.hpp"
#include "models/dma/params.hpp"

namespace vp {

/// What one event moves: `arrays` arrays of `array_bytes`.
struct DmaTransfer {
  struct Side {
    std::uint64_t address = 0;
    std::int32_t step = 0;        ///< from one array to the next
    std::uint32_t fifo_beat = 0;  ///< not 0: constant address, beats of so many bytes
    /// Arrays of `bytes` lie one behind the other, or at one address.
    bool run(std::uint32_t bytes) const { return fifo_beat != 0 || step == static_cast<std::int32_t>(bytes); }
  };
  unsigned channel = 0;
  Side source, destination;
  std::uint32_t array_bytes = 0, arrays = 1;
  // for the channel controller, when it is done
  unsigned code = 0;
  bool interrupt = false, chain = false;
};

class TransferController : public sc_core::sc_module, private AxiMasterPort::Client {
 public:
  struct Client {
    virtual ~Client() = default;
    /// The last byte is where it belongs, or a bus error has ended the request. At kernel time.
    virtual void transfer_done(const DmaTransfer& transfer, bool error, std::uint64_t error_address) = 0;
    virtual void descriptor_here(bool error) = 0;
  };

  SC_HAS_PROCESS(TransferController);
  TransferController(sc_core::sc_module_name name, Context& ctx, ClockDomain& clock,
                     const SystemDmaParams& params, Client& client);

  AxiMasterPort& port() { return port_; }
  const AxiMasterPort& port() const { return port_; }
  bool busy() const { return busy_; }
  /// Starts a request of at least one byte; not while busy.
  void start(const DmaTransfer& transfer);
  /// Reads `bytes` at `address`; one at a time. descriptor_here() follows.
  void fetch(std::uint64_t address, std::byte* to, std::uint32_t bytes);

  struct Counters {
    std::uint64_t transfers = 0, bytes = 0;
    sc_time busy;   ///< a request is under way
    sc_time read;   ///< of that: until its last byte has been read
    sc_time write;  ///< and from there to the last B
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Chunk {
    AxiMasterPort::Transfer read, write;
    std::vector<std::byte> data;
    sc_time free_from;  ///< lt: what it held has been written
  };
  void axi_left(AxiMasterPort::Transfer&) override {}
  void axi_done(AxiMasterPort::Transfer& transfer) override;

  bool more() const { return array_ < unit_count_; }
  /// Describes the next chunk and moves the cursor past it.
  void next(AxiMasterPort::Transfer& read, AxiMasterPort::Transfer& write);
  void pump();
  void run_lt();
  void chunk_written(Chunk& chunk);
  void end(sc_time at);
  void on_end();
  void on_fetched();

  Context& ctx_;
  ClockDomain& clock_;
  SystemDmaParams params_;
  Client& client_;
  AxiMasterPort port_;

  DmaTransfer transfer_;
  bool busy_ = false, error_ = false;
  std::uint64_t error_address_ = 0;
  // the cursor: units are arrays, or one unit for two runs
  std::uint32_t unit_bytes_ = 0, unit_count_ = 0, array_ = 0, offset_ = 0;
  std::uint32_t open_ = 0;  // chunks read or written now
  sc_time started_, read_end_;
  std::deque<Chunk> chunks_;
  std::vector<Chunk*> free_;
  AxiMasterPort::Transfer fetch_;
  bool fetch_ok_ = true;
  sc_core::sc_event end_event_, fetch_event_;
  Counters counters_;
};

}  // namespace vp
