#include "models/memory/dram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace vp {
namespace {

std::uint64_t to_ps(double ns) { return static_cast<std::uint64_t>(std::llround(ns * 1000)); }

}  // namespace

void DramParams::declare(ParamRegistry& r, const std::string& at) {
  constexpr std::uint64_t kTera = std::uint64_t{1} << 40;
  r.add(at + ".size", size, "bytes", 1 << 20, std::uint64_t{3} << 30, "memory at 0x40000000");
  r.add(at + ".high_base", high_base, "bytes", 0x1'0000'0000, kTera, "base of the bank above 4 GiB");
  r.add(at + ".high_size", high_size, "bytes", 0, kTera, "size of the bank above 4 GiB; 0: none");
  r.add(at + ".data_rate_mtps", data_rate_mtps, "MT/s", 100, 10000, "transfers per second and pin");
  r.add(at + ".bus_bits", bus_bits, "bits", 8, 128, "DRAM data bus width");
  r.add(at + ".burst_length", burst_length, "transfers", 2, 32, "BL");
  r.add(at + ".banks", banks, "", 1, 64, "banks, a power of two");
  r.add(at + ".row_bytes", row_bytes, "bytes", 512, 65536, "open page over the whole bus, a power of two");
  r.add(at + ".t_rcd_ns", t_rcd_ns, "ns", 0, 1000, "activate to column command");
  r.add(at + ".t_rp_ns", t_rp_ns, "ns", 0, 1000, "precharge to activate");
  r.add(at + ".t_cl_ns", t_cl_ns, "ns", 0, 1000, "read command to data");
  r.add(at + ".t_wl_ns", t_wl_ns, "ns", 0, 1000, "write command to data");
  r.add(at + ".t_wr_ns", t_wr_ns, "ns", 0, 1000, "write data to precharge");
  r.add(at + ".t_wtr_ns", t_wtr_ns, "ns", 0, 1000, "write data to read command");
  r.add(at + ".t_rtw_ns", t_rtw_ns, "ns", 0, 1000, "data bus gap from read to write");
  r.add(at + ".t_rfc_ns", t_rfc_ns, "ns", 0, 10000, "refresh time");
  r.add(at + ".t_refi_ns", t_refi_ns, "ns", 0, 1e6, "refresh interval; 0: no refresh");
  r.add(at + ".controller_ns", controller_ns, "ns", 0, 10000, "controller and PHY, request side");
  r.add(at + ".accept_cycles", accept_cycles, "axi cycles", 0, 1000, "last write beat to B");
  r.add(at + ".write_buffer", write_buffer, "bursts", 1, 1024, "posted write buffer");
  r.add(at + ".bandwidth_limit", bandwidth_limit, "bytes/s", 0, std::uint64_t{1} << 40, "0: none");
}

std::vector<MemoryBank> Dram::default_banks(const DramParams& p) {
  std::vector<MemoryBank> banks{{kDramBase, p.size}};
  if (p.high_size > 0) banks.push_back({p.high_base, p.high_size});
  return banks;
}

Dram::Dram(sc_core::sc_module_name name, ClockDomain& clock, const DramParams& params)
    : Dram(name, clock, params, default_banks(params)) {}

Dram::Dram(sc_core::sc_module_name module_name, ClockDomain& clock, const DramParams& p,
           const std::vector<MemoryBank>& banks)
    : MemoryTarget(module_name, clock, banks),
      params_(p),
      rcd_(to_ps(p.t_rcd_ns)),
      rp_(to_ps(p.t_rp_ns)),
      cl_(to_ps(p.t_cl_ns)),
      wl_(to_ps(p.t_wl_ns)),
      wr_(to_ps(p.t_wr_ns)),
      wtr_(to_ps(p.t_wtr_ns)),
      rtw_(to_ps(p.t_rtw_ns)),
      rfc_(to_ps(p.t_rfc_ns)),
      refi_(to_ps(p.t_refi_ns)),
      controller_(to_ps(p.controller_ns)) {
  const std::string at = name();
  if (!std::has_single_bit(p.row_bytes)) throw InputError(at + ".row_bytes must be a power of two");
  if (!std::has_single_bit(p.banks)) throw InputError(at + ".banks must be a power of two");
  const std::uint64_t burst_bytes = p.burst_length * p.bus_bits / 8;
  if (!std::has_single_bit(burst_bytes))
    throw InputError(at + ": burst_length x bus_bits must be a power of two");
  if (p.data_rate_mtps == 0) throw InputError(at + ".data_rate_mtps must be at least 1");
  burst_shift_ = static_cast<unsigned>(std::countr_zero(burst_bytes));
  if (refi_ != 0 && refi_ <= rfc_) throw InputError(at + ".t_refi_ns must exceed t_rfc_ns");
  if (p.write_buffer == 0) throw InputError(at + ".write_buffer must be at least 1");
  burst_ps_ = p.burst_length * 1'000'000 / p.data_rate_mtps;
  if (p.bandwidth_limit > 0) limit_ps_per_byte_ = 1e12 / static_cast<double>(p.bandwidth_limit);
  row_shift_ = static_cast<unsigned>(std::countr_zero(p.row_bytes));
  bank_shift_ = static_cast<unsigned>(std::countr_zero(p.banks));
  banks_.resize(p.banks);
  written_.assign(p.write_buffer, 0);
}

/// Refresh k >= 1 occupies [k t_REFI, k t_REFI + t_RFC) and closes every row.
std::uint64_t Dram::after_refresh(std::uint64_t at) {
  if (refi_ == 0) return at;
  if (at < epoch_from_ || at - epoch_from_ >= refi_) {
    epoch_ = at / refi_;
    epoch_from_ = epoch_ * refi_;
  }
  if (epoch_ == 0 || at - epoch_from_ >= rfc_) return at;
  ++counters_.refresh_waits;
  return epoch_from_ + rfc_;
}

/// When the column command may go: activate and precharge first, as the bank's state asks.
std::uint64_t Dram::column_command(std::uint64_t address, std::uint64_t at, Bank*& bank) {
  const std::uint64_t page = address >> row_shift_;
  bank = &banks_[page & (banks_.size() - 1)];
  const std::uint64_t row = page >> bank_shift_;
  const bool open = bank->row != ~std::uint64_t{0} && bank->epoch == epoch_;
  if (open && bank->row == row) {
    ++counters_.row_hits;
    return at;
  }
  bank->row = row;
  bank->epoch = epoch_;
  if (!open) {
    ++counters_.row_misses;
    return at + rcd_;
  }
  ++counters_.row_conflicts;
  return std::max(at, bank->ready) + rp_ + rcd_;
}

/// The DRAM data bus's slot of one burst whose request reaches the controller at `at`.
Dram::Slot Dram::access(std::uint64_t address, std::uint32_t bytes, std::uint64_t at, bool is_write) {
  const std::uint64_t first = address >> burst_shift_, last = (address + bytes - 1) >> burst_shift_;
  std::uint64_t duration = (last - first + 1) * burst_ps_;
  if (limit_ps_per_byte_ > 0)
    duration = std::max(duration, static_cast<std::uint64_t>(std::llround(limit_ps_per_byte_ * bytes)));
  Bank* bank = nullptr;
  const std::uint64_t command = column_command(address, after_refresh(at + controller_), bank);
  std::uint64_t start = command + (is_write ? wl_ : cl_);
  // In front of what is reserved for later only with room to turn the bus.
  if (!bus_.take_before(start, duration + wtr_ + cl_)) {
    if (is_write != bus_written_ && bus_.until() > 0) {
      // Write to read counts from the last write data to the command, so the read latency comes on top.
      // Nothing else may use the bus while it turns.
      const std::uint64_t turned = bus_.until() + (is_write ? rtw_ : wtr_ + cl_);
      if (start < turned) bus_.extend(turned);
      ++counters_.turnarounds;
    }
    start = bus_.append(start, duration);
    bus_written_ = is_write;
  }
  bank->ready = std::max(bank->ready, start + duration + (is_write ? wr_ : 0));
  counters_.busy_ps += duration;
  (is_write ? counters_.write_bytes : counters_.read_bytes) += bytes;
  return {start, start + duration};
}

void Dram::time_burst(AxiBurstTiming& burst) {
  if (burst.granted_ps == 0) burst.granted_ps = burst.issued_ps;
  const std::uint64_t data = burst.beats * period();
  if (!burst.is_write) {
    const Slot slot = access(burst.address, burst.bytes, burst.issued_ps, false);
    burst.first_ps = align(std::min(slot.end, slot.start + burst_ps_));
    burst.last_ps = std::max(burst.first_ps + data, align(slot.end) + period());
    burst.done_ps = burst.last_ps;
    return;
  }
  std::uint64_t& oldest = written_[write_slot_];
  if (++write_slot_ == written_.size()) write_slot_ = 0;
  if (oldest > burst.last_ps) burst.last_ps = align(oldest);
  oldest = access(burst.address, burst.bytes, burst.last_ps, true).end;
  burst.done_ps = burst.last_ps + params_.accept_cycles * period();
}

/// access() of a write, short for what most are behind another: a hit in an open row, whole DRAM bursts, the bus free.
std::uint64_t Dram::write_hit(std::uint64_t address, std::uint32_t bytes, std::uint64_t arrival) {
  const std::uint64_t page = address >> row_shift_, command = arrival + controller_, start = command + wl_;
  const std::uint64_t unit = (std::uint64_t{1} << burst_shift_) - 1;
  Bank& bank = banks_[page & (banks_.size() - 1)];
  const bool between_refreshes =
      refi_ == 0 || (command >= epoch_from_ + (epoch_ == 0 ? 0 : rfc_) && command - epoch_from_ < refi_);
  if (bank.row != page >> bank_shift_ || bank.epoch != epoch_ || !between_refreshes || !bus_written_ ||
      start <= bus_.until() || ((address | bytes) & unit) != 0 || limit_ps_per_byte_ > 0)
    return access(address, bytes, arrival, true).end;
  const std::uint64_t duration = (bytes >> burst_shift_) * burst_ps_;
  bus_.append(start, duration);
  bank.ready = std::max(bank.ready, start + duration + wr_);
  ++counters_.row_hits;
  counters_.busy_ps += duration;
  counters_.write_bytes += bytes;
  return start + duration;
}

/// Posted writes end when they are in the buffer, whatever the array does: every burst is the first one, shifted.
bool Dram::time_write_train(AxiTrain& train) {
  const std::uint64_t data = train.beats * train.period_ps, arrival = train.at_ps + data;
  const unsigned n = train.bursts();
  if (n > written_.size()) return false;
  for (std::size_t i = 0, slot = write_slot_; i < n; ++i) {  // the buffer must have room for each
    if (written_[slot] > arrival) return false;
    if (++slot == written_.size()) slot = 0;
  }
  train.end_ps = data + params_.accept_cycles * train.period_ps;
  train.step_ps = 2 * train.path_ps + train.end_ps;
  if (!train.apart()) return false;
  std::uint64_t address = train.address;
  for (unsigned g = 0; g < train.groups; ++g)
    for (unsigned i = 0; i < train.count; ++i, address += train.bytes) {
      written_[write_slot_] = write_hit(address, train.bytes, arrival + train.offset(g, i));
      if (++write_slot_ == written_.size()) write_slot_ = 0;
    }
  return true;
}

/// Reads: row hits between two refreshes on a bus that nobody has reserved behind them.
bool Dram::time_train(AxiTrain& train) {
  const std::uint64_t a = period(), at = train.at_ps, n = train.count;
  if (a != train.period_ps) return false;
  if (train.is_write) return time_write_train(train);
  if (train.groups > 1) return false;
  const std::uint64_t page = train.address >> row_shift_, end = train.address + n * train.bytes - 1;
  const std::uint64_t unit = (std::uint64_t{1} << burst_shift_) - 1;
  Bank& bank = banks_[page & (banks_.size() - 1)];
  if (limit_ps_per_byte_ > 0 || bus_written_ || end >> row_shift_ != page ||
      ((train.address | train.bytes) & unit) != 0 || bank.row != page >> bank_shift_ || bank.epoch != epoch_)
    return false;
  const std::uint64_t command = at + controller_, start = command + cl_;
  const std::uint64_t duration = (train.bytes >> burst_shift_) * burst_ps_, data = train.beats * a;
  const std::uint64_t first = align(start + std::min(duration, burst_ps_));
  train.first_ps = first - at;
  train.end_ps = std::max(first + data, align(start + duration) + a) - at;
  const std::uint64_t step = train.step_ps = 2 * train.path_ps + train.end_ps;
  const std::uint64_t last_command = command + (n - 1) * step;
  if (bus_.until() >= start || duration >= step) return false;
  if (refi_ != 0 && (command < epoch_from_ || last_command - epoch_from_ >= refi_ ||
                     (epoch_ != 0 && command - epoch_from_ < rfc_)))
    return false;
  if (n == 1)
    bus_.append(start, duration);
  else
    bus_.append_apart(start + (n - 2) * step, start + (n - 1) * step, duration);
  bank.ready = std::max(bank.ready, start + (n - 1) * step + duration);
  counters_.row_hits += n;
  counters_.busy_ps += n * duration;
  counters_.read_bytes += n * train.bytes;
  return true;
}

}  // namespace vp
