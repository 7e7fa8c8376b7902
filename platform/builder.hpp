// One platform, wired: CPU -> interconnect -> {DRAM, SRAM, host, interrupt controller, timer}; host -> lines -> device.
// A preset is a set of parameter values; `platform.host` names the host controller (host_unit.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>

#include "firmware/app/job_table.hpp"
#include "models/axi/interconnect.hpp"
#include "models/cpu/intc.hpp"
#include "models/cpu/native_core.hpp"
#include "models/cpu/timer.hpp"
#include "models/cqhci/params.hpp"
#include "models/dma/params.hpp"
#include "models/dwmmc/params.hpp"
#include "models/emmc/emmc_params.hpp"
#include "models/hsmmc/params.hpp"
#include "models/memory/dram.hpp"
#include "models/memory/sram.hpp"
#include "models/mmc_bus/mmc_bus.hpp"
#include "models/nand/nand_params.hpp"
#include "models/sd_card/sd_card_params.hpp"
#include "models/sdhci/params.hpp"
#include "platform/card_unit.hpp"
#include "platform/host_unit.hpp"
#include "platform/os_params.hpp"

namespace vp {

/// Where things are. DRAM begins low enough for 32-bit masters and goes on above 4 GiB.
namespace memory_map {
inline constexpr std::uint64_t kTimer = 0x0200'0000;
inline constexpr std::uint64_t kIntc = 0x0C00'0000;
inline constexpr std::uint64_t kSram = 0x0010'0000;
inline constexpr std::uint64_t kHost = 0x1000'0000;
inline constexpr std::uint64_t kPeripheralBytes = 0x1000;
inline constexpr unsigned kHostIrq = 1, kTimerIrq = 2;
}  // namespace memory_map

/// What the firmware is told about the board and the operating system whose path it stands for.
struct DriverParams {
  std::uint64_t max_segs = 128;          ///< Linux SDHCI_MAX_SEGS
  std::uint64_t max_seg_bytes = 65536;   ///< one ADMA2 descriptor
  std::uint64_t max_req_bytes = 524288;  ///< Linux SDHCI: 512 KiB
  std::uint64_t max_blk_count = 65535;
  bool split_128m = true;
  std::string dma = "adma2";  ///< pio, sdma, adma2
  bool auto_cmd23 = true;
  std::string v4_mode = "auto";  ///< never, auto (capability bit), always
  std::uint64_t request_timeout_ms = 10000;
  bool device_cache = true;
  std::string max_mode = "hs400es";
  std::uint64_t max_clock_hz = 200000000;
  std::uint64_t base_clock_hz = 0;         ///< 0: from the capabilities register
  std::uint64_t bus_width = 8;             ///< data lines the board wires; 0: as the capabilities say
  bool cqe = false;                        ///< command queue engine (--cqe)
  std::string queue = "none";              ///< none, software, cqe, hsq (--queue)
  std::uint64_t swq_depth = 0;             ///< software: tasks in the device; 0: as many as it holds
  double swq_poll_us = 10;                 ///< software: from a QSR that shows nothing to the next, DAT idle
  std::uint64_t hsq_depth = 2;             ///< Linux HSQ_NORMAL_DEPTH
  std::uint64_t hsq_write_depth = 5;       ///< Linux HSQ_PERFORMANCE_DEPTH
  std::uint64_t cqe_cit = 0;               ///< CQSSC1 idle timer; 0: its reset value
  std::uint64_t cqe_coalesce_count = 0;    ///< 0: one interrupt per task, as Linux
  std::uint64_t cqe_coalesce_timeout = 1;  ///< 1024 timer clocks each
  bool cqe_dcmd = true;                    ///< cache flush as a direct command, as Linux
  std::uint64_t page_bytes = 4096;
  std::uint64_t contiguity_pages = 0;  ///< 0: physically contiguous buffers
  std::uint64_t run_stride = 0;        ///< 0: one page between contiguous runs
  std::uint64_t buffer_base = 0x4800'0000;
  std::uint64_t buffer_bytes = 0x3800'0000;
  std::uint64_t buffer_byte_offset = 0;
  void declare(ParamRegistry& r, const std::string& at);
};

/// What Linux's driver of an HSMMC says of the host, and where the board wires its requests.
struct HsmmcDriverParams {
  std::uint64_t max_segs = 64;    ///< Linux omap_hsmmc since 4.14; 1024 before
  std::uint64_t max_linked = 20;  ///< Linux EDMA MAX_NR_SG
  bool linked_list = false;
  std::uint64_t rx_channel = 25, tx_channel = 24;  ///< AM335x MMCHS0
  void declare(ParamRegistry& r, const std::string& at);
};

struct CheckParams {
  bool payload = true;  ///< compare every request's memory with the medium
  void declare(ParamRegistry& r, const std::string& at);
};

/// What the DW-MMC driver is told beside the limits in DriverParams.
struct DwmmcDriverParams {
  std::uint64_t ring_bytes = 0;    ///< descriptor ring; 0: one page, as Linux
  std::uint64_t max_seg_size = 0;  ///< longest segment; 0: 4096, as Linux
  bool poll_busy = false;          ///< busy is polled even where the host has a busy-clear interrupt
  bool software_stop = false;      ///< CMD12 of an open-ended transfer by the driver
  void declare(ParamRegistry& r, const std::string& at);
};

struct PlatformConfig {
  std::string host = "sdhci";  ///< host controller family
  std::string card = "emmc";   ///< the device: emmc or sd
  double axi_clock_hz = 200e6;
  InterconnectParams interconnect;
  DramParams dram;
  SramParams sram;
  MmcBusParams mmc_bus;
  SdhciParams sdhci;
  DwmmcParams dwmmc;
  DwmmcDriverParams dwmmc_driver;
  bool cqe_present = true;  ///< CQHCI at the host's vendor area 2
  CqhciParams cqhci;
  HsmmcParams hsmmc;
  HsmmcDriverParams hsmmc_driver;
  SystemDmaParams dma;
  SdCardParams sd_card;
  EmmcParams emmc;
  NandParams nand;
  CpuParams cpu;
  IntcParams intc;
  TimerParams timer;
  DriverParams driver;
  OsParams os;
  CheckParams check;

  PlatformConfig() = default;
  PlatformConfig(const PlatformConfig&) = delete;
  PlatformConfig& operator=(const PlatformConfig&) = delete;
  void declare(ParamRegistry& r);
};

class Platform : public sc_core::sc_module {
 public:
  /// Throws InputError when the configuration does not make a machine.
  Platform(sc_core::sc_module_name name, Context& ctx, const PlatformConfig& config);

  /// The job table in DRAM, machine and driver parts filled in, no jobs yet.
  fw::JobTable& job_table() { return *table_; }
  /// DRAM behind a bus address, or null.
  std::byte* memory(std::uint64_t address, std::uint64_t bytes) { return dram.ptr(address, bytes); }

  ClockDomain axi_clock;
  AxiInterconnect interconnect;
  Dram dram;
  Sram sram;
  MmcBus mmc_bus;
  std::unique_ptr<CardUnit> card;
  std::unique_ptr<HostUnit> host;
  NativeCore cpu;
  Intc intc;
  Timer timer;

 private:
  void wire(std::uint64_t sram_bytes);
  void fill_job_table(const DriverParams& d);
  fw::JobTable* table_ = nullptr;
};

}  // namespace vp
