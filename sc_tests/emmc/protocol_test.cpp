#include <set>

#include "sc_tests/emmc/bench.hpp"

using namespace bench;
using enum vp::CardState;

namespace {

constexpr unsigned state_of(std::uint32_t r1) { return r1 >> 9 & 15; }

}  // namespace

TEST_CASE("each command is legal in the states of JESD84-B51 and in no other") {
  const std::set<CardState> every{idle, ready, ident, stby, tran, data, rcv, prg, dis, btst, slp};
  const std::set<CardState> addressed{stby, tran, data, rcv, prg, dis, btst};
  const std::map<unsigned, std::set<CardState>> table{
      {0, every},
      {1, {idle}},
      {2, {ready}},
      {3, {ident}},
      {5, {stby, slp}},
      {6, {tran}},
      {7, {stby, tran, data, prg, dis}},
      {8, {tran}},
      {9, {stby}},
      {10, {stby}},
      {12, {tran, data, rcv}},  // in tran with the queue on only
      {13, addressed},
      {15, addressed},
      {16, {tran}},
      {17, {tran}},
      {18, {tran}},
      {21, {tran}},
      {23, {tran}},
      {24, {tran}},
      {25, {tran}},
      {35, {tran}},
      {36, {tran}},
      {38, {tran}},
      {44, {tran, data, rcv, prg}},  // with the queue on
      {45, {tran, data, rcv, prg}},
      {46, {tran}},
      {47, {tran}},
      {48, {tran}},
  };
  for (unsigned index = 0; index < 64; ++index)
    for (unsigned s = 0; s <= static_cast<unsigned>(ina); ++s) {
      const auto state = static_cast<CardState>(s);
      const auto row = table.find(index);
      INFO("CMD" << index << " in " << to_string(state));
      CHECK(Emmc::legal_in(index, state) == (row != table.end() && row->second.count(state) != 0));
    }
}

TEST_CASE("identification answers as a high-capacity dual-voltage part does") {
  Bench b;
  b.command(0);
  CHECK_FALSE(b.answered());
  b.command(1, 0x40FF8080);
  CHECK(b.effect.response->content == 0x40FF8080);  // still powering up
  CHECK(b.effect.response->index == 0x3F);
  CHECK(b.card.state() == idle);
  b.wait(us(20000));
  b.command(1, 0);
  CHECK(b.effect.response->content == 0xC0FF8080);  // only asked: no change of state
  CHECK(b.card.state() == idle);
  CHECK(b.card.max_clock_hz() == 400e3);
  b.command(1, 0x40FF8080);
  CHECK(b.effect.response->content == 0xC0FF8080);
  CHECK(b.effect.response->type == RespType::r3);
  CHECK(b.card.state() == ready);
  b.command(2);
  CHECK(b.effect.response->type == RespType::r2);
  CHECK(b.effect.response->reg == parse_register("c50100565045333247101234567869a9", ""));
  CHECK(b.effect.response->reg[15] == 0xa9);
  CHECK(b.r1(3, kRca) == 0x00000500);
  b.command(9, kRca);
  CHECK(b.effect.response->reg[0] == 0xd0);
  CHECK(b.effect.response->reg[15] == 0x1b);
  CHECK(b.r1(7, kRca) == 0x00000700);
  CHECK(b.status() == 0x00000900);
  CHECK(b.card.max_clock_hz() == 26e6);
}

TEST_CASE("CID and CSD get the CRC byte that their 120 bits have") {
  CHECK(parse_register("d02701320f5903fff6dbffef8e404000", "")[15] == 0x0D);
  CHECK(parse_register("d02701320f5903ffffffffef8a400000", "")[15] == 0x1B);
  CHECK(parse_register("d00f00320f5903fffffffdff8a404000", "")[15] == 0xA7);
  CHECK(parse_register("d05e00320f5903ffffffffef92400000", "")[15] == 0xD3);
  CHECK(parse_register("150100424a4e4234520fdac7c0381400", "")[15] == 0x1F);
  CHECK_THROWS_AS(parse_register("15", "emmc.cid"), InputError);
}

TEST_CASE("a host without a common voltage sends the device to inactive") {
  Bench b;
  b.wait(us(20000));
  b.command(1, 0x00000100);
  CHECK_FALSE(b.answered());
  CHECK(b.card.state() == ina);
  b.command(0);
  CHECK(b.card.state() == ina);
}

TEST_CASE("an illegal command is not answered and shows in the next response, once") {
  Bench b;
  b.to_tran();
  b.command(55, kRca);
  CHECK_FALSE(b.answered());
  CHECK(b.status() == (0x00000900 | 1U << 22));
  CHECK(b.status() == 0x00000900);
}

TEST_CASE("a command with a bad CRC shows in the next response, once") {
  Bench b;
  b.to_tran();
  b.card.corrupted_command();
  CHECK(b.status() == (0x00000900 | 1U << 23));
  CHECK(b.status() == 0x00000900);
}

TEST_CASE(
    "an illegal command's bit survives until a valid command, and a register response clears it unseen") {
  Bench b;
  b.to_tran();
  b.command(7, 0);
  b.command(17);
  b.command(17);
  b.command(9, kRca);
  CHECK(b.answered());
  CHECK((b.status() & 1U << 22) == 0);
}

TEST_CASE("commands for another device are ignored without an error") {
  Bench b;
  b.to_tran();
  b.command(13, 0x00020000);
  CHECK_FALSE(b.answered());
  CHECK(b.status() == 0x00000900);
}

TEST_CASE("CMD7 with another address deselects, and selects again with its own") {
  Bench b;
  b.to_tran();
  b.command(7, 0);
  CHECK_FALSE(b.answered());
  CHECK(b.card.state() == stby);
  CHECK(state_of(b.r1(7, kRca)) == 3);
  CHECK(b.card.state() == tran);
}

TEST_CASE("programming goes on in dis and ends in stby") {
  Bench b;
  b.to_tran();
  b.r1(24, 0);
  const auto block = filled(1, 1);
  const WriteEffect e = b.card.write_block(0, block, true, us(20100), b.graph, kRootNode);
  REQUIRE(e.busy_until > us(20200));
  b.wait(us(200));
  CHECK(state_of(b.status()) == 7);
  CHECK((b.status() & 1U << 8) == 0);  // not ready for data
  b.command(7, 0);
  CHECK(b.card.state() == dis);
  b.command(7, kRca);
  CHECK(b.card.state() == prg);
  CHECK(b.effect.busy_until == e.busy_until);
  b.command(7, 0);
  b.wait(e.busy_until - sc_core::sc_time_stamp());
  CHECK(b.card.state() == stby);
}

TEST_CASE("CMD5 puts the device to sleep and awake") {
  Bench b;
  b.to_tran();
  b.command(7, 0);
  CHECK(state_of(b.done(5, kRca | 0x8000)) == 3);
  CHECK(b.card.state() == slp);
  b.command(13, kRca);
  CHECK_FALSE(b.answered());
  b.done(5, kRca);
  CHECK(b.card.state() == stby);
}

TEST_CASE("CMD15 leaves only a power cycle") {
  Bench b;
  b.to_tran();
  b.command(15, kRca);
  CHECK(b.card.state() == ina);
  b.command(0);
  CHECK(b.card.state() == ina);
}

TEST_CASE("CMD16 takes 512 bytes and nothing else, and is illegal in DDR") {
  Bench b;
  b.to_tran();
  CHECK(b.r1(16, 512) == 0x00000900);
  CHECK(b.r1(16, 1024) == (0x00000900 | 1U << 29));
  CHECK(b.status() == 0x00000900);  // cleared by being read
  b.write_byte(183, 2);
  b.write_byte(185, 1);
  b.write_byte(183, 6);
  b.command(16, 512);
  CHECK_FALSE(b.answered());
}

TEST_CASE("CMD0 resets what is volatile, RST_n only where it is enabled") {
  Bench b(params({{162, 0}}));
  b.to_tran();
  b.write_byte(183, 2);
  b.write_byte(185, 1);
  b.write_byte(33, 1);
  b.card.hardware_reset();
  CHECK(b.card.state() == tran);
  b.command(0);
  CHECK(b.card.state() == idle);
  CHECK(b.card.line_mode() == LineMode{1, false});
  CHECK(b.card.ext_csd()[33] == 0);
  CHECK(b.card.ext_csd()[185] == 0);
}

TEST_CASE("RST_n resets a device that has it enabled") {
  Bench b(params({{162, 1}}));
  b.to_tran();
  b.card.hardware_reset();
  CHECK(b.card.state() == idle);
  b.command(1, 0x40FF8080);
  CHECK(b.effect.response->content == 0x40FF8080);  // powering up again
}

TEST_CASE("CMD0 keeps set-only protections, the pre-idle reset drops them") {
  Bench b;
  b.to_tran();
  CHECK(b.switched(178, 0x01));
  b.to_tran();
  CHECK(b.card.ext_csd()[178] == 0x01);
  CHECK_FALSE(b.switched(178, 0x00));
  b.command(0, 0xF0F0F0F0);
  CHECK(b.card.ext_csd()[178] == 0x00);
}

TEST_CASE("CMD8 sends the EXT_CSD with write-only bytes as zero") {
  Bench b;
  b.to_tran();
  b.write_byte(183, 2);
  b.r1(8);
  CHECK(b.effect.block_bytes == 512);
  const auto seen = b.read_running(4);
  REQUIRE(seen.size() == 512);
  CHECK(b.card.state() == tran);
  CHECK(seen[183] == std::byte{0});
  CHECK(seen[212] == std::byte{0x00});
  CHECK(seen[213] == std::byte{0xE0});
  CHECK(seen[192] == std::byte{8});
}

TEST_CASE("the tuning block comes in HS200 only, 64 or 128 bytes") {
  Bench b;
  b.to_tran();
  b.command(21);
  CHECK_FALSE(b.answered());
  b.write_byte(183, 2);
  b.write_byte(185, 2);
  b.r1(21);
  CHECK(b.effect.block_bytes == 128);
  const auto x8 = b.read_running(1);
  CHECK(x8[0] == std::byte{0xFF});
  CHECK(x8[2] == std::byte{0x00});
  CHECK(x8[127] == std::byte{0xEE});
  b.write_byte(183, 1);
  b.r1(21);
  CHECK(b.effect.block_bytes == 64);
  const auto x4 = b.read_running(1);
  CHECK(x4[1] == std::byte{0x0F});
  CHECK(x4[63] == std::byte{0xDE});
  // Line D0 of the x8 block: CRC16 as computed for the standard's pattern.
  std::vector<std::byte> line(16);
  for (unsigned i = 0; i < 128; ++i) line[i / 8] = line[i / 8] << 1 | (x8[i] & std::byte{1});
  std::uint16_t crc = 0;
  for (const std::byte byte : line)
    for (int bit = 7; bit >= 0; --bit) {
      const bool top = ((crc >> 15) ^ (std::to_integer<unsigned>(byte) >> bit & 1U)) != 0;
      crc = static_cast<std::uint16_t>(crc << 1 ^ (top ? 0x1021 : 0));
    }
  CHECK(crc == 0xe946);
}
