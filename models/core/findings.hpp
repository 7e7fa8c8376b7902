// Findings: what a checker saw. A run with a finding ends with exit status 3.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <systemc>
#include <vector>

namespace vp {

struct Finding {
  std::string rule;  ///< stable id, e.g. "dma.crosses_128m"
  sc_core::sc_time time;
  std::string path;  ///< module path
  std::vector<std::uint64_t> addresses;
  std::string text;  ///< one sentence
};

/// Keeps the first `kKept` findings of each rule whole and counts the rest, so that memory stays flat.
class Findings {
 public:
  static constexpr std::size_t kKept = 16;

  void report(Finding finding) {
    std::uint64_t& n = counts_[finding.rule];
    if (n++ < kKept) kept_.push_back(std::move(finding));
  }
  const std::vector<Finding>& kept() const { return kept_; }
  const std::map<std::string, std::uint64_t>& counts() const { return counts_; }
  std::uint64_t count(const std::string& rule) const {
    const auto it = counts_.find(rule);
    return it == counts_.end() ? 0 : it->second;
  }
  bool empty() const { return counts_.empty(); }

 private:
  std::vector<Finding> kept_;
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace vp
