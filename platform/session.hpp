// What a front end needs of a platform, and nothing more: parameters in, a job table to fill, a run, numbers
// out. The builder implements it with SystemC modules; tests of the front ends implement it with a few lines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "firmware/app/job_table.hpp"
#include "models/core/context.hpp"
#include "models/core/params.hpp"
#include "models/cpu/cpu.hpp"
#include "platform/options.hpp"

namespace vp {

/// Cycles a bus master lost to one cause, over the run.
struct StallRow {
  std::string master;  ///< "sdhci.dma"
  std::string cause;   ///< "no grant", "outstanding limit", "first beat" …
  std::uint64_t cycles = 0;
  std::uint64_t ps = 0;
};

/// How busy a resource was, over the time from the end of card set-up to the end of the run.
struct UtilisationRow {
  std::string name;  ///< "DAT", "AXI R", "NAND die 0" …
  double percent = 0;
};

struct CounterRow {
  std::string name;  ///< "sdhci.descriptors_fetched"
  std::uint64_t value = 0;
};

struct CpuUsage {
  double user_ns = 0, system_ns = 0;
  std::uint64_t context_switches = 0;
};

/// Lifetime: declare, (parameters are set), build, (job table is filled), run, numbers. One per process.
class Machine {
 public:
  virtual ~Machine() = default;

  /// Declares every parameter of the platform with its default.
  virtual void declare(ParamRegistry& registry) = 0;
  /// Makes the modules from the final parameters and options (timing, cpu, cqe, image, seed), and fills the
  /// machine part of the job table. Throws InputError (EXT_CSD dump, image larger than the device …).
  virtual void build(const Options& options) = 0;
  virtual Context& context() = 0;
  /// In simulated memory; valid from build() to the end.
  virtual fw::JobTable& job_table() = 0;
  virtual std::uint64_t device_bytes() const = 0;
  /// I/Os one job may keep in flight.
  virtual unsigned max_iodepth() const = 0;
  virtual void set_observer(CpuObserver* observer) = 0;

  /// Runs until the CPU has halted and returns.
  virtual void run() = 0;

  virtual sc_time now() const = 0;
  /// What the firmware gave to hal::halt(); not 0 when the CPU never halted.
  virtual int exit_status() const = 0;
  /// Bytes or blocks found wrong by checks outside the firmware.
  virtual std::uint64_t data_errors() const { return 0; }
  /// Byte offset of the first of them on the device.
  virtual std::uint64_t first_data_error() const { return 0; }
  virtual CpuUsage cpu_usage() const = 0;
  virtual std::vector<StallRow> stalls() const = 0;
  virtual std::vector<UtilisationRow> utilisation() const = 0;
  virtual std::vector<CounterRow> counters() const = 0;
  /// Keeps the medium in the file of --image, safely (temporary name, rename). Called once, after a run.
  virtual void save_image() {}
};

/// The platform of this program (builder.cpp).
std::unique_ptr<Machine> make_machine();

}  // namespace vp
