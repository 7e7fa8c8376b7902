// Analyses on points whose numbers are known in closed form.
#include "platform/scenario_analysis.hpp"

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

constexpr double kKiB = 1024;

/// A setting in closed form: intercept (us), ns per byte of service, DAT and AXI stalls, and the queue poll (us).
struct Form {
  double intercept = 100, slope = 3.7, dat = 3.15, stalls = 0.1, axi = 0, poll = 0;
};

Metrics point(const Form& f, double bytes, double requests = 8) {
  Metrics m;
  m.set("ios", requests);
  m.set("requests", requests);
  m.set("bytes_per_request", bytes);
  m.set("service_us", f.intercept + f.slope * bytes / 1e3);
  m.set("dat_us", f.dat * bytes / 1e3);
  m.set("part.queue_poll_wait", f.poll);
  m.set("part.axi_write", f.axi * bytes / 1e3);
  m.set("stall.waiting_for_b", f.stalls * bytes / 1e3);
  m.set("mmc_bus.cmd13", 3 * requests);
  return m;
}

Scenario study() {
  return parse_scenario(
      "s.toml",
      "workload = \"--name=a\"\n"
      "[[sweep]]\nname = \"setting\"\n[sweep.settings.none]\n[sweep.settings.other]\n"
      "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\", \"64k\", \"512k\"]\n"
      "[analysis]\nkind = \"linear\"\naxis = \"bs\"\nby = \"setting\"\nbaseline = \"none\"\n");
}

AnalysisRow against_baseline(const Form& setting, const Form& baseline = {}) {
  const Scenario s = study();
  std::vector<PointResult> points;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t b = 0; b < 3; ++b)
      points.push_back(
          {{k, b}, point(k == 0 ? baseline : setting, std::vector<double>{4, 64, 512}[b] * kKiB)});
  const AnalysisResult r = analyse(s, s.analyses.at(0), points);
  REQUIRE(r.rows.size() == 2);
  CHECK(r.rows[0].is_baseline);
  CHECK(r.rows[0].labels == AxisLabels{{"setting", "none"}});
  REQUIRE(r.rows[1].decision);
  return r.rows[1];
}

}  // namespace

TEST_CASE("least squares meets the closed form") {
  // Exact points: y = 3 + 2 x.
  const auto exact = fit({0, 1, 5}, {3, 5, 13});
  REQUIRE(exact);
  CHECK(exact->intercept == Approx(3));
  CHECK(exact->slope == Approx(2));
  CHECK(exact->worst == Approx(0).margin(1e-12));
  // (0,0) (1,2) (2,1): means 1 and 1; slope = ((-1)(-1) + 0 + (1)(0)) / 2 = 1/2, intercept = 1/2.
  const auto rough = fit({0, 1, 2}, {0, 2, 1});
  REQUIRE(rough);
  CHECK(rough->slope == Approx(0.5));
  CHECK(rough->intercept == Approx(0.5));
  CHECK(rough->worst == Approx(1.0));  // at x = 1: 2 - (1/2 + 1/2)
  CHECK_FALSE(fit({4, 4}, {1, 2}));
  CHECK_FALSE(fit({4}, {1}));
  CHECK_FALSE(fit({}, {}));
}

TEST_CASE("a longer wait for the queue status is an intercept with an unchanged slope") {
  Form slow;
  slow.intercept = 100 + 4096, slow.poll = 4096;
  const AnalysisRow r = against_baseline(slow);
  CHECK(r.decision->cause == Cause::queue_poll_wait);
  CHECK(r.decision->intercept_change_us == Approx(4096));
  CHECK(r.decision->slope_change_percent == Approx(0).margin(1e-6));
  CHECK(r.fitted->service.intercept == Approx(4196));
  CHECK(r.fitted->service.slope == Approx(3.7));
  CHECK(r.fitted->cmd13_per_request == Approx(3));
  CHECK(r.sentence.find("intercept +4096.00 us (rises), slope +0.0 % (unchanged)") != std::string::npos);
}

TEST_CASE("a link at half speed is a slope with the lines busy all the time") {
  Form half;
  half.slope = 6.4, half.dat = 6.3;
  const AnalysisRow r = against_baseline(half);
  CHECK(r.decision->cause == Cause::link_rate);
  CHECK_FALSE(r.decision->intercept_rises);
  CHECK(r.decision->slope_change_percent == Approx(100 * (6.4 / 3.7 - 1)));
  CHECK(r.fitted->link_use() == Approx(6.3 / 6.4));
}

TEST_CASE("AXI stalls are a slope with the lines idle and the stall counters up") {
  Form stalled;
  stalled.slope = 8, stalled.stalls = 7, stalled.axi = 6;
  const AnalysisRow r = against_baseline(stalled);
  CHECK(r.decision->cause == Cause::axi_stall);
  CHECK(r.fitted->link_use() == Approx(3.15 / 8));
}

TEST_CASE("the decision table") {
  struct Row {
    const char* what;
    Form setting;
    Cause cause;
  };
  const Row rows[] = {
      {"nothing changed", {}, Cause::none},
      {"within the tolerance", {105, 3.9, 3.15, 0.1, 0, 5}, Cause::none},
      {"an intercept the poll does not explain", {500, 3.7, 3.15, 0.1, 0, 100}, Cause::none},
      {"an intercept the poll explains by two thirds", {400, 3.7, 3.15, 0.1, 0, 201}, Cause::queue_poll_wait},
      {"intercept and slope: not the poll alone", {4196, 8, 3.15, 0.1, 0, 4096}, Cause::none},
      {"a slope from elsewhere: lines idle, no stalls", {100, 8, 3.15, 0.1, 0, 0}, Cause::none},
      {"stalls that are in nobody's way", {100, 3.7, 3.15, 3, 0, 0}, Cause::none},
      {"stall counters up, the request's path untouched", {100, 8, 3.15, 7, 0, 0}, Cause::none},
      {"lines busy, but not because they got slower", {100, 4.2, 3.15, 0.1, 0, 0}, Cause::none},
      {"lines slower by less than most of it", {100, 4.7, 3.15 + 0.6, 0.1, 0, 0}, Cause::none},
      {"link and poll: the slope names the link", {4196, 6.4, 6.3, 0.1, 0, 4096}, Cause::link_rate},
      {"faster than the baseline", {50, 2, 1.9, 0.1, 0, 0}, Cause::none},
  };
  for (const Row& r : rows) {
    INFO(r.what);
    const AnalysisRow row = against_baseline(r.setting);
    CHECK(row.decision->cause == r.cause);
    CHECK(row.sentence.rfind(std::string(to_string(r.cause)) + ": intercept ", 0) == 0);
  }
}

TEST_CASE("an I/O of two requests is left out of the line: its requests overlap") {
  const Scenario s = study();
  std::vector<PointResult> points;
  for (std::size_t k = 0; k < 2; ++k) {
    points.push_back({{k, 0}, point({}, 4 * kKiB)});
    points.push_back({{k, 1}, point({}, 64 * kKiB)});
    Form overlapped;
    overlapped.intercept = -900;  // far off the line
    points.push_back({{k, 2}, point(overlapped, 512 * kKiB)});
    points.back().metrics.set("ios", 4);  // of 8 requests
  }
  const AnalysisResult r = analyse(s, s.analyses.at(0), points);
  CHECK(r.rows.at(0).fitted->points == 2);
  CHECK(r.rows.at(0).fitted->service.intercept == Approx(100));
}

TEST_CASE("a point in which the driver saw an error is left out of the line") {
  const Scenario s = study();
  std::vector<PointResult> points;
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t b = 0; b < 3; ++b)
      points.push_back({{k, b}, point({}, std::vector<double>{4, 64, 512}[b] * kKiB)});
  points[3].metrics.set("service_us", 1e7);  // a request that timed out
  points[3].metrics.set("driver_errors", 1);
  const AnalysisResult r = analyse(s, s.analyses.at(0), points);
  CHECK(r.rows.at(1).fitted->points == 2);
  CHECK(r.rows.at(1).decision->cause == Cause::none);
}

TEST_CASE("a setting whose points failed has no line and says so") {
  const Scenario s = study();
  std::vector<PointResult> points;
  for (std::size_t b = 0; b < 3; ++b)
    points.push_back({{0, b}, point({}, std::vector<double>{4, 64, 512}[b] * kKiB)});
  points.push_back({{1, 0}, Metrics{}});
  const AnalysisResult r = analyse(s, s.analyses.at(0), points);
  REQUIRE(r.rows.size() == 2);
  CHECK_FALSE(r.rows[1].fitted);
  CHECK_FALSE(r.rows[1].decision);
  CHECK(r.rows[1].sentence == "too few good points for a line");
}

TEST_CASE("the knee is the smallest depth whose doubling gains less than a tenth") {
  // 100 -> 190 (+90 %) -> 209 (+10 %, not less) -> 229 (+9.6 %): the knee is 4.
  const auto k = knee({{1, 100}, {2, 190}, {4, 209}, {8, 229}}, 10);
  REQUIRE(k);
  CHECK(k->depth == 4);
  CHECK(k->gain_percent == Approx(100.0 * 20 / 209));
  CHECK_FALSE(knee({{1, 100}, {2, 200}, {4, 400}}, 10));
  // Depth 3 has no doubling here and says nothing.
  CHECK(knee({{1, 100}, {2, 200}, {3, 200}, {4, 200}}, 10)->depth == 2);
  CHECK(knee({{1, 100}, {2, 90}}, 10)->depth == 1);
  CHECK_FALSE(knee({}, 10));
}

TEST_CASE("knees are named per curve, by the axis's numbers and not by its order") {
  const Scenario s = parse_scenario("s.toml",
                                    "workload = \"--name=a\"\n"
                                    "[[sweep]]\nkey = \"workload.rw\"\nvalues = [\"read\", \"write\"]\n"
                                    "[[sweep]]\nkey = \"workload.iodepth\"\nvalues = [4, 1, 2]\n"
                                    "[analysis]\nkind = \"knee\"\naxis = \"iodepth\"\n");
  const double iops[2][3] = {{400, 100, 200}, {100, 100, 100}};
  std::vector<PointResult> points;
  for (std::size_t rw = 0; rw < 2; ++rw)
    for (std::size_t d = 0; d < 3; ++d) {
      points.push_back({{rw, d}, {}});
      points.back().metrics.set("iops", iops[rw][d]);
    }
  const AnalysisResult r = analyse(s, s.analyses.at(0), points);
  REQUIRE(r.rows.size() == 2);
  CHECK_FALSE(r.rows[0].knee);
  CHECK(r.rows[0].sentence == "no knee up to iodepth 4: every doubling gains 10 % iops or more");
  REQUIRE(r.rows[1].knee);
  CHECK(r.rows[1].knee->depth == 1);
}

TEST_CASE("a difference is taken from the point that shares every other label") {
  const Scenario s = parse_scenario(
      "s.toml",
      "workload = \"--name=a\"\n"
      "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\", \"8k\"]\n"
      "[[sweep]]\nkey = \"driver.split_128m\"\nname = \"split\"\nvalues = [true, false]\n"
      "[analysis]\nkind = \"compare\"\nbaseline = { split = false }\nmetric = \"service_us\"\n");
  const double us[2][2] = {{12, 10}, {25, 20}};
  std::vector<PointResult> points;
  for (std::size_t b = 0; b < 2; ++b)
    for (std::size_t k = 0; k < 2; ++k) {
      points.push_back({{b, k}, {}});
      points.back().metrics.set("service_us", us[b][k]);
    }
  compare(s, s.analyses.at(0), points);
  CHECK(points[0].metrics.get("delta.service_us") == 2);
  CHECK(points[1].metrics.get("delta.service_us") == 0);
  CHECK(points[2].metrics.get("delta.service_us") == 5);
}

TEST_CASE("a count per request divides, and a command never sent was sent 0 times") {
  Metrics m;
  CHECK_FALSE(m.get("mmc_bus.cmd46"));
  m.set("requests", 4);
  m.set("sdhci.interrupts", 6);
  CHECK(m.get("sdhci.interrupts/request") == 1.5);
  CHECK(m.get("mmc_bus.cmd46/request") == 0.0);
  CHECK_FALSE(m.get("nonsense"));
}
