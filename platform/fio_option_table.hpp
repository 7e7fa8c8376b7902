// The options of fio's manual and what each means here: applied to a job, ignored, or refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/fio_options.hpp"

namespace vp {

/// What an option does to a job. Throws InputError; `where` ends with ": ".
using FioApply = void (*)(FioJob& job, const std::string& value, const std::string& where);

struct FioOption {
  enum class Use : std::uint8_t {
    job,      ///< changes the job
    ignored,  ///< no meaning in a simulation: accepted and listed
    refused,  ///< would change the I/O pattern: only its neutral value is accepted
    program,  ///< of the whole run (output, readonly …), handled by the parser
  };
  std::string_view name;
  Use use = Use::job;
  bool flag = false;  ///< needs no value
  FioApply apply = nullptr;
  std::string_view neutral;  ///< refused options: the value that asks for nothing
};

/// The option named `name` or an alias of it; null when fio has none of that name.
const FioOption* find_fio_option(const std::string& name);
/// Every name and alias, for suggestions.
std::vector<std::string> fio_option_names();

/// Where fio would print `key=value`: "fio: --bs=4q" or "job.fio:3: bs=4q".
[[noreturn]] void bad_fio_value(const std::string& where, const std::string& key, const std::string& value,
                                const std::string& remedy);

}  // namespace vp
