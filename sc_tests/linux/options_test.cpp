#include "platform/options.hpp"

#include "platform/linux/guest_platform.hpp"
#include "platform/linux/guest_process.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;
using namespace vp::guest;

TEST_CASE("the linux command takes its own options and the guest's command line") {
  const Options o =
      parse_options({"linux", "--platform=th1520", "--queue=cqe", "--kernel=/k", "--", "fio", "--rw=read"});
  CHECK(o.command == Command::linux_guest);
  CHECK(o.queue == "cqe");
  CHECK(o.kernel == "/k");
  CHECK(o.rest == std::vector<std::string>{"fio", "--rw=read"});
  CHECK_FALSE(parse_options({"linux", "--kernel=/k"}).queue);
  CHECK_THROWS_WITH(parse_options({"fio", "--kernel=/k", "--", "--rw=read"}),
                    Catch::Contains("belongs to emmc-vp linux"));
  CHECK_THROWS_AS(parse_options({"linux", "--queue=hsq", "--kernel=/k"}), InputError);
  CHECK_THROWS_WITH(parse_options({"linux", "--queue=cq"}), Catch::Contains("did you mean 'cqe'"));
}

TEST_CASE("the function the guest sees follows the host, the queue and the card") {
  PlatformConfig sdhci, dwmmc, hsmmc, sd;
  dwmmc.host = "dwmmc";
  hsmmc.host = "hsmmc";
  sd.card = "sd";
  const GuestParams automatic;
  GuestParams generic;
  generic.identity = "generic";
  CHECK(choose_identity(automatic, sdhci, true).queue_at == kCqhciOffset);
  CHECK(choose_identity(automatic, sdhci, false).queue_at == 0);
  CHECK(choose_identity(automatic, sdhci, false).name == "gl9763e");
  CHECK(choose_identity(automatic, sd, false).name == "generic");
  CHECK(choose_identity(automatic, dwmmc, false).name == "dw_mmc");
  CHECK_THROWS_AS(choose_identity(automatic, dwmmc, true), InputError);
  CHECK_THROWS_AS(choose_identity(automatic, hsmmc, false), InputError);
  CHECK_THROWS_AS(choose_identity(generic, sdhci, true), InputError);
  sdhci.cqe_present = false;
  CHECK_THROWS_AS(choose_identity(automatic, sdhci, true), InputError);
}

TEST_CASE("only what the function's integration fixes is set in the models") {
  PlatformConfig c, untouched;
  fit_to_identity(c, sdhci_generic());
  CHECK(c.sdhci.vendor2_pointer == untouched.sdhci.vendor2_pointer);
  fit_to_identity(c, sdhci_gl9763e(true));
  CHECK(c.sdhci.vendor2_pointer == kCqhciOffset);
  CHECK((c.sdhci.emmc_ctrl_reset & 1) == 1);
  CHECK(c.sdhci.capabilities1 == untouched.sdhci.capabilities1);
  PlatformConfig d;
  fit_to_identity(d, dw_mmc());
  CHECK(d.dwmmc.ciu_clock_hz == 33e6);  // dw_mmc-pci: bus_hz, fifo_depth
  CHECK(d.dwmmc.fifo_depth == 32);
}

TEST_CASE("a word with quotes reaches the guest's shell as it was") {
  CHECK(shell_word("a b") == "'a b'");
  CHECK(shell_word("it's") == "'it'\\''s'");
}
