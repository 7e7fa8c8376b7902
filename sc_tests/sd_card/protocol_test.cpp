// Identification, states and legality, registers (SD Physical Layer 4).
#include "models/mmc_bus/crc.hpp"
#include "sc_tests/sd_card/bench.hpp"

using namespace vp;
using namespace vp::test;

TEST_CASE("CMD8 echoes voltage and pattern, another voltage has no answer") {
  Bench b;
  b.send(0);
  CHECK(b.send(8, 0x1AA).value() == 0x1AA);
  CHECK(b.send(8, 0x155).value() == 0x155);
  CHECK(!b.send(8, 0x2AA));
}

TEST_CASE("ACMD41 is busy until power-up has ended, then ready with high capacity") {
  Bench b;
  b.send(0);
  b.send(8, 0x1AA);
  CHECK(b.app(41, 0).value() == 0x00FF8000);  // argument 0 only asks
  CHECK((b.app(41, 0x40FF8000).value() & 0xC0000000) == 0);
  b.advance(us(1000));
  CHECK(b.app(41, 0x40FF8000).value() == 0xC0FF8000);
  CHECK(b.card.state() == SdState::ready);
}

TEST_CASE("a host without the high capacity bit, or without CMD8, is kept waiting") {
  Bench b;
  b.send(0);
  b.send(8, 0x1AA);
  b.advance(us(5000));
  CHECK((b.app(41, 0x00FF8000).value() & 0x80000000) == 0);
  b.send(0);
  CHECK((b.app(41, 0x40FF8000).value() & 0x80000000) == 0);
  b.send(8, 0x1AA);
  CHECK((b.app(41, 0x40FF8000).value() & 0x80000000) != 0);
}

TEST_CASE("an eMMC's CMD1 is not answered by an SD card") {
  Bench b;
  b.send(0);
  CHECK(!b.send(1, 0x40FF8080));
}

TEST_CASE("CMD3 publishes a new address each time, R6 carries it and the state before") {
  Bench b;
  b.identify();
  const std::uint32_t first = b.rca;
  b.send(7, 0);  // deselect
  REQUIRE(b.card.state() == SdState::stby);
  const std::uint32_t r6 = b.send(3).value();
  CHECK(r6 >> 16 != first);
  CHECK(b.state_of(r6) == 3);  // stby
}

TEST_CASE("CID and CSD: capacity by C_SIZE, CRC7 in the last byte") {
  SdCardParams p = bench_params();
  p.capacity_bytes = 3000ULL * 512 * 1024;
  Bench b(p);
  b.identify();
  b.send(7, 0);
  b.send(9, b.rca << 16);
  const auto csd = b.last.response->reg;
  CHECK(csd[0] >> 6 == 1);  // version 2
  CHECK(((csd[7] & 0x3Fu) << 16 | csd[8] << 8 | csd[9]) == 2999);
  CHECK(csd[15] == (crc7(std::span(csd).first<15>()) << 1 | 1));
  b.send(10, b.rca << 16);
  CHECK(b.last.response->reg[0] == 0xC5);
  CHECK(b.card.user_blocks() == 3000ULL * 1024);
}

TEST_CASE("the standard's state table: which commands are legal where") {
  using enum SdState;
  struct Row {
    unsigned index;
    bool app;
    std::vector<SdState> in;
  };
  const std::vector<SdState> addressed = {stby, tran, data, rcv, prg, dis};
  const Row rows[] = {{0, false, {idle, ready, ident, stby, tran, data, rcv, prg, dis}},
                      {2, false, {ready}},
                      {3, false, {ident, stby}},
                      {6, false, {tran}},
                      {7, false, {stby, tran, data, prg, dis}},
                      {8, false, {idle}},
                      {9, false, {stby}},
                      {12, false, {data, rcv}},
                      {13, false, addressed},
                      {17, false, {tran}},
                      {18, false, {tran}},
                      {24, false, {tran}},
                      {25, false, {tran}},
                      {32, false, {tran}},
                      {33, false, {tran}},
                      {38, false, {tran}},
                      {6, true, {tran}},
                      {13, true, {tran}},
                      {22, true, {tran}},
                      {23, true, {tran}},
                      {41, true, {idle}},
                      {42, true, {tran}},
                      {51, true, {tran}}};
  for (const Row& row : rows)
    for (unsigned s = 0; s <= static_cast<unsigned>(dis); ++s) {
      INFO((row.app ? "ACMD" : "CMD") << row.index << " in " << to_string(static_cast<SdState>(s)));
      const bool expected = std::find(row.in.begin(), row.in.end(), static_cast<SdState>(s)) != row.in.end();
      CHECK(SdCard::legal_in(row.index, row.app, static_cast<SdState>(s)) == expected);
    }
  CHECK(SdCard::spec(1, false) == nullptr);
  CHECK(SdCard::spec(44, false) == nullptr);
}

TEST_CASE("an illegal command is silent and shows in the next status, once") {
  Bench b;
  b.identify();
  CHECK(!b.send(2));
  CHECK((b.status() & kIllegal) != 0);
  CHECK((b.status() & kIllegal) == 0);
}

TEST_CASE("a corrupted command is silent and shows as COM_CRC_ERROR in the next status, once") {
  Bench b;
  b.identify();
  b.card.corrupted_command();
  CHECK((b.status() & kCrc) != 0);
  CHECK((b.status() & kCrc) == 0);
}

TEST_CASE("another card's address is not answered") {
  Bench b;
  b.identify();
  CHECK(!b.send(13, (b.rca + 1) << 16));
  CHECK(!b.send(55, (b.rca + 1) << 16));
  CHECK((b.status() & kIllegal) == 0);
}

TEST_CASE("CMD55 announces one application command, and an unknown one is the standard command") {
  Bench b;
  b.identify();
  CHECK((b.send(55, b.rca << 16).value() & kApp) != 0);
  CHECK((b.send(6, 2).value() & kApp) != 0);  // ACMD6: a response, no data
  CHECK(b.card.line_mode() == LineMode{4, false});
  CHECK(b.last.data == DataDir::none);
  b.send(55, b.rca << 16);
  CHECK(b.send(17, 5));  // ACMD17 does not exist
  CHECK(b.last.data == DataDir::read);
}

TEST_CASE("SCR, SD Status and the number of well written blocks") {
  Bench b;
  b.identify();
  b.app(51);
  CHECK(b.last.block_bytes == 8);
  CHECK(b.bytes(8) == std::vector<std::uint8_t>{0x02, 0x35, 0x80, 0, 0, 0, 0, 0});
  b.app(6, 2);
  b.app(13);
  auto s = b.bytes(64);
  CHECK(s[0] >> 6 == 2);   // four lines
  CHECK(s[8] == 2);        // class 4
  CHECK(s[10] >> 4 == 9);  // AU 4 MiB: 16 KiB << 8
  b.send(25, 100);
  for (unsigned k = 0; k < 3; ++k) {
    b.give(k, std::byte{1});
    b.advance(us(100));
  }
  b.send(12);
  b.wait_busy();
  b.app(22);
  CHECK(b.bytes(4) == std::vector<std::uint8_t>{0, 0, 0, 3});
}

TEST_CASE("CMD6 checks without switching, and switches to High Speed at the end of its status") {
  Bench b;
  b.identify();
  CHECK(b.card.max_clock_hz() == 25e6);
  b.send(6, 0x00FFFFF1);
  auto s = b.bytes(64);
  CHECK((s[12] << 8 | s[13]) == 0x3);
  CHECK((s[16] & 0xF) == 1);
  b.advance(us(1));
  CHECK(b.card.max_clock_hz() == 25e6);
  b.send(6, 0x80FFFFF1);
  CHECK(b.card.max_clock_hz() == 25e6);
  s = b.bytes(64);
  b.advance(us(1));
  CHECK(b.card.max_clock_hz() == 50e6);
  CHECK(std::string(b.card.mode_name()) == "SD high speed");
}

TEST_CASE("CMD6 refuses a function the card does not have and leaves the mode") {
  Bench b;
  b.identify();
  b.send(6, 0x80FFFFF3);
  auto s = b.bytes(64);
  CHECK((s[16] & 0xF) == 0xF);
  CHECK(s[1] == 0);
  b.advance(us(1));
  CHECK(b.card.max_clock_hz() == 25e6);
  b.send(6, 0x80FFFF21);  // a drive strength this card does not have
  s = b.bytes(64);
  CHECK(s[16] == 0xF1);
  b.advance(us(1));
  CHECK(b.card.max_clock_hz() == 25e6);
}

TEST_CASE("after CMD11 a UHS card offers SDR50, SDR104 and DDR50, and tunes by CMD19") {
  SdCardParams p = bench_params();
  p.uhs = true;
  Bench b(p);
  b.send(0);
  b.send(8, 0x1AA);
  b.advance(us(1000));
  CHECK(b.app(41, 0x41FF8000).value() == 0xC1FF8000);
  REQUIRE(b.send(11));
  b.send(2);
  b.rca = b.send(3).value() >> 16;
  b.send(7, b.rca << 16);
  CHECK(!b.send(19));
  b.app(6, 2);
  const double hz[] = {25e6, 50e6, 100e6, 208e6, 50e6};
  for (std::uint32_t f = 0; f < 5; ++f) {
    b.send(6, 0x80FFFFF0 | f);
    CHECK((b.bytes(64)[13]) == 0x1F);
    b.advance(us(1));
    CHECK(b.card.max_clock_hz() == hz[f]);
    CHECK(b.card.line_mode() == LineMode{4, f == 4});
  }
  b.send(19);
  CHECK(b.last.block_bytes == 64);
  const auto t = b.bytes(64);
  CHECK(t[0] == 0xFF);
  CHECK(t[1] == 0x0F);
}

TEST_CASE("without CMD23 support the command is illegal, with it the count ends the transfer") {
  Bench b;
  b.identify();
  CHECK(!b.send(23, 4));
  CHECK((b.status() & kIllegal) != 0);
}

TEST_CASE("CMD0 from the transfer state goes back to identification with one line and default speed") {
  Bench b;
  b.identify();
  b.app(6, 2);
  b.send(0);
  CHECK(b.card.state() == SdState::idle);
  CHECK(b.card.line_mode() == LineMode{1, false});
  CHECK(b.card.max_clock_hz() == 400e3);
  b.rca = 0;
  b.identify();
}
