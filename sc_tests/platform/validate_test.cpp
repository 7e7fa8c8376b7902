// The measured tables and what is made of them. The published tables stand here a second time, as they were printed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "platform/leave_one_out.hpp"
#include "platform/run_validate.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

const char* const kTh1520 =
    R"(cqe,bandwidth_MB_s,iops,clat_mean_us,clat_stdev_us,clat_min_us,clat_max_us,p50_us,p99_us,p99_95_us,disk_ios,disk_ticks_ms,runtime_ms,usr_percent,sys_percent
off,219,208.56,4778.37,238.26,3882,11557,4752,5473,6915,8181,25682,19652,0.38,13.04
on,87.4,83.22,11981.37,61.89,11885,14840,11994,12125,12387,8181,69682,49154,0.00,5.44
)";
const char* const kIdmac = R"(page_KiB,max_seg_KiB,max_req_KiB,ring_KiB,MB_s
4,4,512,4,94.2
4,512,512,4,96.9
16,4,2048,16,126
16,2048,2048,16,128
64,4,8192,64,138
64,8192,8192,64,138
4,512,512,4,97
4,2048,2048,16,98
4,8192,8192,64,97
16,512,512,4,123
16,2048,2048,16,125
16,8192,8192,64,124
64,512,512,4,137
64,2048,2048,16,135
64,8192,8192,64,138
)";
const char* const kOmap = R"(kernel,max_segs,max_transfer_KiB,seconds_per_100MB,interrupts_per_100MB,MB_s
4.13,1024,1024,22,457,
4.14,64,256,28,2122,
4.14,64,256,,2000,3.7
4.14 reverted,1024,1024,,500,4.6
)";
const char* const kReadahead = R"(board,read_ahead_KiB,bytes,seconds,MB_s
A (MediaTek SD reader path),128,2296521564,37.124446,59
A (MediaTek SD reader path),1024,2296521564,28.956049,76
B (dwcmshc eMMC HS400ES 200 MHz KLMBG2JETDB041),128,1048576000,3.912249,256
B (dwcmshc eMMC HS400ES 200 MHz KLMBG2JETDB041),1024,1048576000,4.436271,225
)";
const char* const kIozone = R"(threads,record,test,legacy_kB_s,swcmdq_kB_s,change_percent
1,4k,initial writers,27909.87,24204.14,-13.28
1,4k,rewriters,28839.28,25531.92,-11.47
1,4k,readers,25889.65,24883.23,-3.89
1,4k,re-readers,25558.23,24679.89,-3.44
1,4k,random readers,25571.48,24689.52,-3.45
1,4k,mixed workload,25758.59,24487.52,-4.93
1,4k,random writers,24787.51,19368.99,-21.86
1,32k,initial writers,91344.61,102008.56,11.67
1,32k,rewriters,87932.36,96630.44,9.89
1,32k,readers,134879.82,110292.79,-18.23
1,32k,re-readers,147632.13,109053.33,-26.13
1,32k,random readers,93547.37,112225.50,19.97
1,32k,mixed workload,93560.04,110515.21,18.12
1,32k,random writers,92841.84,81153.81,-12.59
2,4k,initial writers,31145.43,33771.25,8.43
2,4k,rewriters,30592.57,35916.46,17.40
2,4k,readers,31669.83,37460.13,18.28
2,4k,re-readers,32079.94,37373.33,16.50
2,4k,random readers,27731.19,37601.65,35.59
2,4k,mixed workload,13927.50,14617.06,4.95
2,4k,random writers,31250.00,33106.72,5.94
2,32k,initial writers,123255.84,131252.22,6.49
2,32k,rewriters,115234.91,107225.74,-6.95
2,32k,readers,128921.86,148562.71,15.23
2,32k,re-readers,127815.24,149304.32,16.81
2,32k,random readers,125600.46,148406.56,18.16
2,32k,mixed workload,44006.94,50937.36,15.75
2,32k,random writers,120623.95,103969.05,-13.81
4,4k,initial writers,24100.96,33336.58,38.32
4,4k,rewriters,31650.20,33091.53,4.55
4,4k,readers,33276.92,41799.89,25.61
4,4k,re-readers,31786.96,41501.74,30.56
4,4k,random readers,31991.65,40973.93,28.08
4,4k,mixed workload,15804.80,13581.32,-14.07
4,4k,random writers,31231.42,34537.03,10.58
4,32k,initial writers,116567.42,119280.35,2.33
4,32k,rewriters,115010.96,120864.34,5.09
4,32k,readers,130700.29,177834.21,36.06
4,32k,re-readers,125392.58,175975.28,40.34
4,32k,random readers,132194.57,176630.46,33.61
4,32k,mixed workload,56464.98,54140.61,-4.12
4,32k,random writers,109128.36,85359.80,-21.78
)";

using Record = std::map<std::string, std::string>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  for (const char c : line) {
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

std::vector<Record> records(const char* text) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const auto names = cells(line);
  std::vector<Record> out;
  while (std::getline(in, line)) {
    const auto values = cells(line);
    REQUIRE(values.size() == names.size());
    Record r;
    for (std::size_t i = 0; i < names.size(); ++i) r[names[i]] = values[i];
    out.push_back(r);
  }
  return out;
}

MeasuredSeed embedded(const std::string& name) {
  return choose_seeds(load_measured(ConfigSource::embedded()), name).at(0);
}

std::string line_of(const MeasuredRun& run) {
  std::string out;
  for (const std::string& w : run.command) out += w + " ";
  return out;
}

/// How many rows of runs whose command has all `words` hold `metric` = `text`.
int found(const MeasuredSeed& seed, const std::vector<std::string>& words, const std::string& metric,
          const std::string& text) {
  int n = 0;
  for (const MeasuredRun& run : seed.runs) {
    bool all = true;
    for (const std::string& w : words) all = all && line_of(run).find(w + " ") != std::string::npos;
    for (const MeasuredRow& row : run.rows)
      n += all && row.metric == metric && row.measured == std::stod(text);
  }
  return n;
}

std::size_t rows_of(const MeasuredSeed& seed) {
  std::size_t n = 0;
  for (const MeasuredRun& run : seed.runs) n += run.rows.size();
  return n;
}

/// Two runs of two rows; the second run stands against the first.
MeasuredSeed small_seed(const std::string& criteria = "") {
  return parse_measured(
      "platform/measured/small.toml",
      "description = \"small\"\nkind = \"predicted\"\n" + criteria +
          "[[run]]\nlabel = \"a\"\ncommand = \"dd -p k=1 -- if=x\"\nrows = [\n"
          "{ metric = \"dd_seconds\", measured = 10, kind = \"fitted\", band_percent = 5 },\n"
          "{ metric = \"dd_MB_s\", measured = 200, band_percent = 5 },\n]\n"
          "[[run]]\nlabel = \"b\"\nagainst = \"a\"\ncommand = \"dd -p k=2 -- if=x\"\nrows = [\n"
          "{ metric = \"dd_seconds\", measured = 12 },\n"
          "{ metric = \"dd_MB_s\", measured = 160, band_percent = 2 },\n]\n");
}

SeedResult result_of(const MeasuredSeed& seed, const std::vector<std::optional<double>>& models) {
  SeedResult r;
  r.seed = &seed;
  std::size_t i = 0;
  for (const MeasuredRun& run : seed.runs)
    for (const MeasuredRow& row : run.rows) r.rows.push_back({&run, &row, models.at(i++), std::nullopt});
  judge(r);
  return r;
}

std::string error_of(const std::string& text) {
  try {
    parse_measured("m.toml", text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

const std::string kHead = "description = \"d\"\n[[run]]\nlabel = \"a\"\n";

}  // namespace

TEST_CASE("the TH1520 report stands in the measured rows, each of its figures once") {
  const MeasuredSeed seed = embedded("th1520_cqe");
  const std::pair<const char*, const char*> kColumns[] = {{"bandwidth_MB_s", "bandwidth_MB_s"},
                                                          {"iops", "iops"},
                                                          {"clat_mean_us", "clat_mean_us"},
                                                          {"clat_stdev_us", "clat_stdev_us"},
                                                          {"clat_min_us", "clat_min_us"},
                                                          {"clat_max_us", "clat_max_us"},
                                                          {"p50_us", "clat_p50_us"},
                                                          {"p99_us", "clat_p99_us"},
                                                          {"p99_95_us", "clat_p99_95_us"},
                                                          {"disk_ios", "disk_ios"},
                                                          {"disk_ticks_ms", "disk_ticks_ms"},
                                                          {"runtime_ms", "runtime_ms"},
                                                          {"usr_percent", "usr_percent"},
                                                          {"sys_percent", "sys_percent"}};
  for (const Record& r : records(kTh1520))
    for (const auto& [column, metric] : kColumns)
      CHECK(found(seed, {"--cqe=" + r.at("cqe"), "--size=4G", "--bs=1M"}, metric, r.at(column)) == 1);
  CHECK(rows_of(seed) == 2 * 14);
  // Without queueing 5 %; with it nothing is judged and nothing fitted: its cause was never published.
  for (const MeasuredRow& row : seed.runs.at(1).rows) {
    CHECK_FALSE(row.band_percent);
    CHECK_FALSE(row.fitted);
  }
  for (const MeasuredRow& row : seed.runs.at(0).rows)
    if (row.band_percent) CHECK(*row.band_percent == 5);
}

TEST_CASE("the IDMAC report stands in the measured rows, each page, segment and ring once") {
  const MeasuredSeed seed = embedded("idmac_page_size");
  const auto bytes = [](const std::string& kib) { return std::to_string(std::stoul(kib) * 1024); };
  const std::vector<Record> all = records(kIdmac);
  for (const Record& r :
       all)  // the report's two tables share three set-ups, one of them with the same figure
    CHECK(found(seed,
                {"driver.page_bytes=" + bytes(r.at("page_KiB")),
                 "dwmmc.max_seg_size=" + bytes(r.at("max_seg_KiB")),
                 "dwmmc.ring_bytes=" + bytes(r.at("ring_KiB")), "count=500", "oflag=sync"},
                "dd_MB_s", r.at("MB_s")) == std::count(all.begin(), all.end(), r));
  CHECK(rows_of(seed) == 15);
  for (const MeasuredRun& run : seed.runs) CHECK(run.rows.at(0).band_percent == 4.0);
}

TEST_CASE("the OMAP report stands in the measured rows, each time, rate and interrupt count once") {
  const MeasuredSeed seed = embedded("omap_max_segs");
  for (const Record& r : records(kOmap)) {
    const std::vector<std::string> words = {"hsmmc.max_segs=" + r.at("max_segs"), "bs=1M", "count=100"};
    if (!r.at("seconds_per_100MB").empty())
      CHECK(found(seed, words, "dd_seconds", r.at("seconds_per_100MB")) == 1);
    if (!r.at("MB_s").empty()) CHECK(found(seed, words, "dd_MB_s", r.at("MB_s")) == 1);
    CHECK(found(seed, words, "host_interrupts", r.at("interrupts_per_100MB")) == 1);
  }
  CHECK(rows_of(seed) == 4 + 4);
  for (const MeasuredRun& run : seed.runs)
    for (const MeasuredRow& row : run.rows) {
      CHECK(row.band_percent == 10.0);
      CHECK(row.fitted == (row.metric != "host_interrupts"));  // interrupts are consequences
    }
}

TEST_CASE("the read-ahead report stands in the measured rows, each board and window once") {
  const MeasuredSeed seed = embedded("readahead");
  for (const Record& r : records(kReadahead))
    CHECK(found(seed, {"os.file_bytes=" + r.at("bytes"), "os.read_ahead_kib=" + r.at("read_ahead_KiB")},
                "dd_seconds", r.at("seconds")) == 1);
  CHECK(rows_of(seed) == 4);
  CHECK(seed.criteria.sign_agreement_percent == 100.0);
  for (const MeasuredRun& run : seed.runs) CHECK(run.rows.at(0).band_percent == 8.0);
}

TEST_CASE(
    "the iozone report stands in the measured rows, both columns of its 42 rows, and its changes follow") {
  const MeasuredSeed seed = embedded("iozone_swcmdq");
  for (const Record& r : records(kIozone)) {
    const std::vector<std::string> words = {"-s 8192k", "-r " + r.at("record"), "-t " + r.at("threads")};
    auto none = words, software = words;
    none.push_back("--queue=none");
    software.push_back("--queue=software");
    CHECK(found(seed, none, r.at("test"), r.at("legacy_kB_s")) == 1);
    CHECK(found(seed, software, r.at("test"), r.at("swcmdq_kB_s")) == 1);
  }
  CHECK(rows_of(seed) == 2 * 42);
  CHECK(seed.runs.size() == 12);
  // A perfect model: the changes of the table above 12 % are considered and agree.
  std::size_t above = 0;
  for (const Record& r : records(kIozone)) above += std::abs(std::stod(r.at("change_percent"))) > 12;
  SeedResult perfect;
  perfect.seed = &seed;
  for (const MeasuredRun& run : seed.runs)
    for (const MeasuredRow& row : run.rows) perfect.rows.push_back({&run, &row, row.measured, std::nullopt});
  judge(perfect);
  CHECK(perfect.signs.considered == above);
  CHECK(perfect.signs.agreeing == above);
  CHECK(perfect.misses.empty());
  CHECK(perfect.all.worst == 0);
}

TEST_CASE(
    "a preset with parameters fitted to a seed makes that seed have fitted rows, and the other way round") {
  const ConfigSource source = ConfigSource::embedded();
  for (const MeasuredSeed& seed : load_measured(source)) {
    bool fitted_rows = false, fitted_values = false, all_there = true;
    for (const MeasuredRun& run : seed.runs) {
      for (const MeasuredRow& row : run.rows) fitted_rows = fitted_rows || row.fitted;
      const std::string line = line_of(run);
      const auto at = line.find("--platform=") + 11;
      const std::string preset = "platform/presets/" + line.substr(at, line.find(' ', at) - at) + ".toml";
      bool there = false;
      for (const ConfigSource::File& f : source.files) {
        if (f.name != preset) continue;
        there = true;
        std::istringstream in{std::string(f.text)};
        for (std::string l; std::getline(in, l);)
          fitted_values = fitted_values || (l.find("kind = \"fitted\"") != std::string::npos &&
                                            l.find("source = \"" + seed.name) != std::string::npos);
      }
      all_there = all_there && there;
    }
    INFO(seed.name);
    if (all_there) CHECK(fitted_rows == fitted_values);
  }
}

TEST_CASE("the median is the middle error, or the mean of the two middle ones") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({8, 1, 3, 5}) == (3 + 5) / 2.0);
}

TEST_CASE("errors, bands and totals follow from measured and model") {
  const MeasuredSeed seed = small_seed();
  // 10.4/10: +4 %; 212/200: +6 %; 12/12: 0; 152/160: -5 %.
  const SeedResult r = result_of(seed, {10.4, 212.0, 12.0, 152.0});
  CHECK(*r.rows[0].error_percent() == Approx(4));
  CHECK(*r.rows[1].error_percent() == Approx(6));
  CHECK(*r.rows[3].error_percent() == Approx(-5));
  CHECK(*r.rows[0].in_band());
  CHECK_FALSE(*r.rows[1].in_band());
  CHECK_FALSE(r.rows[2].in_band());  // no band: not judged
  CHECK(r.all.rows == 4);
  CHECK(r.all.median == Approx((4 + 5) / 2.0));
  CHECK(r.all.worst == Approx(6));
  CHECK(r.all.worst_row == "a: dd_MB_s");
  CHECK(r.fitted.rows == 1);
  CHECK(r.fitted.median == Approx(4));
  CHECK(r.predicted.rows == 3);
  CHECK(r.predicted.median == Approx(5));
  CHECK(r.banded == 3);
  CHECK(r.in_band == 1);
  REQUIRE(r.misses.size() == 2);
  CHECK(r.misses[0] == "a: dd_MB_s (+6.0 %, band 5 %)");
  CHECK(r.misses[1] == "b: dd_MB_s (-5.0 %, band 2 %)");
}

TEST_CASE("a row whose run gave nothing is outside its band, and a measured 0 has no error") {
  const MeasuredSeed seed = small_seed();
  const SeedResult r = result_of(seed, {std::nullopt, 200.0, 12.0, 160.0});
  CHECK_FALSE(*r.rows[0].in_band());
  REQUIRE(r.misses.size() == 1);
  CHECK(r.misses[0] == "a: dd_seconds (no result)");
  CHECK(r.all.rows == 3);
  const MeasuredSeed zero =
      parse_measured("m.toml", kHead +
                                   "command = \"fio --\"\nrows = [{ metric = \"usr_percent\", measured = "
                                   "0.00, kind = \"predicted\" }]\n");
  CHECK_FALSE(result_of(zero, {0.3}).rows[0].error_percent());
}

TEST_CASE("the sign of a change is judged where the measured change exceeds the limit") {
  // Measured: 12/10 is +20 %, 160/200 is -20 %. The model: +10 % and +5 %.
  const MeasuredSeed seed = small_seed(
      "[criteria]\nmedian_error_percent = 3\nsign_agreement_percent = 90\nchange_above_percent = 12\n");
  const SeedResult r = result_of(seed, {10.0, 200.0, 11.0, 210.0});
  CHECK(r.signs.considered == 2);
  CHECK(r.signs.agreeing == 1);
  CHECK(r.signs.percent() == 50);
  REQUIRE(r.signs.wrong.size() == 1);
  CHECK(r.signs.wrong[0] == "b: dd_MB_s (-20.0 % measured, +5.0 % model)");
  // Errors 0, 0, -8.3, +31.25: the median is 4.17.
  CHECK(r.misses.at(1) == "median absolute error 4.2 %, limit 3 %");
  CHECK(r.misses.at(2) == "sign of the change right in 1 of 2 rows, limit 90 %");
  const MeasuredSeed lax =
      small_seed("[criteria]\nsign_agreement_percent = 90\nchange_above_percent = 20.5\n");
  CHECK(result_of(lax, {10.0, 200.0, 11.0, 210.0}).signs.considered == 0);
  CHECK(result_of(small_seed("[criteria]\nchange_above_percent = 12\n"), {10.0, 200.0, 10.0, 190.0})
            .signs.agreeing == 1);
}

TEST_CASE("the table as text names unit, kind, error and band of each row, and the totals") {
  const MeasuredSeed seed = small_seed("[criteria]\nchange_above_percent = 12\n");
  const std::string text = validation_text({result_of(seed, {10.4, 212.0, 12.0, std::nullopt})});
  const auto line = [&](const std::string& begin) {
    std::istringstream in(text);
    for (std::string l; std::getline(in, l);)
      if (l.rfind(begin, 0) == 0) return l;
    return std::string();
  };
  const auto words = [&](const std::string& begin) {
    std::istringstream in(line(begin));
    std::string out;
    for (std::string w; in >> w;) out += (out.empty() ? "" : " ") + w;
    return out;
  };
  CHECK(words("a: dd_seconds") == "a: dd_seconds s fitted 10 10.40 +4.0 5 % in");
  CHECK(words("a: dd_MB_s") == "a: dd_MB_s MB/s predicted 200 212 +6.0 5 % OUTSIDE");
  CHECK(words("b: dd_seconds") == "b: dd_seconds s predicted 12 12 +0.0 -");
  CHECK(words("b: dd_MB_s") == "b: dd_MB_s MB/s predicted 160 - - 2 % OUTSIDE");
  // Of 0, 4, 6: fitted 4, predicted (0 + 6) / 2. One sign of two: b's rate is unknown.
  CHECK(words("small  ") == "small 4 4.0 4.0 3.0 6.0 1 of 3 1 of 2 NO");
}

TEST_CASE("the table as JSON has the contract's keys in every row") {
  const MeasuredSeed seed = small_seed();
  const Json j = validation_json({result_of(seed, {10.4, 212.0, 12.0, std::nullopt})},
                                 [](const MeasuredRun& run) { return run.command.front(); });
  REQUIRE(j["rows"].size() == 4);
  for (const Json& row : j["rows"])
    for (const char* key : {"seed", "row", "measured", "model", "error_percent", "kind"})
      CHECK(row.contains(key));
  CHECK(j["rows"][0]["seed"] == "small");
  CHECK(j["rows"][0]["row"] == "a: dd_seconds");
  CHECK(j["rows"][0]["kind"] == "fitted");
  CHECK(j["rows"][0]["error_percent"].get<double>() == Approx(4));
  CHECK(j["rows"][0]["in_band"] == true);
  CHECK(j["rows"][0]["command"] == "dd");
  CHECK(j["rows"][2]["in_band"].is_null());
  CHECK(j["rows"][3]["model"].is_null());
  CHECK(j["rows"][3]["error_percent"].is_null());
  CHECK(j["seeds"][0]["holds"] == false);
  CHECK(j["seeds"][0]["all"]["worst_error_percent"].get<double>() == Approx(6));
}

TEST_CASE("a metric is taken from the front end's own report, in its unit") {
  Json report;
  report["jobs"][0]["read"]["bw_bytes"] = 219000000;
  report["jobs"][0]["read"]["clat_ns"]["percentile"]["99.950000"] = 6915000;
  report["dd"]["bytes_per_second"] = 97e6;
  report["emmc-vp"]["counters"]["run.host_interrupts"] = 457;
  report["iozone"]["tests"] = {{{"name", "readers"}, {"children_kB_s", 25000.5}}};
  CHECK(*metric_value("bandwidth_MB_s", report) == Approx(219));
  CHECK(*metric_value("clat_p99_95_us", report) == Approx(6915));
  CHECK(*metric_value("dd_MB_s", report) == Approx(97));
  CHECK(*metric_value("host_interrupts", report) == 457);
  CHECK(*metric_value("readers", report) == Approx(25000.5));
  CHECK_FALSE(metric_value("rewriters", report));
  CHECK_FALSE(metric_value("dd_seconds", report));
  CHECK(metric_unit("readers") == "kB/s");
}

TEST_CASE("a run is its command in lt, with what the user adds after its own parameters") {
  const MeasuredSeed seed = small_seed();
  using Words = std::vector<std::string>;
  CHECK(validate_arguments(seed.runs[0], parse_options({"validate"})) ==
        Words{"dd", "-p", "k=1", "--timing=lt", "--output-format=json", "--quiet", "--", "if=x"});
  CHECK(
      validate_arguments(seed.runs[0], parse_options({"validate", "small", "--timing=at", "-p", "k=3"})) ==
      Words{"dd", "-p", "k=1", "--timing=at", "-p", "k=3", "--output-format=json", "--quiet", "--", "if=x"});
}

TEST_CASE("a wrong measured file says file, line, what and how to mend it") {
  CHECK(error_of("description = \"d\"\nspeed = 1\n").find("m.toml:2: speed: unknown key") == 0);
  CHECK(error_of(kHead).find("command: missing") != std::string::npos);
  CHECK(
      error_of(kHead + "command = \"fio\"\nrows = [{ metric = \"iops\", measured = 1, kind = \"fitted\" }]\n")
          .find("m.toml:4: command: has no `--`") == 0);
  CHECK(error_of(kHead +
                 "command = \"fio --\"\nrows = [{ metric = \"iop\", measured = 1, kind = \"fitted\" }]\n") ==
        "m.toml:5: metric: 'iop' is unknown: did you mean 'iops'?");
  CHECK(error_of(kHead + "command = \"fio --\"\nrows = [{ metric = \"iops\", measured = 1 }]\n")
            .find("kind: missing") != std::string::npos);
  CHECK(error_of(kHead +
                 "command = \"fio --\"\nrows = [{ metric = \"iops\", measured = -1, kind = \"fitted\" }]\n")
            .find("measured: must be a number") != std::string::npos);
  CHECK(error_of(kHead + "against = \"z\"\ncommand = \"fio --\"\nrows = []\n").find("names no run above") !=
        std::string::npos);
}

TEST_CASE("a seed is named whole or by a beginning that is its alone") {
  const auto seeds = load_measured(ConfigSource::embedded());
  CHECK(choose_seeds(seeds, "").size() == 5);
  CHECK(choose_seeds(seeds, "th1520").at(0).name == "th1520_cqe");
  CHECK_THROWS_AS(choose_seeds(seeds, "i"), InputError);  // idmac and iozone
  try {
    choose_seeds(seeds, "omap_max_seg5");
    FAIL("taken");
  } catch (const InputError& e) {
    CHECK(std::string(e.what()).find(
              "emmc-vp validate: unknown seed 'omap_max_seg5': did you mean 'omap_max_segs'?") == 0);
  }
}

// One parameter that moves every row alike: the fit to the others is their median.
TEST_CASE("leave one out: a row is held against the median of the others when one parameter moves all") {
  const std::vector<double> residuals = {0.0, 0.1, 0.3, 0.7};
  const std::vector<std::vector<double>> alike(4, {1.0});
  const std::vector<double> left = leave_one_out(residuals, alike);
  const double medians[] = {0.3, 0.3, 0.1, 0.1};
  REQUIRE(left.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(left[i] == Approx(residuals[i] - medians[i]).margin(1e-3));
}

TEST_CASE("leave one out: what the parameters explain leaves no error, and a row nothing else tells of keeps its own") {
  // Rows 0 to 3: 0.2 of the first parameter and -0.1 of the second explain them. Row 4 alone depends on the third; row 5
  // is off by 0.5 and would pull a fit by least squares.
  const std::vector<std::vector<double>> s = {{1, 0, 0}, {1, 1, 0}, {2, 1, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
  const std::vector<double> residuals = {0.2, 0.1, 0.3, -0.1, 0.4, 0.2 + 0.5};
  const std::vector<double> left = leave_one_out(residuals, s);
  const double expected[] = {0, 0, 0, 0, 0.4, 0.5};
  for (std::size_t i = 0; i < 6; ++i) {
    INFO("row " << i);
    CHECK(left[i] == Approx(expected[i]).margin(1e-3));
  }
}
