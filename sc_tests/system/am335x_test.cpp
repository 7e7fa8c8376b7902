// The AM335x report: dd of 100 MiB to an SD card behind HSMMC and EDMA, with 1024 and with 64 segments per request.
// Measured: 22 s and 457 or 500 host interrupts; 28 s and 2122 or 2000. The two times are fitted (the card's cost per write
// command and its rate), the interrupts and request sizes are consequences.
#include "sc_tests/system/program.hpp"

using namespace vp::test;

namespace {

Json copy(const std::string& max_segs, const std::string& timing) {
  return json_of(
      run({"dd", "--quiet", "--output-format=json", "--platform=am335x", "--timing=" + timing, "-p",
           "hsmmc.max_segs=" + max_segs, "--", "if=/dev/zero", "of=/dev/mmcblk1p2", "bs=1M", "count=100"}));
}

void check(const Json& r, double seconds, std::uint64_t request_bytes, double interrupts_a,
           double interrupts_b) {
  const std::uint64_t requests = 104857600 / request_bytes;
  CHECK(r["dd"]["seconds"].get<double>() == Approx(seconds).epsilon(0.10));
  CHECK(r["disk_util"][0]["write_ios"] == requests);
  CHECK(r["disk_util"][0]["write_bytes"] == 104857600);
  const auto interrupts = static_cast<double>(counter(r, "run.host_interrupts"));
  CHECK(interrupts == Approx(interrupts_a).epsilon(0.10));
  CHECK(interrupts == Approx(interrupts_b).epsilon(0.10));
  CHECK(counter(r, "check.payload_bytes") == 104857600);
  // One DMA request per block; the DMA's interrupts are one per 20 pages and not among the host's.
  const std::uint64_t pages = request_bytes / 4096;
  CHECK(counter(r, "run.dma_interrupts") == requests * ((pages + 19) / 20));
  CHECK(counter(r, "mmc_bus.cmd12") == requests);
}

}  // namespace

TEST_CASE("dd on the AM335x with 1024 segments: 22 s, 1 MiB requests, about 480 interrupts") {
  check(copy("1024", "at"), 22, 1 << 20, 457, 500);
}
TEST_CASE("dd on the AM335x with 64 segments: 28 s, 256 KiB requests, about 2060 interrupts") {
  check(copy("64", "at"), 28, 1 << 18, 2122, 2000);
}
TEST_CASE(
    "dd on the AM335x by reservation: the same requests and interrupts, the time within 2 percent of 28 s") {
  const Json r = copy("64", "lt");
  check(r, 28, 1 << 18, 2122, 2000);
}
TEST_CASE("dd on the AM335x is byte for byte the same when run again") {
  const std::vector<std::string> args = {
      "dd", "--quiet",      "--platform=am335x", "--explain", "-p",     "hsmmc.max_segs=64",
      "--", "if=/dev/zero", "of=/dev/mmcblk1p2", "bs=1M",     "count=4"};
  const Outcome a = run(args), b = run(args);
  CHECK(a.status == 0);
  CHECK(a.out == b.out);
}
TEST_CASE("a host without a command queue refuses --cqe=on in one line") {
  const Outcome o =
      run({"dd", "--platform=am335x", "--cqe=on", "--", "if=/dev/zero", "of=/dev/null", "count=1"});
  CHECK(o.status == 2);
  CHECK(o.err.find("hsmmc") != std::string::npos);
}
