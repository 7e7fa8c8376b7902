// What the driver reads out of an SD card's registers (SD Physical Layer 5.3.3, 5.6, 4.3.10).
#include "firmware/mmc/sd_card.hpp"
#include "sc_tests/catch.hpp"

using namespace fw;

TEST_CASE("CSD version 2: capacity is C_SIZE plus one times 512 KiB") {
  // 400e0032 5b590000 edc77f80 0a404000, a common 32 GB card: C_SIZE 0xEDC7
  const std::uint32_t csd[4] = {0x400e0032, 0x5b590000, 0xedc77f80, 0x0a404000};
  CardInfo info;
  REQUIRE(parse_sd_csd(csd, info));
  CHECK(info.sd);
  CHECK(info.sectors == (0xEDC7ull + 1) * 1024);
  CHECK(info.sd_switch);  // class 10
  CHECK(info.max_legacy_hz == 25'000'000);
}

TEST_CASE("a standard capacity card's CSD, or an eMMC's, is refused") {
  CardInfo info;
  const std::uint32_t sdsc[4] = {0x002f0032, 0x5b5a83ba, 0xffffff80, 0x16800000};
  CHECK(!parse_sd_csd(sdsc, info));
  const std::uint32_t emmc[4] = {0xd0270132, 0x0f5903ff, 0xffffffef, 0x8a400000};
  CHECK(!parse_sd_csd(emmc, info));
}

TEST_CASE("SCR: bus widths and CMD23") {
  CardInfo info;
  const std::uint8_t old_card[8] = {0x02, 0x35, 0x80, 0x00};
  REQUIRE(parse_scr(old_card, info));
  CHECK(info.sd_width4);
  CHECK(!info.cmd23);
  const std::uint8_t uhs_card[8] = {0x02, 0x35, 0x80, 0x03};
  REQUIRE(parse_scr(uhs_card, info));
  CHECK(info.cmd23);
  const std::uint8_t one_line[8] = {0x00, 0x21};
  REQUIRE(parse_scr(one_line, info));
  CHECK(!info.sd_width4);
  const std::uint8_t unknown[8] = {0x12, 0x35};
  CHECK(!parse_scr(unknown, info));
}

TEST_CASE("CMD6 status: what group 1 offers and which function came") {
  std::uint8_t status[64] = {};
  status[12] = 0x80;
  status[13] = 0x03;
  status[16] = 0xA1;
  CHECK(sd_function_supported(status, 0));
  CHECK(sd_function_supported(status, 1));
  CHECK(!sd_function_supported(status, 3));
  CHECK(sd_function_supported(status, 15));
  CHECK(sd_function_selected(status) == 1);
}
