// The data path of a DW-MMC: DAT lines <-> FIFO <-> IDMAC (or the CPU). A full FIFO stops the card clock (read), an empty
// one too (write), within a block if need be: the FIFO streams, it does not store whole blocks.
//
//   quantum: what the wire moves between two looks at the FIFO: one DMA burst, never across a block's end. Less only when
//            the FIFO's other side cannot move until it goes on.
//   read:    a quantum is in the FIFO `fifo_latency` after its last data clock; a burst goes when the FIFO holds more than
//            RX_WMARK words (or the transfer's end) and the whole burst; it frees its room when its last W beat has left.
//   write:   a burst is fetched when the FIFO holds at most TX_WMARK words and has room for all of it; a quantum goes when
//            its bytes are there; it frees its room at its last data clock.
//   burst:   min(PBL beats, what is left of the buffer, what is left of the transfer).
//   IDMAC:   a descriptor is closed (one 4-byte write) when its last burst is done; TI or RI follow the write's B.
// One event per quantum in `at` style, or per block read whose bursts are known when it starts; one per 64 KiB in `lt`
// style (PIO and open-ended transfers: events in both).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "models/axi/master_port.hpp"
#include "models/axi/ring.hpp"
#include "models/core/context.hpp"
#include "models/dwmmc/descriptor_list.hpp"
#include "models/dwmmc/fifo.hpp"
#include "models/dwmmc/params.hpp"
#include "models/mmc_bus/mmc_bus.hpp"

namespace vp {

class DwmmcData : public sc_core::sc_module, private AxiMasterPort::Client {
 public:
  struct Job {
    DataDir direction = DataDir::none;
    bool idmac = false;
    bool dma_requests = true;  ///< false: CTRL leaves the DMA off although nobody else moves the data
    std::uint32_t block_bytes = 512;
    std::uint64_t blocks = 1;        ///< 0: until the card is stopped
    DescriptorList::Setup list;      ///< base, format, skip
    std::uint32_t burst_bytes = 64;  ///< PBL
    std::uint32_t rx_watermark = 0;  ///< words
    std::uint32_t tx_watermark = 0;
    std::uint32_t card_threshold = 0;  ///< bytes a block needs as room or data to start; 0: none
    bool reports_busy = false;         ///< tell when the busy after the last block of a write is over
  };
  struct Client {
    virtual ~Client() = default;
    /// The data phase is over on the card's side; `errors` are RINTSTS bits.
    virtual void data_over(std::uint32_t errors, NodeId last) = 0;
    /// RINTSTS bits that end nothing: HTO, FRUN, RXDR, TXDR.
    virtual void data_status(std::uint32_t bits) = 0;
    virtual void write_busy_over(NodeId last) = 0;
    /// IDSTS bits.
    virtual void idmac_event(std::uint32_t bits, std::uint32_t eb) = 0;
    /// The IDMAC has closed its last descriptor of the transfer.
    virtual void idmac_over(NodeId last) = 0;
    virtual bool sampling_good() = 0;
    virtual CauseGraph& graph() = 0;
  };

  SC_HAS_PROCESS(DwmmcData);
  DwmmcData(sc_core::sc_module_name name, Context& ctx, ClockDomain& core_clock, ClockDomain& axi_clock,
            MmcBus& bus, const DwmmcParams& params, Client& client);

  AxiMasterPort& port() { return port_; }
  const AxiMasterPort& port() const { return port_; }
  unsigned word_bytes() const { return word_bytes_; }

  // --- commands ---
  void prepare(const Job& job);
  void command_sent(const CommandOutcome& outcome);
  void response_ended(const CommandOutcome& outcome);
  /// The data command failed: no data phase (silent).
  void cancel();
  /// A stop command's end bit was at `at`.
  void card_stopped(sc_time at);
  void set_data_timeout(sc_time timeout) { timeout_ = timeout; }

  // --- resets and poll demand ---
  void reset_wire();
  void reset_fifo();
  void reset_dma();
  void poll_demand();

  // --- PIO ---
  /// One FIFO word out or in. False: FIFO empty or full.
  bool pio_read(std::uint64_t& word);
  bool pio_write(std::uint64_t word);
  /// Before anything of a transfer is looked at: books what has happened without an event.
  void settle() {
    if (ahead_.next != ahead_.count || !quiet_.empty()) settle_ahead();
  }
  /// RXDR or TXDR as they stand now.
  std::uint32_t requests() const;

  bool wire_active() const { return wire_active_; }
  bool dma_active() const { return dma_active_; }
  bool reading() const { return wire_active_ && job_.direction == DataDir::read; }
  bool dma_request() const { return dma_active_ && fifo_.available() > 0; }
  std::uint32_t fifo_words() const {
    return static_cast<std::uint32_t>((fifo_.count() + word_bytes_ - 1) / word_bytes_);
  }
  std::uint64_t card_bytes() const { return card_bytes_; }
  std::uint64_t host_bytes() const { return host_bytes_; }
  dwmmc::Fsm fsm() const { return fsm_; }
  std::uint64_t buffer_address() const { return buffer_address_; }
  std::uint64_t descriptor_address() const { return list_.descriptor_address(); }
  const DescriptorList& list() const { return list_; }

  struct Counters {
    std::uint64_t blocks_read = 0, blocks_written = 0, descriptors = 0, closes = 0, bursts = 0,
                  clock_stops = 0, unavailable = 0, bus_errors = 0;
    sc_time clock_stopped, descriptor_wait, wire_wait_for_data;
  };
  Counters counters() const;

 private:
  struct Piece : AxiMasterPort::Transfer {
    std::vector<std::byte> bytes_;
    std::uint64_t end = 0;         ///< stream position behind it
    std::uint64_t descriptor = 0;  ///< closed when this is done, with `des0`
    std::uint32_t des0 = 0;
    bool closes = false;
  };
  struct Close : AxiMasterPort::Transfer {
    std::uint32_t word = 0;
    bool final = false;
  };
  struct Notice {
    enum class Kind : std::uint8_t { over, busy_over, idmac, idmac_over } kind;
    sc_time at;
    std::uint32_t bits = 0;
    NodeId node = kRootNode;
  };
  /// Quanta of the block on the wire that are known ahead, with their bursts; booked by settle().
  struct Ahead {
    struct Quantum {
      sc_time ready;           ///< in the FIFO
      Piece* piece = nullptr;  ///< null: nobody takes it out
    };
    std::array<Quantum, 16> quanta;
    unsigned next = 0, count = 0;
  };
  using Entry = DescriptorList::Entry;
  static constexpr unsigned kFrameTail = 17;    // CRC16 and the end bit, clocks
  static constexpr std::uint32_t kCloseId = 2;  ///< AXI id of descriptor writes
  static constexpr std::uint64_t kEndless = ~std::uint64_t{0};

  // common (data_path.cpp)
  void on_wire();
  void on_notice();
  void on_timeout();
  void notice(Notice::Kind kind, sc_time at, std::uint32_t bits = 0, NodeId node = kRootNode);
  void deliver(const Notice& n);
  void arm_timeout(sc_time from, std::uint32_t bits);
  void fail_when_due(std::uint32_t errors, sc_time at);
  void stop_clock(sc_time from);
  void clock_runs();
  void wire_over(sc_time checked, std::uint32_t errors);
  void fail(std::uint32_t errors, sc_time at);
  void set_fsm(dwmmc::Fsm fsm, sc_time at);
  void trace_level(sc_time at) { ctx_.trace.change(t_level_, at, fifo_.count()); }
  bool by_reservation() const { return reservation_; }
  CauseGraph& graph() { return graph_ ? *graph_ : client_.graph(); }
  /// Looks the graph up once for what is done in one go.
  class GraphScope {
   public:
    explicit GraphScope(DwmmcData& data) : data_(data), outer_(data.graph_) { data.graph_ = &data.graph(); }
    ~GraphScope() { data_.graph_ = outer_; }
    GraphScope(const GraphScope&) = delete;
    GraphScope& operator=(const GraphScope&) = delete;

   private:
    DwmmcData& data_;
    CauseGraph* outer_;
  };
  std::uint32_t quantum_bytes() const;
  sc_time data_time(std::uint32_t bytes) const {
    const std::uint64_t bits = 8 * std::uint64_t{bytes};
    return bus_.clock().cycles((bits + (std::uint64_t{1} << bits_shift_) - 1) >> bits_shift_);
  }
  std::uint32_t read_errors() const;
  void pio_requests();
  void resume_wire();
  void finish_stopped();
  void count_stop(sc_time from, sc_time until);
  bool partial_allowed() const;
  bool rest_is_done() const { return block_ == job_.blocks && job_.blocks != 0; }

  // memory side (dma_side.cpp)
  void axi_left(AxiMasterPort::Transfer& transfer) override;
  void axi_done(AxiMasterPort::Transfer& transfer) override;
  void pump_dma();
  Entry* usable_entry(Entry* e, sc_time at);
  bool entry_has_data(Entry& e, sc_time at);
  void check_descriptor(const Entry& e, sc_time at);
  void check_buffer(Entry& e, sc_time at);
  std::uint32_t burst_of(const Entry& e) const;
  bool fifo_lets(std::uint32_t bytes) const;
  bool all_moved() const;
  void issue(Entry& e, std::uint32_t bytes);
  void drained(std::uint64_t position, sc_time at);
  void close_descriptor(std::uint64_t address, std::uint32_t des0, bool final, sc_time at);
  void closed(std::uint32_t word, bool final, bool error, sc_time at);
  void stop_dma_on_error(sc_time at);
  void close_rest(sc_time at);
  NodeId dma_cause(sc_time at);
  void finish_dma(sc_time at);
  void descriptor_arrived();
  void list_trouble(Entry& e, sc_time at);
  void bus_error(sc_time at, std::uint64_t address);
  Piece& new_piece(std::uint32_t bytes);

  // wire side, `at` style (wire_side.cpp)
  void start_read_block();
  void start_read_quantum();
  void end_read_quantum();
  bool start_ahead();
  void settle_ahead();
  void settle_quiet(std::uint64_t now);
  void withdraw_ahead();
  void tell_room();
  void tell_end();
  sc_time block_gap() const;
  void start_write_block();
  void start_write_quantum();
  void end_write_quantum();
  // ... and what `lt` style shares with it
  bool begin_read_block(sc_time room_at);
  void advance_read(std::uint32_t bytes, sc_time room_at);
  bool end_read_block(sc_time checked);
  void begin_write_block(sc_time have);
  void advance_write(std::uint32_t bytes, sc_time have);
  bool end_write_block();
  sc_time frame_end() const;
  std::uint64_t needed_to_start() const;
  NodeId read_cause(const BlockReady& ready, sc_time room);
  void write_cause(sc_time base, sc_time have, sc_time end);

  // `lt` style (data_path_lt.cpp)
  void run_lt();
  void read_block_lt();
  void write_block_lt();
  bool stream_read_lt();
  unsigned in_step_lt(Entry& e, std::uint32_t bytes, unsigned quanta, sc_time& ready);
  AxiRhythm rhythm_lt(const Entry& e, std::uint32_t bytes, unsigned quanta, sc_time ready);
  void blocks_in_step_lt(const Entry& e, unsigned blocks);
  bool room_lt(std::uint64_t bytes, sc_time& when);
  bool have_lt(std::uint64_t bytes, sc_time& when);
  void pump_lt(sc_time at);
  void gather_lt(Entry& e, std::uint32_t bytes, sc_time ready);
  bool direct_lt(const Entry& e, std::uint32_t bytes, sc_time ready);
  void move_lt(Entry& e, std::uint32_t bytes, sc_time ready);
  void end_of_buffer_lt(Entry& e, sc_time ready, std::uint64_t end);
  bool flush_lt();

  Context& ctx_;
  ClockDomain& core_;
  MmcBus& bus_;
  const DwmmcParams& params_;
  Client& client_;
  AxiMasterPort port_;
  DescriptorList list_;
  unsigned word_bytes_;

  Job job_;
  std::uint64_t total_ = 0;  // bytes; kEndless: until stopped
  bool wire_active_ = false, dma_active_ = false, reservation_ = false;
  bool on_wire_ = false;  // a quantum or a frame's end is under way
  bool card_may_send_ = false, card_stopped_ = false, clock_stopped_ = false, in_block_ = false,
       tail_ = false;
  bool wire_finished_ = false, dma_finished_ = false, dma_failed_ = false;
  bool waiting_for_descriptor_ = false, list_dead_ = false, no_requests_ = false, closing_ = false;
  std::uint64_t block_ = 0;   // on the wire
  std::uint32_t offset_ = 0;  // within it
  std::uint32_t part_ = 0;    // the quantum on the wire
  std::uint32_t quantum_ = 0;
  unsigned bits_shift_ = 0;  // 2^n bits cross in a clock
  std::uint64_t pieces_open_ = 0;
  std::uint64_t card_bytes_ = 0, host_bytes_ = 0, buffer_address_ = 0;
  std::vector<std::byte>
      blocks_data_;  // the block on the wire, and those of whose bytes the FIFO may hold some
  std::span<std::byte> block_data_;
  MmcBus::FrameCheck check_;
  StreamFifo fifo_;
  StreamMarks in_marks_, out_marks_;
  Ahead ahead_;
  Ring<Piece*> quiet_;  // open, and the port does not call for all of it
  std::deque<Piece> piece_store_;
  std::vector<Piece*> piece_free_;
  std::deque<Close> close_store_;
  std::vector<Close*> close_free_;
  unsigned closes_open_ = 0;
  std::vector<Notice> notices_;  // in rising order
  dwmmc::Fsm fsm_ = dwmmc::Fsm::idle;

  sc_time wire_base_, block_start_, data_end_, timeout_, descriptor_wait_from_, descriptor_wait_until_,
      dma_end_;
  std::uint32_t timeout_bits_ = 0;  // 0: no deadline stands
  sc_time deadline_, timer_at_;     // the timer may be set earlier than the deadline, never later
  bool timer_set_ = false;
  std::uint32_t pending_errors_ = 0;  // of the frame whose end is awaited
  NodeId wire_node_ = kRootNode;

  std::vector<std::byte> lt_stage_;
  AxiLtMemory lt_memory_;        // where the last buffer lay
  CauseGraph* graph_ = nullptr;  // within a GraphScope
  bool lt_blocked_ = false;      // nothing more can be computed until something happens
  struct {
    std::uint64_t address = 0;
    std::uint32_t bytes = 0;
    unsigned count = 0;
    std::array<LtPiece, 32> pieces;
    std::array<std::uint64_t, 32> end{};
  } run_;
  sc_time lt_last_done_, lt_start_;
  std::uint64_t lt_chunk_end_ = 0;  // the block behind the event's last

  sc_core::sc_event wire_event_, notice_event_, timeout_event_;
  Counters counters_;
  SignalId t_level_, t_state_, t_address_;
};

inline std::uint32_t DwmmcData::burst_of(const Entry& e) const {
  const std::uint64_t at = job_.direction == DataDir::read ? fifo_.out_reserved : fifo_.in_reserved;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>({job_.burst_bytes, e.bytes, total_ - at}));
}

inline bool DwmmcData::fifo_lets(std::uint32_t bytes) const {
  if (job_.direction == DataDir::read) {
    const std::uint64_t here = fifo_.available();
    if (fifo_.in_done == total_) return here >= bytes;
    return here >= std::max<std::uint64_t>(bytes, std::uint64_t{job_.rx_watermark + 1} * word_bytes_);
  }
  return fifo_.room() >= bytes &&
         fifo_.in_reserved - fifo_.out_done <= std::uint64_t{job_.tx_watermark} * word_bytes_;
}

inline bool DwmmcData::all_moved() const {
  return (job_.direction == DataDir::read ? fifo_.out_reserved : fifo_.in_reserved) >= total_;
}

}  // namespace vp
