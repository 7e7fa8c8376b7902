#include "platform/payload_checker.hpp"

#include <algorithm>
#include <cstring>

namespace vp {

namespace {
constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kStretch = 16 * 1024;  // compared at a time; stays in the first-level cache
}  // namespace

void PayloadChecker::event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b,
                           std::uint64_t c) {
  if (what == hal::Event::request_begin) {
    if (requests_.size() <= id) requests_.resize(id + 1);
    Request& r = requests_[id];
    r.lba = b;
    r.bytes = c;
    r.write = a & 1;
    r.issued = r.raced = false;
    r.segments.clear();
  } else if (what == hal::Event::request_buffer && id < requests_.size()) {
    requests_[id].segments.push_back({a, b});
  } else if (what == hal::Event::request_issue && id < requests_.size()) {
    issued(requests_[id]);
  } else if (what == hal::Event::request_end && id < requests_.size()) {
    Request& r = requests_[id];
    r.issued = false;
    if (a != 0) return;
    if (r.raced)
      raced_ += r.bytes;
    else
      check(r);
  }
}

/// A driver may issue the next request before it completes the last one, and a queue holds several: what one of them
/// overwrites cannot be compared with the other's memory.
void PayloadChecker::issued(Request& request) {
  for (Request& other : requests_) {
    if (!other.issued || &other == &request || !(other.write || request.write)) continue;
    const bool apart =
        other.lba + other.bytes / kBlock <= request.lba || request.lba + request.bytes / kBlock <= other.lba;
    if (!apart) other.raced = request.raced = true;
  }
  request.issued = true;
}

void PayloadChecker::check(const Request& request) {
  expected_.resize(kStretch);
  std::uint64_t filled_at = ~0ULL;  // offset within the request that expected_ begins at
  std::uint64_t offset = 0, last_wrong_block = ~0ULL;
  for (const Segment& s : request.segments) {
    const std::byte* data = memory_(s.address, s.bytes);
    const bool whole = offset % kBlock == 0 && s.bytes % kBlock == 0 && offset + s.bytes <= request.bytes;
    if (data && whole && medium_.holds(request.lba + offset / kBlock, {data, s.bytes})) {
      offset += s.bytes;
      continue;
    }
    for (std::uint64_t done = 0; done < s.bytes && offset < request.bytes;) {
      const std::uint64_t stretch = offset / kStretch * kStretch;
      if (stretch != filled_at) {
        const std::uint64_t n = std::min(kStretch, request.bytes - stretch);
        medium_.read_blocks(request.lba + stretch / kBlock, n / kBlock, {expected_.data(), n});
        filled_at = stretch;
      }
      const std::uint64_t n = std::min({s.bytes - done, stretch + kStretch - offset, request.bytes - offset});
      const bool same = data && std::memcmp(data + done, expected_.data() + (offset - stretch), n) == 0;
      for (std::uint64_t i = 0; !same && i < n; ++i) {
        const std::uint64_t block = (offset + i) / kBlock;
        if (block == last_wrong_block || (data && data[done + i] == expected_[offset - stretch + i]))
          continue;
        last_wrong_block = block;
        ++wrong_;
        first_wrong_ = std::min(first_wrong_, request.lba + block);
      }
      done += n;
      offset += n;
    }
  }
  checked_ += offset;
}

}  // namespace vp
