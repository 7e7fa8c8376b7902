// The order in which status bits rise, case by case (SDHCI 4.20 2.2.18; the table of the host reference).
#include <functional>

#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr auto k32 = Bench::Format::adma32;
constexpr std::uint32_t CC = kIntCommandComplete, TC = kIntTransferComplete, DMA = kIntDma,
                        BWR = kIntBufferWriteReady, BRR = kIntBufferReadReady, GAP = kIntBlockGap;
using Events = std::vector<std::uint32_t>;

/// What a driver does on each event; `sdma_next` is written on every DMA interrupt when not 0.
struct Answers {
  bool pio = true;
  std::uint64_t sdma_next = 0;
  std::uint64_t sdma_step = 4096;
};

/// Every status bit in the order it rises, until nothing happens for 2 ms. Each is acknowledged and answered.
Events collect(Bench& b, Answers answers) {
  Events seen;
  const sc_time limit = sc_time_stamp() + sc_time(2, sc_core::SC_MS);
  while (true) {
    const std::uint32_t s = b.status() & ~kIntError;
    for (unsigned bit = 0; bit < 32; ++bit)
      if (s >> bit & 1) seen.push_back(1u << bit);
    if (s != 0) b.write(0x30, 4, s);
    if ((s & BRR) && answers.pio)
      for (unsigned i = 0; i < 128; ++i) b.read(0x20, 4);
    if ((s & BWR) && answers.pio)
      for (unsigned i = 0; i < 128; ++i) b.write(0x20, 4, i);
    if ((s & DMA) && answers.sdma_next != 0) {
      b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, answers.sdma_next);
      answers.sdma_next += answers.sdma_step;
    }
    if (s != 0) continue;
    if (!sc_core::sc_pending_activity() || sc_time_stamp() > limit) return seen;
    b.advance(sc_core::sc_time_to_pending_activity());
  }
}

struct Case {
  const char* name;
  std::function<void(Bench&)> start;
  Events expected;
  Answers answers{};
};

void adma(Bench& b, unsigned index, std::uint16_t mode, unsigned blocks,
          std::vector<Bench::Descriptor> list) {
  b.table(0x1000, k32, list);
  b.select(k32, 0x1000);
  b.data_command(index, 0, blocks, mode);
}
void sdma(Bench& b, unsigned index, std::uint16_t mode, std::uint64_t address, unsigned blocks) {
  b.write(reg_offset(kRegs, "HOST_CONTROL1"), 1, b.read(reg_offset(kRegs, "HOST_CONTROL1"), 1) & ~0x18ULL);
  b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, address);
  b.write(reg_offset(kRegs, "BLOCK_SIZE"), 2, 0x0200);  // boundary 4 KiB
  b.write(reg_offset(kRegs, "BLOCK_COUNT"), 2, blocks);
  b.write(reg_offset(kRegs, "TRANSFER_MODE"), 2, mode);
  b.write(reg_offset(kRegs, "COMMAND"), 2, index << 8 | 0x3A);
}
void fault(Bench& b, BusFault::Kind kind, int command) {
  BusFault f{.kind = kind, .extra = {}};
  f.command = command;
  b.bus.inject(f);
}

}  // namespace

TEST_CASE("events rise in the standard's order") {
  using K = BusFault::Kind;
  const std::vector<Bench::Descriptor> two = {{0x20000, 512, kTran}, {0x30000, 512, kTranEnd}};
  const std::vector<Bench::Descriptor> with_int = {{0x20000, 512, kTranInt}, {0x30000, 512, kTranEnd}};
  const std::vector<Bench::Descriptor> all_int = {{0x20000, 512, kTranInt}, {0x30000, 512, kTranInt | 0x02}};
  const Case cases[] = {
      {"no-data R1", [](Bench& b) { b.command(13, 0x10000); }, {CC}},
      {"R1b", [](Bench& b) { b.command(6, 0, 3); }, {CC, TC}},
      {"ADMA read", [&](Bench& b) { adma(b, 18, kReadMulti, 2, two); }, {CC, TC}},
      {"ADMA read with INT", [&](Bench& b) { adma(b, 18, kReadMulti, 2, with_int); }, {CC, DMA, TC}},
      {"ADMA read, INT at the end too",
       [&](Bench& b) { adma(b, 18, kReadMulti, 2, all_int); },
       {CC, DMA, TC}},
      {"ADMA write", [&](Bench& b) { adma(b, 25, kWriteMulti, 2, two); }, {CC, TC}},
      // A write's data are fetched ahead: the descriptor is done before the response is back.
      {"ADMA write, INT", [&](Bench& b) { adma(b, 25, kWriteMulti, 2, all_int); }, {DMA, CC, TC}},
      {"read, Auto CMD23", [&](Bench& b) { adma(b, 18, kReadMulti | 0x08, 2, two); }, {CC, TC}},
      {"read, Auto CMD12", [&](Bench& b) { adma(b, 18, kReadMulti | 0x04, 2, two); }, {CC, TC}},
      {"write, Auto CMD12", [&](Bench& b) { adma(b, 25, kWriteMulti | 0x04, 2, two); }, {CC, TC}},
      {"SDMA read, 3 x 4 KiB",
       [](Bench& b) { sdma(b, 18, kReadMulti, 0x20000, 24); },
       {CC, DMA, DMA, TC},
       {true, 0x21000}},
      {"PIO read, 3 blocks",
       [](Bench& b) { b.data_command(18, 0, 3, kReadMulti & ~1u); },
       {CC, BRR, BRR, BRR, TC}},
      {"PIO write, 3 blocks",
       [](Bench& b) { b.data_command(25, 0, 3, kWriteMulti & ~1u); },
       {CC, BWR, BWR, BWR, TC}},
      {"no response", [](Bench& b) { fault(b, K::no_response, 13), b.command(13, 0); }, {kIntCommandTimeout}},
      {"read, response lost",
       [&](Bench& b) { fault(b, K::no_response, 18), adma(b, 18, kReadMulti, 2, two); },
       {kIntCommandTimeout}},
      {"write, response lost",
       [&](Bench& b) { fault(b, K::no_response, 25), adma(b, 25, kWriteMulti, 2, two); },
       {kIntCommandTimeout}},
      {"Auto CMD12, response lost",
       [&](Bench& b) { fault(b, K::no_response, 12), adma(b, 18, kReadMulti | 4, 2, two); },
       {CC, kIntAutoCmd}},
      {"read CRC",
       [&](Bench& b) { fault(b, K::read_crc, 18), adma(b, 18, kReadMulti, 2, two); },
       {CC, kIntDataCrc}},
      {"invalid descriptor",
       [](Bench& b) {
         adma(b, 18, kReadMulti, 1, {{0x20000, 512, 0x22}});
       },
       {CC, kIntAdma}},
      {"stop at gap", [&](Bench& b) { b.write(0x2A, 1, 1), adma(b, 18, kReadMulti, 2, two); }, {CC, GAP, TC}},
  };
  Bench b;
  b.start_card();
  b.card.r1b_busy = sc_time(20, sc_core::SC_US);
  for (const Case& c : cases) {
    INFO(c.name);
    c.start(b);
    CHECK(collect(b, c.answers) == c.expected);
    b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
    b.advance(sc_time(50, sc_core::SC_US));
    b.clear_status();
    b.card.blocks_left = 0;
  }
}

TEST_CASE("during tuning only Buffer Read Ready rises") {
  Bench b;
  b.start_card({8, false});
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs200 | 0x40);
  for (unsigned i = 0; i < 3; ++i) {
    b.write(reg_offset(kRegs, "BLOCK_SIZE"), 2, 128);
    b.write(reg_offset(kRegs, "TRANSFER_MODE"), 2, 0x10);
    b.write(reg_offset(kRegs, "COMMAND"), 2, 21 << 8 | 0x3A);
    CHECK(collect(b, {.pio = false}) == Events{BRR});
  }
}
