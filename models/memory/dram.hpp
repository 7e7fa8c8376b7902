// DRAM controller and devices, by reservation: no events, closed form per burst.
// Modelled: open-page policy with row hit, miss and conflict per bank, CAS and write latency, write recovery,
// the shared data bus with read/write turnaround, all-bank refresh at fixed instants, a posted write buffer,
// a bandwidth limit. Not modelled: command bus occupancy, tRAS/tRRD/tFAW, per-bank refresh, reordering of
// requests, ECC, power states. Defaults: LPDDR4-3200 x32 as two 16-bit channels in lockstep (JESD209-4D,
// speed bin 3200, 8 Gb per channel).
//   read:  c = arrival + controller (+ refresh end); activate and precharge as the bank needs; data start at
//          max(c + t_CL, bus free + turnaround); first AXI beat = edge at or after data start + one DRAM
//          burst.
//   write: buffered; B leaves `accept_cycles` after the last W beat. When the buffer is full the last beat is
//   held back
//          until its oldest entry is in the array. The array write takes the bus like a read, with t_WL.
// A request for an instant before the bus's last busy stretch that fits there is served there (temporal
// decoupling).
#pragma once

#include <string>
#include <vector>

#include "models/axi/reservation.hpp"
#include "models/core/params.hpp"
#include "models/memory/memory_target.hpp"

namespace vp {

struct DramParams {
  std::uint64_t size = std::uint64_t{2} << 30;       ///< bytes at 0x4000_0000
  std::uint64_t high_base = 0x1'0000'0000;           ///< bank above 4 GiB
  std::uint64_t high_size = std::uint64_t{2} << 30;  ///< bytes; 0: none
  std::uint64_t data_rate_mtps = 3200;               ///< JESD209-4D: highest LPDDR4 bin
  std::uint64_t bus_bits = 32;                       ///< two 16-bit channels in lockstep (choice)
  std::uint64_t burst_length = 16;                   ///< JESD209-4D: BL16
  std::uint64_t banks = 8;                           ///< JESD209-4D: 8 per channel
  std::uint64_t row_bytes = 4096;                    ///< 2 KiB page per 16-bit channel, two channels
  double t_rcd_ns = 18, t_rp_ns = 18;                ///< JESD209-4D core timing, tRCD, tRPpb
  double t_cl_ns = 17.5;                             ///< RL 28 x tCK 0.625 ns (no DBI)
  double t_wl_ns = 8.75;                             ///< WL 14 x tCK, set A
  double t_wr_ns = 18;                               ///< write recovery
  double t_wtr_ns = 10;                              ///< last write data to read command
  double t_rtw_ns = 5;                               ///< data bus gap from read to write data (choice)
  double t_rfc_ns = 280;                             ///< tRFCab, 8 Gb per channel
  double t_refi_ns = 3904;                           ///< tREFI
  double controller_ns = 20;                         ///< queue, mapping, PHY: one way, request side (choice)
  std::uint64_t accept_cycles = 2;    ///< A: last W beat to B while the buffer has room (choice)
  std::uint64_t write_buffer = 16;    ///< bursts (choice)
  std::uint64_t bandwidth_limit = 0;  ///< bytes/s, 0: none
  void declare(ParamRegistry& r, const std::string& at);
};

inline constexpr std::uint64_t kDramBase = 0x4000'0000;

struct DramCounters {
  std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0, refresh_waits = 0, turnarounds = 0;
  std::uint64_t read_bytes = 0, write_bytes = 0;
  std::uint64_t busy_ps = 0;  ///< data bus occupied
};

class Dram : public MemoryTarget {
 public:
  /// Throws InputError on an impossible geometry.
  Dram(sc_core::sc_module_name name, ClockDomain& clock, const DramParams& params);
  /// Address space other than the default two banks.
  Dram(sc_core::sc_module_name name, ClockDomain& clock, const DramParams& params,
       const std::vector<MemoryBank>& banks);
  void time_burst(AxiBurstTiming& burst) override;
  bool time_train(AxiTrain& train) override;

  const DramCounters& counters() const { return counters_; }
  const DramParams& params() const { return params_; }
  static std::vector<MemoryBank> default_banks(const DramParams& params);

 private:
  struct Bank {
    std::uint64_t row = ~std::uint64_t{0};
    std::uint64_t epoch = 0;  // refresh interval in which the row was opened
    std::uint64_t ready = 0;  // precharge allowed from here
  };
  struct Slot {
    std::uint64_t start, end;
  };
  class TrainWriter;
  bool time_write_train(AxiTrain& train);
  Slot access(std::uint64_t address, std::uint32_t bytes, std::uint64_t at, bool is_write);
  std::uint64_t after_refresh(std::uint64_t at);
  std::uint64_t column_command(std::uint64_t address, std::uint64_t at, Bank*& bank);

  DramParams params_;
  std::uint64_t rcd_, rp_, cl_, wl_, wr_, wtr_, rtw_, rfc_, refi_, controller_;  // ps
  std::uint64_t burst_ps_;
  double limit_ps_per_byte_ = 0;
  unsigned row_shift_, bank_shift_, burst_shift_;
  std::vector<Bank> banks_;
  Reservation bus_;
  bool bus_written_ = false;
  std::uint64_t epoch_ = 0, epoch_from_ = 0;  // the refresh interval looked up last
  std::vector<std::uint64_t> written_;        // ends of the last `write_buffer` array writes
  std::size_t write_slot_ = 0;
  DramCounters counters_;
};

}  // namespace vp
