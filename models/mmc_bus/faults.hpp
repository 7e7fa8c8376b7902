// Faults on the wire, and a host that forgets: what a marginal board does, exactly where a test wants it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/clock.hpp"

namespace vp {

struct BusFault {
  enum class Kind : std::uint8_t {
    command_crc,       ///< a command bit flips: the device stays silent
    no_response,       ///< the response is lost; the device has acted
    response_crc,      ///< a response bit flips
    response_end_bit,  ///< the response's end bit is low
    response_index,    ///< the response carries another index
    read_crc,          ///< a data bit of a read block flips
    read_end_bit,      ///< a read block's end bit is low
    write_crc,         ///< a data bit of a written block flips: CRC status 101
    write_no_status,   ///< the CRC status token is lost
    stuck_busy,        ///< busy lasts `extra` longer after a written block or an R1b
    late_data,         ///< a read block comes `extra` later
    lost_completion,   ///< the host never tells that a command's data, or its busy, are over
  };
  Kind kind;
  int command = -1;         ///< index of the (data) command it strikes; -1: any
  std::int64_t block = -1;  ///< block number within the transfer; -1: any
  std::uint32_t skip = 0;   ///< matching chances to let pass first
  std::uint32_t count = 1;  ///< times it strikes
  sc_time extra;
};

/// The word parse_faults() reads.
const char* fault_name(BusFault::Kind kind);

/// Reads "read_crc:cmd=18:block=3:skip=1:count=2; stuck_busy:extra_us=500": kinds as in BusFault::Kind, fields optional.
/// Throws InputError naming the word and what is allowed. `key` prefixes the message.
std::vector<BusFault> parse_faults(const std::string& text, const std::string& key);

class FaultPlan {
 public:
  void add(const BusFault& fault) { faults_.push_back(fault); }
  bool empty() const { return faults_.empty(); }
  /// The fault that strikes this chance, or null. Counts the chance.
  const BusFault* strike(BusFault::Kind kind, unsigned command, std::int64_t block = -1) {
    for (BusFault& f : faults_) {
      if (f.kind != kind || f.count == 0) continue;
      if (f.command >= 0 && static_cast<unsigned>(f.command) != command) continue;
      if (f.block >= 0 && f.block != block) continue;
      if (f.skip > 0) {
        --f.skip;
        continue;
      }
      --f.count;
      return &f;
    }
    return nullptr;
  }

 private:
  std::vector<BusFault> faults_;
};

}  // namespace vp
