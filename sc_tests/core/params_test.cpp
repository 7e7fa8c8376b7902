#include "models/core/params.hpp"

#include "models/core/findings.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

struct Bench {
  ParamRegistry r;
  bool wrap = false;
  std::uint64_t fifo_bytes = 4096;
  double clock_hz = 198e6;
  std::string on_cross = "ok";
  Bench() {
    r.add("sdhci.wrap", wrap, "wraps");
    r.add("sdhci.fifo_bytes", fifo_bytes, "bytes", 512, 65536, "host FIFO");
    r.add("sdhci.clock_hz", clock_hz, "Hz", 1e5, 4e8, "core clock");
    r.add("sdhci.on_cross", on_cross, {"ok", "wrap", "stall"}, "what a crossing does");
  }
  /// The error's text, or "" when the value was taken.
  std::string error(const std::string& key, const std::string& text) {
    try {
      r.set(key, text, "-p: ", ParamKind::user);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("parameters are set from text in their own type and remember who said so") {
  Bench b;
  CHECK(b.error("sdhci.fifo_bytes", "8K") == "");
  CHECK(b.fifo_bytes == 8192);
  CHECK(b.error("sdhci.fifo_bytes", "0x400") == "");
  CHECK(b.fifo_bytes == 1024);
  CHECK(b.error("sdhci.clock_hz", "2e8") == "");
  CHECK(b.clock_hz == 2e8);
  CHECK(b.error("sdhci.wrap", "on") == "");
  CHECK(b.wrap);
  CHECK(b.error("sdhci.wrap", "false") == "");
  CHECK_FALSE(b.wrap);
  CHECK(b.error("sdhci.on_cross", "stall") == "");
  CHECK(b.on_cross == "stall");
  b.r.set("sdhci.fifo_bytes", "2K", "th1520.toml:3: ", ParamKind::datasheet, "DWC MSHC databook");
  const Param* p = b.r.find("sdhci.fifo_bytes");
  REQUIRE(p);
  CHECK(p->value_text() == "2048");
  CHECK(p->default_text == "4096");
  CHECK(p->kind == ParamKind::datasheet);
  CHECK(p->source == "DWC MSHC databook");
}

TEST_CASE("an unknown key names the nearest valid one") {
  Bench b;
  const std::string e = b.error("sdhci.fifobytes", "1");
  CHECK(has(e, "-p: "));
  CHECK(has(e, "'sdhci.fifobytes'"));
  CHECK(has(e, "did you mean 'sdhci.fifo_bytes'"));
  CHECK(nearest_word("hs40", {"hs200", "hs400", "legacy"}) == "hs400");
  CHECK(nearest_word("x", {}).empty());
}

TEST_CASE("a value out of range names the range and its unit, and changes nothing") {
  Bench b;
  CHECK(has(b.error("sdhci.fifo_bytes", "511"), "must be 512 to 65536 bytes"));
  CHECK(b.error("sdhci.fifo_bytes", "64K") == "");
  CHECK(b.fifo_bytes == 65536);
  CHECK(has(b.error("sdhci.fifo_bytes", "65537"), "sdhci.fifo_bytes = 65537"));
  CHECK(has(b.error("sdhci.clock_hz", "5e8"), "Hz"));
  CHECK(b.fifo_bytes == 65536);
  CHECK(b.clock_hz == 198e6);
}

TEST_CASE("text that is no value of the type is refused with what would do") {
  Bench b;
  CHECK(has(b.error("sdhci.wrap", "maybe"), "must be true or false"));
  CHECK(has(b.error("sdhci.clock_hz", "fast"), "must be a number"));
  CHECK(has(b.error("sdhci.clock_hz", ""), "must be a number"));
  CHECK(has(b.error("sdhci.clock_hz", "nan"), "must be a number"));
  CHECK(has(b.error("sdhci.fifo_bytes", "many"), "is not a size"));
  const std::string e = b.error("sdhci.on_cross", "stal");
  CHECK(has(e, "ok, wrap, stall"));
  CHECK(has(e, "did you mean 'stall'"));
  CHECK(b.on_cross == "ok");
}

TEST_CASE("a parameter may not be declared twice") {
  Bench b;
  bool other = false;
  CHECK_THROWS_AS(b.r.add("sdhci.wrap", other, ""), std::logic_error);
}

TEST_CASE("sizes have binary suffixes and prefixes") {
  CHECK(parse_size("0", "") == 0);
  CHECK(parse_size("512", "") == 512);
  CHECK(parse_size("512B", "") == 512);
  CHECK(parse_size("4k", "") == 4096);
  CHECK(parse_size("128KiB", "") == 131072);
  CHECK(parse_size("1M", "") == 1u << 20);
  CHECK(parse_size("4G", "") == 1ULL << 32);
  CHECK(parse_size("2TB", "") == 1ULL << 41);
  CHECK(parse_size("0xFF", "") == 255);
  CHECK(parse_size("18446744073709551615", "") == ~0ULL);
  for (const char* bad : {"", "K", "-1", "4.5K", "4Q", "1 M", "0x", "18446744073709551616", "16777216T"})
    CHECK_THROWS_AS(parse_size(bad, ""), InputError);
}

TEST_CASE("findings keep the first sixteen of each rule and count them all") {
  Findings f;
  CHECK(f.empty());
  for (std::uint64_t i = 0; i < 100; ++i) f.report({"a", sc_core::sc_time::from_value(i), "m", {i}, "text"});
  f.report({"b", sc_core::SC_ZERO_TIME, "m", {}, "text"});
  CHECK(f.kept().size() == 16 + 1);
  CHECK(f.kept()[15].addresses[0] == 15);
  CHECK(f.kept()[16].rule == "b");
  CHECK(f.count("a") == 100);
  CHECK(f.count("b") == 1);
  CHECK(f.count("c") == 0);
}
