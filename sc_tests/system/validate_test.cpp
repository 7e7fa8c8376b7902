// `emmc-vp validate` as a user calls it.
#include <algorithm>

#include "sc_tests/system/program.hpp"

using namespace vp::test;

TEST_CASE("validate takes one seed, refuses an unknown one and what its rows say themselves, in one line") {
  for (const auto& args : std::vector<std::vector<std::string>>{{"validate", "no-such"},
                                                                {"validate", "th1520_cqe", "x"},
                                                                {"validate", "--platform=th1520"},
                                                                {"validate", "--explain"},
                                                                {"validate", "--only=a=b"},
                                                                {"validate", "--output=/"}}) {
    const Outcome o = run(args);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  }
}

TEST_CASE("a change that moves a row out of its band ends in status 1 and one line that names the row") {
  // A tenth of the link: nothing of the report can hold.
  const Outcome o = run(
      {"validate", "th1520_cqe", "-p", "driver.max_clock_hz=20000000", "--output-format=json", "--quiet"});
  CHECK(o.status == 1);
  CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  CHECK(o.err.find("th1520_cqe: cqe off: bandwidth_MB_s (-") != std::string::npos);
  const Json r = Json::parse(o.out);
  REQUIRE(r["rows"].size() == 28);
  CHECK(r["rows"][0]["measured"] == 219);
  CHECK(r["rows"][0]["model"].get<double>() < 60);  // 20 MHz x 8 lines, both edges: 40 MB/s
  CHECK(r["rows"][0]["in_band"] == false);
  CHECK(r["rows"][14]["in_band"].is_null());
  CHECK(r["seeds"][0]["holds"] == false);
}

TEST_CASE("a run that cannot be made is named with its reason, and the table still comes") {
  const Outcome o = run({"validate", "th1520", "-p", "no.such=1", "--quiet"});
  CHECK(o.status == 1);
  CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  CHECK(o.err.find("cqe off: exit status 2") != std::string::npos);
  CHECK(o.out.find("Totals") != std::string::npos);
}
