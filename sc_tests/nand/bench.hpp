// A translation layer on a bench: parameters with round numbers, times in microseconds.
#pragma once

#include <cmath>
#include <memory>

#include "models/nand/ftl.hpp"
#include "sc_tests/catch.hpp"

namespace bench {

using namespace vp;

inline Ps us(double v) { return static_cast<Ps>(std::llround(v * 1e6)); }
inline sc_time at_us(double v) { return sc_time::from_value(us(v)); }

/// 400 MB/s: 4 KiB take 10.24 us, a page of 16 KiB 40.96 us.
inline constexpr double kUnitUs = 10.24;

/// One channel, one die, one plane; MLC with 50 and 80 us; everything else as the defaults say.
inline NandParams params(unsigned channels = 1, unsigned dies = 1, unsigned planes = 1) {
  NandParams p;
  p.channels = channels, p.dies = dies, p.planes = planes;
  return p;
}

struct Bench {
  explicit Bench(const NandParams& p, std::uint64_t mib = 1024, std::uint64_t cache_bytes = 524288)
      : ftl(context, p, mib * 2048, cache_bytes), blocks(mib * 2048) {}

  ReadPlan& read(std::uint64_t lba, std::uint32_t count, double at) {
    graph.restart(at_us(at));
    ftl.start_read(plan, lba, count, blocks, at_us(at), graph, kRootNode);
    return plan;
  }
  Ps ready(std::uint32_t k) { return plan.ready(k, graph).at.value(); }
  /// A whole read whose frames take no time; returns when its last block is ready.
  Ps read_all(std::uint64_t lba, std::uint32_t count, double at) {
    read(lba, count, at);
    Ps last = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      last = ready(k);
      plan.delivered(sc_time::from_value(last));
    }
    return last;
  }
  /// A write whose blocks all arrive at `arrived`, or when busy ends; returns when it is accepted.
  Ps write(std::uint64_t lba, std::uint32_t count, double at, double arrived, bool through = false) {
    graph.restart(at_us(at));
    WritePlan w;
    ftl.start_write(w, lba, through, at_us(at));
    Accepted a{at_us(arrived)};
    for (std::uint32_t k = 0; k < count; ++k) {
      a = ftl.write_block(w, k, k + 1 == count, a.at, graph, kRootNode);
      why = a.why;
    }
    return a.at.value();
  }
  Ps flush(double at) {
    graph.restart(at_us(at));
    const Accepted a = ftl.flush(at_us(at), graph, kRootNode);
    why = a.why;
    return a.at.value();
  }

  Context context;
  Ftl ftl;
  std::uint64_t blocks;
  CauseGraph graph;
  ReadPlan plan;
  NodeId why = kRootNode;
};

}  // namespace bench
