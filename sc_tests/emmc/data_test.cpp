#include <unistd.h>

#include <filesystem>
#include <random>

#include "sc_tests/emmc/bench.hpp"

using namespace bench;

namespace {

struct TemporaryFile {
  std::string path =
      (std::filesystem::temp_directory_path() / ("emmc_test_" + std::to_string(::getpid()) + ".img"))
          .string();
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("the block pattern is the documented sequence, in any number of blocks") {
  std::vector<std::byte> out(5 * 512);
  fill_block_pattern(123456789, out);
  CHECK(out == pattern(123456789, 5));
  CHECK(holds_block_pattern(123456789, out));
  out[3 * 512 + 17] ^= std::byte{4};
  CHECK_FALSE(holds_block_pattern(123456789, out));
}

TEST_CASE("never-written blocks read as the pattern of their address") {
  Bench b;
  b.to_tran();
  CHECK(b.read(0, 3) == pattern(0, 3));
  CHECK(b.read(0x03A3DFF0, 16) == pattern(0x03A3DFF0, 16));
}

TEST_CASE("a 4 KiB read is ready after map, firmware, t_R, transfer and buffer") {
  Bench b;
  b.to_tran();
  b.r1(23, 8);
  b.r1(18, 0);
  const sc_time now = sc_core::sc_time_stamp();
  CHECK(b.card.read_ready(0, b.graph).at == now + us(50 + 25 + 10.24 + 50 + 10.24 + 1));
}

TEST_CASE("random extents read back what was written to them") {
  Bench b(tiny_params(), tiny_nand());
  b.to_tran();
  CHECK(b.switched(33, 1));
  std::map<std::uint64_t, std::vector<std::byte>> oracle;
  std::mt19937_64 random(7);
  const std::uint64_t blocks = b.card.user_blocks();
  REQUIRE(blocks == 16384);
  for (unsigned i = 0; i < 1500; ++i) {
    const auto n = static_cast<std::uint32_t>(1 + random() % 100);
    const std::uint64_t lba = random() % (blocks - n);
    if (random() % 3 != 0) {
      const auto data = filled(n, i);
      b.write(lba, data, 512);
      for (std::uint32_t k = 0; k < n; ++k)
        oracle[lba + k].assign(data.begin() + k * 512, data.begin() + (k + 1) * 512);
      continue;
    }
    const auto seen = b.read(lba, n, 512);
    REQUIRE(seen.size() == n * 512);
    for (std::uint32_t k = 0; k < n; ++k) {
      const auto known = oracle.find(lba + k);
      const auto want = known == oracle.end() ? pattern(lba + k, 1) : known->second;
      REQUIRE(std::equal(want.begin(), want.end(), seen.begin() + k * 512));
    }
  }
  CHECK(b.card.ftl().counters().gc_blocks > 0);
  CHECK(b.card.ftl().inconsistencies() == 0);
}

TEST_CASE("a small part is addressed in bytes, and a misaligned address is refused") {
  Bench b(tiny_params(), tiny_nand());
  b.to_tran();
  CHECK(b.r1(17, 100) == (0x00000900 | 1U << 30));
  CHECK(b.effect.data == DataDir::none);
  b.r1(17, 5 * 512);
  CHECK(b.read_running(1) == pattern(5, 1));
}

TEST_CASE("an address beyond the device is refused at once") {
  Bench b;
  b.to_tran();
  for (unsigned index : {17u, 18u, 24u, 25u, 35u}) {
    CHECK(b.r1(index, 0x03A3E000) == (0x00000900 | 1U << 31));
    CHECK(b.effect.data == DataDir::none);
    CHECK(b.card.state() == CardState::tran);
  }
  CHECK(b.status() == 0x00000900);
}

TEST_CASE("a read that runs over the end stops there and says so to CMD12") {
  Bench b;
  b.to_tran();
  b.r1(23, 8);
  b.r1(18, 0x03A3DFFE);
  CHECK(b.read_running(8) == pattern(0x03A3DFFE, 2));
  CHECK(b.card.state() == CardState::data);
  CHECK(b.r1(12) == (0x00000B00 | 1U << 31));
  CHECK(b.card.state() == CardState::tran);
  CHECK(b.status() == 0x00000900);
}

TEST_CASE("a write that runs over the end takes what fits") {
  Bench b;
  b.to_tran();
  b.r1(25, 0x03A3DFFF);
  b.write_running(filled(1, 3));
  CHECK_FALSE(b.card.transfer_running());
  CHECK(b.card.write_block(1, filled(1, 4), true, sc_core::sc_time_stamp(), b.graph, kRootNode).status ==
        CrcStatus::none);
  CHECK((b.done(12) & 1U << 31) != 0);
  CHECK(b.read(0x03A3DFFF, 1) == filled(1, 3));
}

TEST_CASE("an open-ended read runs until CMD12") {
  Bench b;
  b.to_tran();
  b.r1(18, 40);
  CHECK(b.read_running(100) == pattern(40, 100));
  CHECK(b.card.transfer_running());
  CHECK(b.r1(12) == 0x00000B00);
  CHECK(b.card.state() == CardState::tran);
  b.command(12);
  CHECK_FALSE(b.answered());  // illegal in tran
}

TEST_CASE("an open-ended write is accepted at CMD12") {
  Bench b;
  b.to_tran();
  b.r1(25, 8);
  b.write_running(filled(9, 5));
  CHECK(b.card.state() == CardState::rcv);
  b.r1(12);
  CHECK(b.effect.response->type == RespType::r1b);
  CHECK(b.effect.busy_until > sc_core::sc_time_stamp());  // cache off: programmed first
  CHECK(b.card.state() == CardState::prg);
  b.wait(us(100000));
  CHECK(b.read(8, 9) == filled(9, 5));
}

TEST_CASE("CMD23 holds for the next command only") {
  Bench b;
  b.to_tran();
  b.r1(23, 4);
  b.status();
  b.r1(18, 0);
  CHECK(b.read_running(20).size() == 20 * 512);  // open-ended
  b.r1(12);
  b.r1(23, 4);
  b.r1(18, 0);
  CHECK(b.read_running(20).size() == 4 * 512);
  CHECK(b.card.state() == CardState::tran);
}

TEST_CASE("reliable and forced writes wait for the array though the cache is on") {
  Bench b;
  b.to_tran();
  CHECK(b.switched(33, 1));
  b.read(0, 8);
  for (const std::uint32_t flags : {0U, 1U << 31, 1U << 24}) {
    b.wait(us(100000));
    b.r1(23, flags | 8);
    b.r1(25, 0);
    const sc_time start = sc_core::sc_time_stamp();
    b.last = start;
    b.write_running(filled(8, 9));
    CHECK(b.last == start + (flags == 0 ? us(50) : us(50 + 10.24 + 1300)));
  }
}

TEST_CASE("a block with a bad CRC is not written and the rest is ignored until CMD12") {
  Bench b;
  b.to_tran();
  b.r1(25, 0);
  b.write_running(filled(1, 1));
  CHECK(b.card.write_block(1, filled(1, 2), false, b.last, b.graph, kRootNode).status ==
        CrcStatus::crc_error);
  CHECK(b.card.write_block(2, filled(1, 2), true, b.last, b.graph, kRootNode).status == CrcStatus::none);
  b.done(12);
  CHECK(b.read(1, 2) == pattern(1, 2));
  CHECK(b.read(0, 1) == filled(1, 1));
}

TEST_CASE("an uncorrectable block sets DEVICE_ECC_FAILED in the next response") {
  EmmcParams p = params();
  p.ecc_errors = "2-3,100";
  Bench b(p);
  b.to_tran();
  auto want = pattern(0, 3);
  want[2 * 512] ^= std::byte{1};
  CHECK(b.read(0, 3) == want);
  CHECK(b.status() == (0x00000900 | 1U << 21));
  CHECK(b.status() == 0x00000900);
}

TEST_CASE("the erase commands must follow each other") {
  Bench b;
  b.to_tran();
  CHECK(b.r1(36, 0) == (0x00000900 | 1U << 28));
  CHECK(b.r1(38, 0) == (0x00000900 | 1U << 28));
  CHECK(b.card.state() == CardState::tran);
  b.r1(35, 0);
  CHECK(b.r1(38, 0) == (0x00000900 | 1U << 28));
  b.r1(35, 0);
  b.r1(36, 10);
  CHECK(b.status() == 0x00000900);                  // CMD13 may come between
  CHECK(b.r1(16, 512) == (0x00000900 | 1U << 13));  // others reset the sequence
  CHECK(b.r1(38, 0) == (0x00000900 | 1U << 28));
  b.r1(35, 10);
  CHECK(b.r1(36, 5) == 0x00000900);  // execution error: seen afterwards
  CHECK(b.status() == (0x00000900 | 1U << 27));
}

TEST_CASE("trim erases blocks, erase whole groups") {
  Bench b(params({{181, 0}}));
  b.to_tran();
  b.write(1020, filled(8, 1));
  b.r1(35, 1021);
  b.r1(36, 1022);
  b.r1(38, 1);
  CHECK(b.effect.busy_until > sc_core::sc_time_stamp());
  b.wait(us(100000));
  auto want = filled(8, 1);
  std::fill(want.begin() + 512, want.begin() + 3 * 512, std::byte{0});
  CHECK(b.read(1020, 8) == want);
  // Groups of 1024 blocks (CSD: 32 x 32): blocks 0..1023.
  b.r1(35, 1021);
  b.r1(36, 1022);
  b.r1(38, 0);
  b.wait(us(100000));
  std::fill(want.begin(), want.begin() + 4 * 512, std::byte{0});
  CHECK(b.read(1020, 8) == want);
  CHECK(b.read(0, 1) == std::vector<std::byte>(512));
}

TEST_CASE("erased blocks read as ERASED_MEM_CONT") {
  Bench b(params({{181, 1}}));
  b.to_tran();
  b.r1(35, 5);
  b.r1(36, 5);
  b.r1(38, 3);
  b.wait(us(100000));
  CHECK(b.read(5, 1) == std::vector<std::byte>(512, std::byte{0xFF}));
  CHECK(b.read(6, 1) == pattern(6, 1));
}

TEST_CASE("boot partitions are media of their own") {
  Bench b;
  b.to_tran();
  b.write(0, filled(1, 1));
  CHECK(b.switched(179, 1));
  CHECK(b.read(0, 1) == pattern(0, 1));
  b.write(0, filled(1, 2));
  CHECK(b.r1(17, 0x20 * 256) == (0x00000900 | 1U << 31));  // 4 MiB
  CHECK(b.switched(179, 2));
  CHECK(b.read(0, 1) == pattern(0, 1));
  CHECK(b.switched(179, 0));
  CHECK(b.read(0, 1) == filled(1, 1));
  CHECK(b.switched(179, 1));
  CHECK(b.read(0, 1) == filled(1, 2));
}

TEST_CASE("an image keeps what was written and erased, and only that") {
  TemporaryFile file;
  SparseMedium a(100000, std::byte{0});
  a.write_block(70, filled(1, 1));
  a.write_block(40000, filled(1, 2));
  a.erase(100, 1000);
  a.save_image(file.path);
  CHECK(std::filesystem::file_size(file.path) == 40001 * 512);
  SparseMedium b(100000, std::byte{0});
  b.load_image(file.path);
  std::vector<std::byte> block(512), other(512);
  for (std::uint64_t lba : {0, 70, 99, 100, 1099, 1100, 39999, 40000, 40001, 99999}) {
    a.read_block(lba, block);
    b.read_block(lba, other);
    INFO(lba);
    CHECK(block == other);
    CHECK(b.ever_written(lba) == (lba <= 40000));
  }
  b.write_block(3, filled(1, 3));
  b.save_image(file.path);  // over the file it stands on
  SparseMedium c(100000, std::byte{0});
  c.load_image(file.path);
  c.read_block(3, block);
  CHECK(block == filled(1, 3));
  std::vector<std::byte> all_b(40010 * 512), all_c(40010 * 512);
  b.read_blocks(0, 40010, all_b);
  c.read_blocks(0, 40010, all_c);
  CHECK(all_b == all_c);
}

TEST_CASE("an image that does not fit is refused with its name and both sizes") {
  TemporaryFile file;
  std::ofstream(file.path) << std::string(4096, 'x');
  SparseMedium m(7, std::byte{0});
  try {
    m.load_image(file.path);
    FAIL("accepted");
  } catch (const InputError& e) {
    const std::string text = e.what();
    CHECK(text.find(file.path) != std::string::npos);
    CHECK(text.find("4096") != std::string::npos);
    CHECK(text.find("3584") != std::string::npos);
  }
  std::ofstream(file.path) << std::string(1000, 'x');
  CHECK_THROWS_AS(m.load_image(file.path), InputError);
  CHECK_THROWS_AS(m.load_image("/nonexistent/image"), InputError);
  CHECK_THROWS_AS(m.save_image("/nonexistent/image"), InputError);
}

TEST_CASE("a medium under random writes and erases equals a map") {
  SparseMedium m(50000, std::byte{0xFF});
  std::map<std::uint64_t, std::vector<std::byte>> oracle;
  std::mt19937_64 random(11);
  for (unsigned i = 0; i < 3000; ++i) {
    const std::uint64_t lba = random() % 50000;
    if (random() % 8 != 0) {
      oracle[lba] = filled(1, i);
      m.write_block(lba, oracle[lba]);
      continue;
    }
    const std::uint64_t n = std::min<std::uint64_t>(random() % 400, 50000 - lba);
    m.erase(lba, n);
    for (std::uint64_t k = 0; k < n; ++k) oracle[lba + k].assign(512, std::byte{0xFF});
  }
  std::vector<std::byte> all(50000 * 512);
  m.read_blocks(0, 50000, all);
  for (std::uint64_t lba = 0; lba < 50000; ++lba) {
    const auto it = oracle.find(lba);
    const auto want = it == oracle.end() ? pattern(lba, 1) : it->second;
    REQUIRE(std::equal(want.begin(), want.end(), all.begin() + static_cast<std::ptrdiff_t>(lba * 512)));
  }
}

TEST_CASE("a device whose registers are wrong is refused") {
  Context context;
  EmmcParams p = params();
  p.cid = "xyz";
  CHECK_THROWS_AS(Emmc("a", context, p, NandParams()), InputError);
  p = params();
  p.ecc_errors = "5-2";
  CHECK_THROWS_AS(Emmc("b", context, p, NandParams()), InputError);
  p = params();
  p.ext_csd_text.clear();
  p.ext_csd = "/nonexistent.hex";
  CHECK_THROWS_AS(Emmc("c", context, p, NandParams()), InputError);
}
