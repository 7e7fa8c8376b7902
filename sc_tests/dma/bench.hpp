// A system DMA between SRAM and a peripheral's FIFO, driven by register writes and request lines. All clocks run at
// 200 MHz (5 ns), so every instant is a whole number of cycles.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>
#include <deque>
#include <vector>

#include "models/axi/interconnect.hpp"
#include "models/dma/system_dma.hpp"
#include "sc_tests/bench_parts.hpp"

namespace vp::test {

using namespace vp::edma;

/// A FIFO port: reads take from `out`, writes add to `in`; remembers every burst.
struct FifoPort : sc_core::sc_module, AxiTimingTarget {
  static constexpr std::uint64_t kFirst = 2, kAccept = 1;
  tlm_utils::simple_target_socket<FifoPort> socket;
  struct Burst {
    bool is_write, fixed;
    std::uint32_t beats, beat_bytes, bytes;
  };
  std::vector<Burst> bursts;
  std::deque<std::byte> out, in;
  bool underrun = false;

  explicit FifoPort(sc_core::sc_module_name n) : sc_module(n), socket("socket") {
    socket.register_nb_transport_fw(this, &FifoPort::nb);
    socket.register_b_transport(this, &FifoPort::b);
  }
  void time_burst(AxiBurstTiming& b) override {
    if (b.granted_ps == 0) b.granted_ps = b.issued_ps;
    if (b.is_write) {
      b.done_ps = b.last_ps + kAccept * kCycle;
      return;
    }
    b.first_ps = b.issued_ps + kFirst * kCycle;
    b.done_ps = b.last_ps = b.first_ps + b.beats * kCycle;
  }
  void move(tlm::tlm_generic_payload& p) {
    const auto* x = p.get_extension<AxiExtension>();
    bursts.push_back(
        {p.is_write(), x->burst == AxiBurst::fixed, x->beats, x->beat_bytes, p.get_data_length()});
    auto* d = reinterpret_cast<std::byte*>(p.get_data_ptr());
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.is_write()) {
        in.push_back(d[i]);
      } else if (out.empty()) {
        underrun = true;
        d[i] = std::byte{0};
      } else {
        d[i] = out.front();
        out.pop_front();
      }
    }
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  tlm::tlm_sync_enum nb(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    auto* x = p.get_extension<AxiExtension>();
    AxiBurstTiming b{.address = p.get_address(),
                     .bytes = p.get_data_length(),
                     .beats = x->beats,
                     .is_write = p.is_write(),
                     .issued_ps = (sc_time_stamp() + delay).value()};
    b.last_ps = std::max<std::uint64_t>(x->last_beat.value(), b.issued_ps);
    time_burst(b);
    x->first_beat = sc_time::from_value(b.first_ps);
    x->last_beat = sc_time::from_value(b.last_ps);
    move(p);
    delay = sc_time::from_value(b.done_ps) - sc_time_stamp();
    return tlm::TLM_COMPLETED;
  }
  void b(tlm::tlm_generic_payload& p, sc_time&) {
    auto* x = p.get_extension<AxiExtension>();
    x->timing = this;
    move(p);
  }
};

struct AckProbe : DmaPeripheral {
  std::vector<sc_time> at;
  void dma_acknowledged() override { at.push_back(sc_time_stamp()); }
};

inline std::uint16_t reg(const char* name) { return find_register(kRegs, name)->offset; }

struct DmaBench {
  static constexpr std::uint64_t kRam = 1 << 24, kFifo = 0x8000'0000;
  Context ctx;
  ClockDomain axi{"axi", 200e6};
  AxiInterconnect interconnect;
  Sram sram;
  FifoPort fifo{"fifo"};
  SystemDma dma;
  RegisterDriver regs{"regs"};
  IrqProbe irq, error_irq;
  AckProbe ack;

  explicit DmaBench(const SystemDmaParams& p = {}, TimingStyle style = TimingStyle::at)
      : interconnect("interconnect", with_style(ctx, style), axi, InterconnectParams{}),
        sram("sram", axi, ram_of(kRam)),
        dma("dma", ctx, axi, p) {
    dma.dma_port().socket.bind(interconnect.master_socket(interconnect.add_master("dma")));
    interconnect.target_socket(interconnect.add_target("sram", 0, kRam)).bind(sram.socket);
    interconnect.target_socket(interconnect.add_target("fifo", kFifo, 0x1000)).bind(fifo.socket);
    regs.socket.bind(dma.socket);
    dma.irq.connect(irq, 0);
    dma.error_irq.connect(error_irq, 0);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  std::byte* ram(std::uint64_t at) { return sram.ptr(at, 1); }
  void fill(std::uint64_t at, std::size_t n, unsigned salt) {
    for (std::size_t i = 0; i < n; ++i) *ram(at + i) = static_cast<std::byte>(i * 7 + (i >> 8) + salt);
  }
  void feed(std::size_t n, unsigned salt) {
    for (std::size_t i = 0; i < n; ++i) fifo.out.push_back(static_cast<std::byte>(i * 3 + (i >> 8) + salt));
  }
  bool fed(std::uint64_t at, std::size_t n, unsigned salt) {
    for (std::size_t i = 0; i < n; ++i)
      if (*ram(at + i) != static_cast<std::byte>(i * 3 + (i >> 8) + salt)) return false;
    return true;
  }
  /// A set that moves `blocks` blocks of 512 bytes from the FIFO, one per event.
  static ParamSet from_fifo(std::uint64_t to, unsigned blocks, unsigned link, std::uint32_t opt) {
    return {opt | kOptAbSync, static_cast<std::uint32_t>(kFifo),
            128u << 16 | 4,   static_cast<std::uint32_t>(to),
            4u << 16,         link,
            512u << 16,       blocks};
  }
  static ParamSet to_fifo(std::uint64_t from, unsigned blocks, unsigned link, std::uint32_t opt) {
    return {opt | kOptAbSync,
            static_cast<std::uint32_t>(from),
            128u << 16 | 4,
            static_cast<std::uint32_t>(kFifo),
            4,
            link,
            512,
            blocks};
  }
  static constexpr unsigned link_to(unsigned set) { return kParamBase + set * kSetBytes; }
  void set(unsigned index, const ParamSet& s) {
    for (unsigned w = 0; w < kWords; ++w) regs.write(link_to(index) + 4 * w, s[w]);
  }
  ParamSet set(unsigned index) {
    ParamSet s;
    for (unsigned w = 0; w < kWords; ++w)
      s[w] = static_cast<std::uint32_t>(regs.read(link_to(index) + 4 * w));
    return s;
  }
  void enable(unsigned channel, bool interrupt = true) {
    regs.write(reg("EESR"), 1u << channel);
    if (interrupt) regs.write(reg("IESR"), 1u << channel);
  }
  void advance(sc_time d) { run_for(d); }
  /// A request now, then long enough for one transfer.
  void request(unsigned line) {
    dma.dma_request(line);
    advance(sc_time(5, sc_core::SC_US));
  }
};

inline constexpr std::uint32_t code(unsigned n) { return n << kOptTccLsb; }

}  // namespace vp::test
