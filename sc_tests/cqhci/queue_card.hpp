// A device with a task queue and no time of its own but what the test gives it: CMD44 to CMD48 and the queue status.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sc_tests/mock_card.hpp"

namespace vp::test {

class QueueCard : public MockCard {
 public:
  struct Seen {
    std::uint8_t index;
    std::uint32_t argument;
    sc_time end;  ///< end bit of the command
  };
  std::vector<Seen> log;
  std::array<sc_time, 32> prepare{};  ///< CMD45's end bit to ready
  bool tells_ready = false;           ///< answers queue_ready with a device_firmware node
  int error_index = -1;               ///< command whose R1 carries error_bits, once
  std::uint32_t error_bits = 0;
  int silent_index = -1;  ///< command that is not answered
  unsigned executed_not_ready = 0;

  CommandEffect command(const MmcCommand& c, CauseGraph& g, NodeId after) override {
    const sc_time now = sc_core::sc_time_stamp();
    log.push_back({c.index, c.argument, now});
    if (silent_index == c.index) return {};
    const unsigned tag = c.argument >> 16 & 31;
    CommandEffect e;
    MmcResponse r{RespType::r1, c.index, 0x900, {}};
    switch (c.index) {
      case 13:
        if (!(c.argument & 0x8000)) return MockCard::command(c, g, after);
        r.content = queue_status(now);
        break;
      case 44:
        params_ = c.argument;
        break;
      case 45: {
        Task& t = tasks_[params_ >> 16 & 31];
        t = {true, params_, c.argument, now, now + prepare[params_ >> 16 & 31]};
        break;
      }
      case 46:
      case 47: {
        Task& t = tasks_[tag];
        if (!t.present || now < t.ready) ++executed_not_ready;
        if (error_index == c.index) break;
        t.present = false;
        running_ = t;
        blocks_left = t.params & 0xFFFF;
        e.data = c.index == 46 ? DataDir::read : DataDir::write;
        e.block_bytes = 512;
        last_command_end = now;
        break;
      }
      case 48:
        r.type = RespType::r1b;
        if ((c.argument & 15) == 1) tasks_ = {};
        if ((c.argument & 15) == 2) tasks_[tag].present = false;
        break;
      default:
        return MockCard::command(c, g, after);
    }
    if (error_index == c.index) {
      r.content |= error_bits;
      error_index = -1;
    }
    e.response = r;
    return e;
  }
  std::uint32_t queue_status(sc_time now) const {
    std::uint32_t q = 0;
    for (unsigned i = 0; i < 32; ++i)
      if (tasks_[i].present && tasks_[i].ready <= now) q |= 1u << i;
    return q;
  }
  BlockReady queue_ready(unsigned tag, CauseGraph& g, NodeId after) override {
    if (!tells_ready) return {sc_time(), after};
    const sc_time at = tasks_[tag].ready;
    return {at, g.add(after, Span::device_firmware, at)};
  }
  void read_block(std::uint32_t k, std::span<std::byte> out, sc_time) override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = content(running_.address + k, i);
    if (blocks_left != ~0ULL) --blocks_left;
  }

  /// Commands of this index seen so far.
  unsigned count(unsigned index) const {
    unsigned n = 0;
    for (const Seen& s : log) n += s.index == index;
    return n;
  }
  /// The k-th command of this index.
  const Seen& nth(unsigned index, unsigned k) const {
    for (const Seen& s : log)
      if (s.index == index && k-- == 0) return s;
    throw std::out_of_range("no such command");
  }
  /// Tasks in order of execution.
  std::vector<unsigned> executed() const {
    std::vector<unsigned> tags;
    for (const Seen& s : log)
      if (s.index == 46 || s.index == 47) tags.push_back(s.argument >> 16 & 31);
    return tags;
  }

 private:
  struct Task {
    bool present = false;
    std::uint32_t params = 0, address = 0;
    sc_time queued, ready;
  };
  std::array<Task, 32> tasks_{};
  std::uint32_t params_ = 0;
  Task running_;
};

}  // namespace vp::test
