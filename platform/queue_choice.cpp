#include "platform/queue_choice.hpp"

#include <fmt/format.h>

namespace vp {
namespace {

constexpr unsigned kLeastDepth = 3;  // Linux takes a queue of two tasks or fewer for a card's mistake

std::string wanted(const Options& options, const DriverParams& d) {
  if (options.queue) return *options.queue;
  if (options.cqe) return *options.cqe ? "cqe" : "none";
  return d.queue == "none" && d.cqe ? "cqe" : d.queue;
}

}  // namespace

void choose_queue(const Options& options, PlatformConfig& config) {
  DriverParams& d = config.driver;
  d.queue = wanted(options, d);
  d.cqe = d.queue == "cqe";
  if (d.queue != "none" && config.host != "sdhci")
    throw InputError(fmt::format(
        "emmc-vp: --queue={}: the driver of this platform's host ({}) sends one command at a time "
        "(platform.host): use --queue=none",
        d.queue, config.host));
  if (d.cqe && !config.cqe_present)
    throw InputError(
        fmt::format("emmc-vp: --{}: this platform's host has no command queue engine (cqhci.present): use "
                    "--queue=software, hsq or none",
                    options.queue ? "queue=cqe" : "cqe=on"));
}

void check_queue(const PlatformConfig& config, unsigned depth) {
  const std::string& queue = config.driver.queue;
  if (queue != "cqe" && queue != "software") return;
  if (depth >= kLeastDepth) return;
  throw InputError(
      fmt::format("emmc-vp: --queue={}: the device ({}) has no command queue (EXT_CSD 308 CMDQ_SUPPORT, 307 "
                  "CMDQ_DEPTH): use --queue=none or hsq",
                  queue, config.card == "emmc" ? config.emmc.ext_csd : "an SD card"));
}

}  // namespace vp
