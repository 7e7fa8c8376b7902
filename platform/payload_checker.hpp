// Does every byte arrive? At each request's end its memory is compared with the medium: a read must have brought what the
// medium holds, a write must have left it there. An instrument beside the machine; it takes no simulated time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/cpu/cpu.hpp"
#include "models/emmc/sparse_medium.hpp"

namespace vp {

class PayloadChecker {
 public:
  using Memory = std::function<std::byte*(std::uint64_t address, std::uint64_t bytes)>;

  PayloadChecker(const SparseMedium& medium, Memory memory) : medium_(medium), memory_(std::move(memory)) {}

  void event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c);

  std::uint64_t wrong_blocks() const { return wrong_; }
  std::uint64_t checked_bytes() const { return checked_; }
  std::uint64_t raced_bytes() const {
    return raced_;
  }  ///< not checked: overlapping requests, one of them a write
  std::uint64_t first_wrong_lba() const { return first_wrong_; }

 private:
  struct Segment {
    std::uint64_t address, bytes;
  };
  struct Request {
    std::uint64_t lba = 0, bytes = 0;
    bool write = false, issued = false;
    bool raced = false;  // overlapped by another request at the device: either order is right
    std::vector<Segment> segments;
  };
  void issued(Request& request);
  void check(const Request& request);

  const SparseMedium& medium_;
  Memory memory_;
  std::vector<Request> requests_;  // by request slot
  std::vector<std::byte> expected_;
  std::uint64_t wrong_ = 0, checked_ = 0, raced_ = 0, first_wrong_ = ~0ULL;
};

}  // namespace vp
