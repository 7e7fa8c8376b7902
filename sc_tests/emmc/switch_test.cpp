#include "sc_tests/emmc/bench.hpp"

using namespace bench;

namespace {

/// Bits of each byte of the modes segment that CMD6 may change (JESD84-B51 7.4), typed in again from the
/// standard.
unsigned writable_bits(unsigned index) {
  static const std::map<unsigned, unsigned> table{
      {15, 1},    {16, 0x30},  {17, 0x30},  {22, 255},  {23, 255},   {24, 255},   {25, 255},
      {29, 255},  {30, 255},   {31, 1},     {32, 3},    {33, 1},     {34, 255},   {52, 255},
      {53, 255},  {56, 255},   {57, 255},   {59, 255},  {62, 255},   {131, 255},  {132, 255},
      {133, 255}, {134, 255},  {155, 255},  {156, 255}, {161, 1},    {162, 3},    {163, 3},
      {164, 255}, {165, 255},  {167, 0x1F}, {169, 255}, {171, 0xDD}, {173, 0xD7}, {175, 1},
      {177, 255}, {178, 0x11}, {179, 0x7F}, {183, 255}, {185, 255},  {187, 255},  {191, 255}};
  if (index >= 37 && index <= 51) return 255;
  if (index >= 136 && index <= 154) return 255;
  const auto it = table.find(index);
  return it == table.end() ? 0 : it->second;
}

}  // namespace

TEST_CASE("every bit of every EXT_CSD byte can be changed where the standard says so and nowhere else") {
  const ExtCsd fresh = ExtCsd::parse(reference_text(), "dump");
  for (unsigned index = 0; index < 512; ++index)
    for (unsigned bit = 0; bit < 8; ++bit) {
      const auto flipped = static_cast<std::uint8_t>(fresh[index] ^ 1U << bit);
      const auto c = fresh.change(SwitchAccess::write_byte, index, flipped);
      INFO("byte " << index << " bit " << bit);
      CHECK(c.allowed == ((writable_bits(index) >> bit & 1U) != 0));
      if (c.allowed) CHECK(c.value == flipped);
    }
}

TEST_CASE("set and clear bits change only the bits named") {
  ExtCsd e = ExtCsd::parse(reference_text(), "dump");
  e.store(56, 0x0F);
  CHECK(e.change(SwitchAccess::set_bits, 56, 0x30).value == 0x3F);
  CHECK(e.change(SwitchAccess::clear_bits, 56, 0x05).value == 0x0A);
}

TEST_CASE("a byte of class R/W is written once") {
  ExtCsd e = ExtCsd::parse(reference_text(), "dump");
  REQUIRE(e.change(SwitchAccess::write_byte, 162, 1).allowed);
  e.store(162, 1);
  CHECK_FALSE(e.change(SwitchAccess::write_byte, 162, 2).allowed);
  CHECK(e.change(SwitchAccess::write_byte, 162, 1).allowed);  // no change
  e.power_cycle();
  CHECK(e[162] == 1);
}

TEST_CASE("a dump with a wrong digit or length is refused with its place") {
  std::string text = reference_text();
  text[700] = 'x';
  try {
    ExtCsd::parse(text, "part.hex");
    FAIL("accepted");
  } catch (const InputError& e) {
    CHECK(std::string(e.what()).find("part.hex:1:701") == 0);
  }
  CHECK_THROWS_AS(ExtCsd::parse(reference_text().substr(0, 1022), "short.hex"), InputError);
  CHECK_THROWS_AS(ExtCsd::parse(reference_text() + "00", "long.hex"), InputError);
}

TEST_CASE("the dumps of real parts load, with volatile bytes at their defaults") {
  for (const char* name :
       {"samsung-bjnb4r-32g-emmc51", "samsung-like-8g-emmc51", "4g-emmc51-ddr52-cmdq", "4g-emmc441"}) {
    std::ifstream in(std::string(VP_SOURCE_DIR "/traces/ext_csd/") + name + ".hex");
    std::ostringstream text;
    text << in.rdbuf();
    const ExtCsd e = ExtCsd::parse(text.str(), name);
    CHECK(e[183] == 0);
    CHECK(e[185] == 0);
    CHECK(e[15] == 0);
    CHECK(e.u32(212) >= 0x00728000);
  }
}

TEST_CASE("a refused switch is busy and reports SWITCH_ERROR in the response after its own") {
  Bench b;
  b.to_tran();
  CHECK(b.write_byte(192, 7) == 0x00000900);  // properties segment
  CHECK(b.status() == (0x00000900 | 1U << 7));
  CHECK(b.status() == 0x00000900);
  CHECK_FALSE(b.switched(181, 1));  // read only
  CHECK_FALSE(b.switched(26, 1));   // read only
  CHECK_FALSE(b.switched(0, 1));    // reserved
  CHECK_FALSE(b.switched(179, 3));  // RPMB is not there
  CHECK_FALSE(b.switched(15, 2));   // the queue is on or off
  CHECK_FALSE(b.switched(34, 5));   // no such notification
  CHECK(b.switched(179, 1));
  CHECK(b.switched(161, 1));
}

TEST_CASE("a switch takes its busy time and shows prg meanwhile") {
  Bench b;
  b.to_tran();
  b.r1(6, 0x03B90100);  // HS_TIMING = 1
  CHECK(b.effect.busy_until == sc_core::sc_time_stamp() + us(50));
  CHECK(b.effect.response->type == RespType::r1b);
  b.wait(us(49));
  CHECK(b.status() == 0x00000E00);
  CHECK(std::string(b.card.mode_name()) == "legacy");  // in force at the end of busy
  b.wait(us(1));
  CHECK(b.status() == 0x00000900);
  CHECK(std::string(b.card.mode_name()) == "HS52");
  CHECK(b.card.max_clock_hz() == 52e6);
}

TEST_CASE("exactly the bus widths of each timing are accepted") {
  // From legacy x1: BUS_WIDTH first where that is legal, else HS_TIMING first.
  struct Row {
    unsigned timing, width;
    bool legal;
  };
  std::vector<Row> rows;
  for (unsigned timing = 0; timing < 5; ++timing)
    for (unsigned width : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 0x82u, 0x86u}) {
      const bool legal = (timing == 0 && width <= 2) ||
                         (timing == 1 && (width <= 2 || width == 5 || width == 6 || width == 0x86)) ||
                         (timing == 2 && (width == 1 || width == 2)) ||
                         (timing == 3 && (width == 6 || width == 0x86));
      rows.push_back({timing, width, legal});
    }
  Bench b;
  for (const Row& row : rows) {
    INFO("HS_TIMING " << row.timing << " BUS_WIDTH " << row.width);
    b.to_tran();
    bool reached = false;
    if (row.timing < 2) {
      reached = b.switched(185, row.timing) && b.switched(183, row.width);
    } else if (row.timing == 2) {
      reached = b.switched(183, row.width) && b.switched(185, 2);
    } else {
      reached = b.switched(185, 1) && b.switched(183, row.width) && b.switched(185, row.timing);
    }
    CHECK(reached == row.legal);
  }
}

TEST_CASE("HS400 is reached from HS200 by way of HS, and left the same way") {
  Bench b;
  b.to_tran();
  CHECK(b.switched(183, 2));
  CHECK(b.switched(185, 2));
  CHECK(std::string(b.card.mode_name()) == "HS200");
  CHECK(b.card.max_clock_hz() == 200e6);
  CHECK(b.card.line_mode() == LineMode{8, false});
  CHECK_FALSE(b.switched(185, 3));  // not from x8 SDR
  CHECK(b.switched(185, 1));
  CHECK(b.switched(183, 6));
  CHECK(std::string(b.card.mode_name()) == "DDR52");
  CHECK(b.switched(185, 3));
  CHECK(std::string(b.card.mode_name()) == "HS400");
  CHECK(b.card.line_mode() == LineMode{8, true});
  CHECK(b.switched(185, 1));
  CHECK(b.switched(183, 2));
  CHECK(b.switched(185, 2));
  CHECK(std::string(b.card.mode_name()) == "HS200");
}

TEST_CASE("HS400 with enhanced strobe needs no HS200") {
  Bench b;
  b.to_tran();
  CHECK(b.switched(183, 2));
  CHECK(b.switched(185, 1));
  CHECK(b.switched(183, 0x86));
  CHECK(b.switched(185, 3));
  CHECK(std::string(b.card.mode_name()) == "HS400ES");
  CHECK(b.card.line_mode() == LineMode{8, true});
}

TEST_CASE("a part without strobe, HS400 or HS200 refuses them") {
  Bench b(params({{184, 0}, {196, 0x07}}));
  b.to_tran();
  CHECK(b.switched(183, 2));
  CHECK_FALSE(b.switched(185, 2));
  CHECK(b.switched(185, 1));
  CHECK_FALSE(b.switched(183, 0x86));
  CHECK(b.switched(183, 6));
  CHECK_FALSE(b.switched(185, 3));
}

TEST_CASE("gaps and response delay follow the clock") {
  Bench b;
  CHECK(b.card.block_gap_clocks(52e6) == 8);
  CHECK(b.card.block_gap_clocks(200e6) == 45);
  CHECK(b.card.response_delay_clocks(400e3) == 8);
  CHECK(b.card.response_delay_clocks(198e6) == 12);
}

TEST_CASE("a flush is busy until the cached data is programmed, and so is switching the cache off") {
  Bench b;
  b.to_tran();
  CHECK(b.switched(33, 1));
  b.read(0, 8);
  b.write(0, filled(8, 1));
  b.wait(us(1000));
  sc_time now = sc_core::sc_time_stamp();
  b.r1(6, 0x03200100);
  CHECK(b.effect.busy_until == now + us(50 + 10.24 + 1300));  // firmware, 4 KiB over the channel, t_PROG
  b.catch_up();
  b.wait(us(5000));
  b.write(8, filled(8, 2));
  b.wait(us(1000));
  now = sc_core::sc_time_stamp();
  b.r1(6, 0x03210000);
  CHECK(b.effect.busy_until == now + us(50 + 10.24 + 1300 + 500));
}
