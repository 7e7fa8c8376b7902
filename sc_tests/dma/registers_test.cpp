// The register table against the model: reset values and access kinds, one by one.
#include "sc_tests/dma/bench.hpp"

using namespace vp;
using namespace vp::test;

TEST_CASE("every DMA register reads its reset value") {
  DmaBench b;
  for (const RegDef& r : kRegs) {
    INFO(r.name);
    // 256 sets are 16 << 4
    const std::uint64_t expected = r.name == "CCCFG" ? r.reset | 4u << 12 : r.reset;
    CHECK(b.regs.read(r.offset, r.bytes) == expected);
  }
}

TEST_CASE("a DMA register keeps what its access kind allows") {
  DmaBench b;
  for (const RegDef& r : kRegs) {
    if (r.name == "ESR" || r.name.starts_with("LL_CONTROL")) continue;  // they start something
    INFO(r.name);
    const std::uint64_t before = b.regs.read(r.offset, r.bytes);
    std::uint64_t rw = 0;
    if (r.fields.empty() && r.access == Access::RW) rw = r.bytes == 8 ? ~0ULL : (1ULL << (8 * r.bytes)) - 1;
    for (const FieldDef& f : r.fields)
      if (f.access == Access::RW) rw |= f.mask();
    b.regs.write(r.offset, ~0ULL, r.bytes);
    CHECK(b.regs.read(r.offset, r.bytes) ==
          (r.access == Access::WO || rw == 0 ? before & ~0ULL : (before & ~rw) | rw));
  }
}

TEST_CASE("event and interrupt enables are set and cleared through their own registers") {
  DmaBench b;
  b.regs.write(reg("EESR"), 0x0F0);
  b.regs.write(reg("EECR"), 0x030);
  CHECK(b.regs.read(reg("EER")) == 0x0C0);
  b.regs.write(reg("IESR"), 0xF00);
  b.regs.write(reg("IECR"), 0x300);
  CHECK(b.regs.read(reg("IER")) == 0xC00);
}

TEST_CASE("parameter RAM takes 32 and 64-bit accesses, beyond its end there is nothing") {
  DmaBench b;
  b.regs.write(kParamBase + 0x20, 0x1122334455667788, 8);
  CHECK(b.regs.read(kParamBase + 0x24) == 0x11223344);
  b.regs.write(kParamBase + 256 * kSetBytes, 5);
  CHECK(b.regs.read(kParamBase + 256 * kSetBytes) == 0);
}
