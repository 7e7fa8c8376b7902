#include "models/mmc_bus/crc.hpp"

#include <array>
#include <vector>

#include "sc_tests/catch.hpp"

namespace {

// The last byte of a command frame: CRC7 of the 40 leading bits, then the end bit.
unsigned command_tail(unsigned index, std::uint32_t argument) {
  const std::array<std::uint8_t, 5> head{
      static_cast<std::uint8_t>(0x40 | index), static_cast<std::uint8_t>(argument >> 24),
      static_cast<std::uint8_t>(argument >> 16), static_cast<std::uint8_t>(argument >> 8),
      static_cast<std::uint8_t>(argument)};
  return vp::crc7(head) << 1 | 1U;
}

}  // namespace

TEST_CASE("command frames end with the CRC7 known from bus captures") {
  CHECK(command_tail(0, 0) == 0x95);
  CHECK(command_tail(8, 0) == 0xC3);
  CHECK(command_tail(1, 0x40FF8080) == 0x89);
  CHECK(command_tail(3, 0x00010000) == 0x7F);
  CHECK(command_tail(7, 0x00010000) == 0xDD);
  CHECK(command_tail(13, 0x00010000) == 0x53);
  CHECK(command_tail(17, 0) == 0x55);
  CHECK(command_tail(6, 0x03B90100) == 0x2F);
}

TEST_CASE("a register's CRC7 covers its 120 leading bits") {
  const std::array<std::uint8_t, 15> csd{0xd0, 0x4f, 0x01, 0x32, 0x0f, 0x59, 0x03, 0xff,
                                         0xff, 0xff, 0xff, 0xe7, 0x8a, 0x40, 0x00};
  CHECK((vp::crc7(csd) << 1 | 1) == 0x51);
}

TEST_CASE("CRC16 of one DAT line") {
  CHECK(vp::crc16(std::vector<std::byte>(512, std::byte{0xFF})) == 0x7FA1);  // 4096 one bits, x1
  CHECK(vp::crc16(std::vector<std::byte>(64, std::byte{0xFF})) == 0x278E);   // 512 one bits, x8
  CHECK(vp::crc16(std::vector<std::byte>(512)) == 0x0000);
  const std::array<std::byte, 9> digits{std::byte{'1'}, std::byte{'2'}, std::byte{'3'},
                                        std::byte{'4'}, std::byte{'5'}, std::byte{'6'},
                                        std::byte{'7'}, std::byte{'8'}, std::byte{'9'}};
  CHECK(vp::crc16(digits) ==
        0x31C3);  // the published check value of CRC-16/XMODEM, the same polynomial and start
}
