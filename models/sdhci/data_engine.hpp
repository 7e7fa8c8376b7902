// The data path of a host: DAT lines <-> FIFO <-> DMA. Two stages joined by the FIFO: a full one stops the card clock
// (read), an empty one keeps the wire waiting (write). Rules and symbols: timing contract "Host FIFO and DMA".
//
//   read:  a block enters the FIFO at its frame end, is available to the DMA `crc_check` later, is drained when its last
//          W beat has left (posted_drain) or its last B is back; the next frame starts when the device is ready and a
//          whole block has room.
//   write: the DMA fetches ahead as room allows; a frame starts when all its bytes are there; then CRC status and busy.
//
// Memory side: ADMA2 segments (DescriptorWalker), SDMA, or the CPU (PIO). The DWC MSHC 128 MiB rule is checked here, at
// the DMA master. One event per block in `at` style, one per 64 KiB in `lt` style.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "models/axi/master_port.hpp"
#include "models/core/context.hpp"
#include "models/mmc_bus/mmc_bus.hpp"
#include "models/sdhci/descriptor_walker.hpp"
#include "models/sdhci/params.hpp"

namespace vp {

class DataEngine : public sc_core::sc_module, private AxiMasterPort::Client {
 public:
  enum class Mover : std::uint8_t { pio, sdma, adma };

  struct Job {
    DataDir direction = DataDir::none;
    Mover mover = Mover::pio;
    std::uint32_t block_bytes = 512;
    std::uint64_t blocks = 1;   ///< 0: until the card is stopped
    std::uint64_t address = 0;  ///< descriptor table (adma) or data (sdma)
    AdmaFormat format;
    std::uint32_t sdma_boundary = 512 * 1024;  ///< bytes
    bool check_length = true;                  ///< block count is finite: the descriptors must add up
    bool tuning = false;                       ///< CMD21: errors are results, not errors
    int tag = -1;                              ///< queued task the job belongs to, for findings; -1: none
    std::uint32_t alignment = 1;               ///< of a segment's address; else ADMA error, bytes
    bool keep_copies = false;                  ///< keep the descriptors for walker().runs()
    BufferedDescriptors buffered;              ///< descriptors that are here already
    CauseGraph* graph = nullptr;
  };

  /// Where an ADMA error was found (ADMA_ERROR.STATE).
  enum class AdmaState : std::uint8_t { stop = 0, fetch = 1, transfer = 3 };

  struct Client {
    virtual ~Client() = default;
    /// All data are where they belong and the card is no longer busy; `last` is the node that ended now.
    virtual void data_complete(NodeId last) = 0;
    /// Error interrupt bits (sdhci::kInt…). The engine has stopped.
    virtual void data_error(std::uint32_t bits) = 0;
    virtual void adma_error(AdmaState state, bool length_mismatch, std::uint64_t descriptor) = 0;
    /// Normal interrupt bits: DMA, buffer ready, block gap.
    virtual void data_interrupt(std::uint32_t bits) = 0;
    /// A tuning block has come in, good or bad.
    virtual void tuning_block(bool good) = 0;
    /// The sampling phase is right for reads at this clock (tuned, strobed, or slow).
    virtual bool sampling_good() = 0;
    virtual void block_moved() = 0;  ///< a block has crossed the wire (block count registers)
  };

  SC_HAS_PROCESS(DataEngine);
  DataEngine(sc_core::sc_module_name name, Context& ctx, ClockDomain& core_clock, ClockDomain& axi_clock,
             MmcBus& bus, const SdhciParams& params, Client& client);

  AxiMasterPort& port() { return port_; }
  const AxiMasterPort& port() const { return port_; }
  /// What a transfer that does not go on waits for: the wire, or memory once the DMA has stopped for good.
  Span blocked_on() const { return blocked_on_; }

  /// The command with data has been written: descriptors and, for writes, data are fetched from now on.
  void prepare(const Job& job);
  /// The data command's end bit, with what the card does: a read's first block may follow.
  void command_sent(const CommandOutcome& outcome);
  /// Its response has ended: a write's first block may follow.
  void response_ended(const CommandOutcome& outcome);
  /// CMD12 was seen by the card at `at`: no further blocks.
  void card_stopped(sc_time at);
  /// Reset of the DAT line: everything under way is dropped, nothing is reported any more.
  void abort();
  void set_data_timeout(sc_time timeout) { timeout_ = timeout; }

  // --- PIO ---
  bool pio_can_read() const {
    return active_ && job_.mover == Mover::pio && job_.direction == DataDir::read && !slots_.empty();
  }
  bool pio_can_write() const;
  std::uint32_t pio_read(unsigned bytes);
  void pio_write(unsigned bytes, std::uint32_t value);
  /// The command is complete: a PIO write's buffer takes its first block.
  void open_buffer();

  // --- SDMA and block gap ---
  void sdma_resume(std::uint64_t address);
  void request_stop_at_gap(bool stop) { stop_at_gap_ = stop; }
  void continue_after_gap();

  // --- for a queue engine beside ---
  static constexpr std::uint32_t kFetchId = 2;  ///< AXI id of these reads
  /// Reads `bytes` at `address` through the DMA port, beside the job; one at a time. `fetched` is called when done.
  void fetch(std::uint64_t address, std::byte* to, std::uint32_t bytes);
  void drop_fetch();
  bool fetching() const { return fetch_open_; }
  void on_fetched(std::function<void(bool ok)> fetched) { fetched_ = std::move(fetched); }
  const DescriptorWalker& walker() const { return walker_; }
  /// The instant the block just reported by block_moved() was counted (in lt style it may lie ahead).
  sc_time block_counted_at() const { return counted_at_; }

  bool active() const { return active_; }
  bool reading() const { return active_ && job_.direction == DataDir::read; }
  bool writing() const { return active_ && job_.direction == DataDir::write; }
  std::uint64_t memory_address() const;
  std::uint64_t descriptor_address() const { return walker_.descriptor_address(); }

  struct Counters {
    std::uint64_t blocks_read = 0, blocks_written = 0, descriptors = 0, clock_stops = 0,
                  boundary_crossings = 0;
    sc_time clock_stopped, descriptor_wait, wire_wait_for_data;
  };
  Counters counters() const;

 private:
  struct Slot {
    std::vector<std::byte> data;
    std::uint32_t bytes = 0, issued = 0, open = 0;
    std::uint64_t block = 0;
    sc_time ready;  ///< write: all bytes here; read: available to the DMA
    bool complete = false;
  };
  struct Piece : AxiMasterPort::Transfer {
    Slot* slot = nullptr;
    bool interrupt = false, ends_segment = false;
    std::uint64_t next_descriptor = 0;  ///< the one after the piece's own
  };
  using Segment = DescriptorWalker::Segment;

  // common (data_engine.cpp)
  void on_wire();
  void on_finish();
  void on_timeout();
  void start_fetch();
  void on_fetch_lt();
  void drop_transfers();
  void count_block(sc_time at);
  void complete_at(sc_time at, NodeId last);
  void fail(std::uint32_t bits);
  void fail_adma(AdmaState state, bool mismatch, std::uint64_t descriptor);
  Slot& new_slot();
  void free_slot(Slot& slot);
  Piece& new_piece();
  /// This job is computed ahead by reservation; everything else runs by events in both styles.
  bool by_reservation() const { return reservation_; }
  CauseGraph& graph() { return job_.graph ? *job_.graph : no_graph_; }
  std::uint64_t capacity() const;
  void trace_fifo(sc_time at);
  bool stopped_by_gap(std::uint64_t block);
  void gap_reached();
  void arm_timeout(sc_time from);
  sc_time available_at(sc_time frame_end) const {
    return core_.align(frame_end) + core_.cycles(params_.crc_check);
  }

  // memory side (dma_side.cpp)
  void axi_left(AxiMasterPort::Transfer& transfer) override;
  void axi_done(AxiMasterPort::Transfer& transfer) override;
  void axi_issued(AxiMasterPort::Transfer& transfer) override;
  void segment_arrived();
  Segment* segment(sc_time now);
  bool check_segment(Segment& s);
  std::uint32_t piece_limit(Segment& s, std::uint32_t wanted);
  bool use_segment(Segment& s, std::uint32_t bytes);
  void next_segment(sc_time now);
  void issue_slot(Slot& slot);
  void pump_memory();
  void piece_drained(Slot& slot);
  bool table_has_ended(bool& waiting);
  void check_complete();
  void finish_stopped();
  void end_with_table(const Segment& end);
  void report_crossing(Segment& s);

  // wire side, `at` style (wire_side.cpp)
  void start_read_frame();
  void end_read_frame();
  void start_write_frame();
  void end_write_frame();
  NodeId read_cause(sc_time base, const BlockReady& ready, sc_time end);
  NodeId write_cause(sc_time base, sc_time have, sc_time end);
  bool bad_sampling();

  // `lt` style (data_engine_lt.cpp)
  struct LtRun;
  void run_lt();
  void read_lt(std::uint64_t blocks);
  void write_lt(std::uint64_t blocks);
  bool place_block_lt(LtRun& run, std::uint64_t block, std::byte* data, sc_time ready);
  bool fetch_blocks_lt(std::uint64_t count);
  bool flush_lt(LtRun& run);

  Context& ctx_;
  ClockDomain& core_;
  ClockDomain& axi_;
  MmcBus& bus_;
  const SdhciParams& params_;
  Client& client_;
  AxiMasterPort port_;
  DescriptorWalker walker_;

  Job job_;
  Span blocked_on_ = Span::wire;
  CauseGraph no_graph_;
  bool active_ = false, frame_on_wire_ = false, card_may_send_ = false, waiting_for_room_ = false,
       stop_at_gap_ = false, gap_stopped_ = false, stuck_ = false, card_stopped_ = false,
       waiting_for_segment_ = false, waiting_for_data_ = false, finishing_ = false, reservation_ = false,
       pio_open_ = false, table_done_ = false, gap_open_ = false;
  std::uint64_t next_block_ = 0;   // next on the wire
  std::uint64_t fetch_block_ = 0;  // write: next to fetch
  std::uint64_t fifo_used_ = 0;
  std::uint64_t pieces_open_ = 0;
  std::deque<Slot*> slots_;      // in order: filled by the wire (read) or by the DMA (write)
  std::size_t memory_slot_ = 0;  // read: first slot of slots_ with bytes not yet issued
  std::deque<Slot> slot_store_;
  std::vector<Slot*> slot_free_;
  std::deque<Piece> piece_store_;
  std::vector<Piece*> piece_free_;
  Segment sdma_;
  bool sdma_waiting_ = false;
  std::uint32_t pio_offset_ = 0;

  sc_time frame_start_, frame_end_, wire_base_, room_at_, stopped_since_, segment_wait_from_,
      segment_wait_until_;
  NodeId wire_node_ = kRootNode, last_node_ = kRootNode;
  bool wire_node_extendable_ = false;
  sc_time timeout_;
  std::vector<sc_time> slot_times_;  // lt: when FIFO position k % capacity was drained or freed
  std::vector<std::byte> lt_buffer_;
  std::vector<sc_time> lt_have_;
  std::uint64_t lt_fetched_ = 0;
  sc_time lt_last_done_, lt_last_issue_;
  std::uint32_t lt_error_ = 0;   // found ahead of time: raised at lt_error_at_
  sc_time lt_error_at_, lt_at_;  // lt_at_: the instant the reservation has reached
  struct {
    AdmaState state = AdmaState::stop;
    bool mismatch = false;
    std::uint64_t descriptor = 0;
  } lt_adma_;

  AxiMasterPort::Transfer fetch_;
  std::function<void(bool)> fetched_;
  std::uint64_t fetch_address_ = 0;
  std::byte* fetch_to_ = nullptr;
  std::uint32_t fetch_bytes_ = 0;
  bool fetch_open_ = false;
  bool fetch_dropped_ = false;  // the port still has a read nobody waits for
  sc_time counted_at_;

  sc_core::sc_event wire_event_, finish_event_, timeout_event_, fetch_event_;
  Counters counters_;
  SignalId t_level_, t_state_, t_address_;
};

}  // namespace vp
