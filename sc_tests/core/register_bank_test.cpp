#include "models/core/register_bank.hpp"

#include <stdexcept>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

using A = Access;

constexpr FieldDef kMixedFields[] = {
    {"RW", 0, 4, A::RW, ""},          {"RO", 4, 4, A::RO, ""},    {"W1C", 8, 4, A::W1C, ""},
    {"W1S", 12, 4, A::W1S, ""},       {"ROC", 16, 4, A::ROC, ""}, {"RWAC", 20, 4, A::RWAC, ""},
    {"HWINIT", 24, 4, A::HWInit, ""}, {"WO", 28, 2, A::WO, ""},  // bits 30 and 31 are reserved
};
constexpr RegDef kMap[] = {
    {"RW8", 0x00, 1, 0x11, A::RW, {}, ""},
    {"RW8B", 0x01, 1, 0x22, A::RW, {}, ""},
    {"RW16", 0x02, 2, 0x4433, A::RW, {}, ""},
    {"MIXED", 0x04, 4, 0x8A5A'A55A, A::RW, kMixedFields, ""},
    {"RW64", 0x08, 8, 0x0123'4567'89AB'CDEF, A::RW, {}, ""},
    {"RO32", 0x10, 4, 0xCAFE'F00D, A::RO, {}, ""},
    {"W1C16", 0x14, 2, 0, A::W1C, {}, ""},
    {"WO16", 0x16, 2, 0, A::WO, {}, ""},
    // 0x18 to 0x1F undefined
};
constexpr std::uint32_t kSize = 0x20;

struct Bench {
  Context ctx;
  std::vector<std::string> log;
  RegisterBank bank{ctx, "block", kMap, kSize};
  Bench() {
    ctx.log_sink = [this](const std::string& line) { log.push_back(line); };
  }
};

}  // namespace

TEST_CASE("each access kind answers a write of ones and of zeros in its own way") {
  Bench b;
  // Reset 0x8A5AA55A: WO bits 29:28 read 0, bits 31:30 reserved (10 as reset), the rest as reset.
  CHECK(b.bank.read(4, 4) == 0x8A5A'A55A);
  b.bank.write(4, 4, 0xFFFF'FFFF);
  // RW F; RO keeps 5; W1C clears 5 -> 0; W1S sets A -> F; ROC keeps A; RWAC F; HWInit keeps A; reserved
  // keep 10.
  CHECK(b.bank.read(4, 4) == 0x8AFA'F05F);
  b.bank.write(4, 4, 0);
  // RW 0; RO 5; W1C leaves 0; W1S leaves F; ROC A; RWAC 0; HWInit A.
  CHECK(b.bank.read(4, 4) == 0x8A0A'F050);
  b.bank.reset();
  b.bank.write(4, 4, 0x0000'3000 | 0x0000'0100);
  CHECK(b.bank.read(4, 4) == 0x8A0A'B450);  // W1C 5 & ~1 = 4, W1S A | 3 = B
}

TEST_CASE("a write-only register reads as 0 and hands what was written to its hook") {
  Bench b;
  std::uint64_t written = 0, value = 1;
  b.bank.on_write(0x16, [&](const RegisterBank::WriteEvent& e) { written = e.written, value = e.value; });
  b.bank.write(0x16, 2, 0xBEEF);
  CHECK(written == 0xBEEF);
  CHECK(value == 0);
  CHECK(b.bank.read(0x16, 2) == 0);
}

TEST_CASE("byte lanes that are not written keep their value") {
  Bench b;
  b.bank.write(0x0A, 1, 0x77);
  CHECK(b.bank.read(8, 8) == 0x0123'4567'8977'CDEF);
  b.bank.write(0x0C, 4, 0xFEED'BEEF);
  CHECK(b.bank.read(8, 8) == 0xFEED'BEEF'8977'CDEF);
  CHECK(b.bank.read(0x0D, 2) == 0xEDBE);
  CHECK(b.bank.read(0x0B, 1) == 0x89);
}

TEST_CASE("write-1-to-clear touches the written lanes only") {
  Bench b;
  b.bank.set(0x14, 0xFFFF);
  b.bank.write(0x15, 1, 0x0F);
  CHECK(b.bank.get(0x14) == 0xF0FF);
  b.bank.write(0x14, 2, 0x00F1);
  CHECK(b.bank.get(0x14) == 0xF00E);
}

TEST_CASE("an access that spans registers serves them in rising offset order") {
  Bench b;
  CHECK(b.bank.read(0, 4) == 0x4433'2211);
  CHECK(b.bank.read(0, 8) == 0x8A5A'A55A'4433'2211);
  CHECK(b.bank.read(1, 2) == 0x3322);
  std::vector<std::pair<int, std::uint64_t>> order;
  for (std::uint16_t reg : {0x02, 0x00, 0x01})
    b.bank.on_write(reg, [&order, &b, reg](const RegisterBank::WriteEvent& e) {
      order.emplace_back(reg, e.value);
      if (reg == 0x02) CHECK(b.bank.get(0x00) == 0xDD);  // the earlier ones are stored already
    });
  b.bank.write(0, 4, 0xAABB'CCDD);
  CHECK(order == std::vector<std::pair<int, std::uint64_t>>{{0, 0xDD}, {1, 0xCC}, {2, 0xAABB}});
}

TEST_CASE("a write hook learns the old value, the new one, the lanes and the raw data") {
  Bench b;
  RegisterBank::WriteEvent seen{};
  b.bank.on_write(4, [&](const RegisterBank::WriteEvent& e) { seen = e; });
  b.bank.write(5, 1, 0xF1);
  CHECK(seen.old_value == 0x8A5A'A55A);
  CHECK(seen.lanes == 0xFF00);
  CHECK(seen.written == 0xF100);
  CHECK(seen.value == 0x8A5A'F45A);  // W1S all set, W1C 5 & ~1
}

TEST_CASE("a read hook answers instead of the stored value") {
  Bench b;
  std::uint64_t count = 0;
  b.bank.on_read(0x10, [&] { return 0xFFFF'0000'0000'0000 | ++count; });
  CHECK(b.bank.read(0x10, 4) == 1);
  CHECK(b.bank.read(0x10, 2) == 2);
  CHECK(b.bank.get(0x10) == 0xCAFE'F00D);
}

TEST_CASE("a guard can refuse a write before any effect") {
  Bench b;
  bool hook = false;
  b.bank.on_write(0, [&](const RegisterBank::WriteEvent&) { hook = true; });
  b.bank.guard_writes([](const RegDef& r) { return r.name != "RW8"; });
  b.bank.write(0, 2, 0xFFFF);
  CHECK(b.bank.read(0, 2) == 0xFF11);
  CHECK_FALSE(hook);
}

TEST_CASE("an undefined offset reads 0, ignores writes, and is logged once") {
  Bench b;
  CHECK(b.bank.read(0x18, 4) == 0);
  b.bank.write(0x18, 4, 0xFFFF'FFFF);
  CHECK(b.bank.read(0x18, 4) == 0);
  CHECK(b.log.size() == 4);  // one per byte offset
  CHECK(b.log[0] == "block: read of undefined offset 0x018");
  CHECK(b.bank.read(0x18, 1) == 0);
  CHECK(b.log.size() == 4);
  b.bank.write(kSize, 1, 1);  // outside the window
  CHECK(b.log.size() == 5);
  CHECK(b.log[4] == "block: write of undefined offset 0x020");
  CHECK(b.bank.read(0x16, 4) == 0);  // half defined
  CHECK(b.bank.read(0x12, 2) == 0xCAFE);
}

TEST_CASE("an instance may have its own reset values") {
  Bench b;
  b.bank.set_reset(0x10, 0x3F69'C881);
  CHECK(b.bank.read(0x10, 4) == 0x3F69'C881);
  b.bank.set(0x10, 1);
  b.bank.write(0, 1, 0x99);
  b.bank.reset(0x10);
  CHECK(b.bank.read(0x10, 4) == 0x3F69'C881);
  CHECK(b.bank.read(0, 1) == 0x99);
  b.bank.reset();
  CHECK(b.bank.read(0, 1) == 0x11);
}

TEST_CASE("hardware sets and clears bits whatever the access kind") {
  Bench b;
  b.bank.set_bits(0x10, 0x2);
  b.bank.clear_bits(0x10, 0x1);
  CHECK(b.bank.read(0x10, 4) == 0xCAFE'F00E);
}

TEST_CASE("a register map with overlapping registers is refused") {
  static constexpr RegDef kOverlap[] = {{"A", 0, 4, 0, A::RW, {}, ""}, {"B", 2, 2, 0, A::RW, {}, ""}};
  Context ctx;
  CHECK_THROWS_AS(RegisterBank(ctx, "block", kOverlap, 16), std::logic_error);
  RegisterBank bank(ctx, "block", kMap, kSize);
  CHECK_THROWS_AS(bank.get(0x18), std::logic_error);
}
