// The data path of the HSMMC host: DAT lines <-> double buffer <-> DATA port, which the CPU or a system DMA reads and
// writes. Two places of a block each (one, for blocks above half the buffer), joined to the wire as a FIFO is: no free
// place stops the card clock (read), no whole block keeps the wire waiting (write). Rules and symbols: timing contract
// "Host FIFO and DMA".
//
// A request (DMA request line, or BRR/BWR) is made per block: for a read when a block is here and the one before it has
// been taken, for a write when a place is free and the block before has been given. The instants at which the port's
// bursts end may lie ahead; places change hands then. One event per block on the wire, one per request.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <systemc>
#include <vector>

#include "models/core/context.hpp"
#include "models/hsmmc/hsmmc_regs.hpp"
#include "models/hsmmc/params.hpp"
#include "models/mmc_bus/mmc_bus.hpp"

namespace vp {

class HsmmcDataPath : public sc_core::sc_module {
 public:
  struct Job {
    DataDir direction = DataDir::none;
    std::uint32_t block_bytes = 512;
    std::uint64_t blocks = 1;  ///< 0: until the card is stopped
    bool dma = false;          ///< only for the cause of a wait
    CauseGraph* graph = nullptr;
  };
  struct Client {
    virtual ~Client() = default;
    /// All blocks have crossed and the buffer is empty, the card is no longer busy; at kernel time.
    virtual void data_complete(NodeId last) = 0;
    /// Error bits of STAT; the path has stopped.
    virtual void data_error(std::uint32_t bits) = 0;
    /// The port shall be served for one block.
    virtual void port_request(bool read) = 0;
    virtual void block_moved() = 0;  ///< a block has crossed the wire
  };

  SC_HAS_PROCESS(HsmmcDataPath);
  HsmmcDataPath(sc_core::sc_module_name name, Context& ctx, ClockDomain& core, MmcBus& bus,
                const HsmmcParams& params, Client& client);

  /// The data command starts.
  void prepare(const Job& job);
  /// A write asks for its first block from now on.
  void open_port() {
    if (writing()) ask(sc_core::sc_time_stamp());
  }
  void command_sent(const CommandOutcome& outcome);
  void response_ended(const CommandOutcome& outcome);
  /// CMD12 was seen by the card at `at`.
  void card_stopped(sc_time at);
  /// Drops everything, reports nothing.
  void abort();
  void set_data_timeout(sc_time timeout) { timeout_ = timeout; }

  // --- the port ---
  bool can_read() const { return active_ && reading_ && used_ > 0; }
  bool can_write() const { return active_ && !reading_ && free_places() > 0 && !all_given(); }
  /// Takes bytes of the front block; they have left at `until`. False, and zeros, when they are not there.
  bool take(std::span<std::byte> out, sc_time until);
  /// Gives bytes of the next block; they are here at `until`. False when there is no room.
  bool give(std::span<const std::byte> in, sc_time until);

  bool active() const { return active_; }
  bool reading() const { return active_ && reading_; }
  bool writing() const { return active_ && !reading_; }
  std::uint64_t blocks_done() const { return wire_block_; }

  struct Counters {
    std::uint64_t blocks_read = 0, blocks_written = 0, requests = 0, clock_stops = 0;
    sc_time clock_stopped, wire_wait_for_data;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Place {
    std::array<std::byte, 2048> data;  // BLEN has 11 bits
    sc_time ready;
  };
  std::uint32_t capacity() const;
  std::uint32_t free_places() const { return capacity() - used_ - (port_offset_ > 0 && !reading_ ? 1 : 0); }
  bool all_given() const { return job_.blocks != 0 && port_block_ >= job_.blocks; }
  Place& place(std::uint64_t block) { return places_[block % capacity()]; }
  CauseGraph& graph() { return job_.graph ? *job_.graph : no_graph_; }
  sc_time available_at(sc_time end) const { return core_.align(end) + core_.cycles(params_.crc_check); }

  void ask(sc_time at);
  void on_request();
  void on_wire();
  void on_finish();
  void on_timeout();
  void arm_timeout(sc_time from);
  void fail(std::uint32_t bits);
  void complete_at(sc_time at, NodeId last);
  void start_read_frame();
  void end_read_frame();
  void start_write_frame();
  void end_write_frame();
  NodeId read_cause(const BlockReady& ready, sc_time end);
  NodeId write_cause(sc_time have, sc_time end);
  void trace_level(sc_time at) { ctx_.trace.change(t_level_, at, std::uint64_t{used_} * job_.block_bytes); }

  Context& ctx_;
  ClockDomain& core_;
  MmcBus& bus_;
  const HsmmcParams& params_;
  Client& client_;

  Job job_;
  CauseGraph no_graph_;
  bool active_ = false, reading_ = false, card_may_send_ = false, frame_on_wire_ = false,
       card_stopped_ = false, waiting_for_room_ = false, waiting_for_data_ = false, finishing_ = false,
       request_open_ = false, extendable_ = false;
  std::array<Place, 2> places_;
  std::uint32_t used_ = 0;         // whole blocks in the buffer
  std::uint64_t wire_block_ = 0;   // next on the wire
  std::uint64_t port_block_ = 0;   // next to be taken or given
  std::uint32_t port_offset_ = 0;  // bytes of it that have passed the port
  sc_time frame_start_, frame_end_, wire_base_, room_at_, port_until_, timeout_;
  NodeId wire_node_ = kRootNode, last_node_ = kRootNode;
  sc_core::sc_event wire_event_, request_event_, finish_event_, timeout_event_;
  Counters counters_;
  SignalId t_level_;
};

}  // namespace vp
