// Files compiled into the program: presets, device parts, EXT_CSD dumps.
#pragma once

#include <string_view>

namespace vp {

struct EmbeddedFile {
  std::string_view name;  ///< path below the project, e.g. "platform/presets/th1520.toml"
  std::string_view text;
};
extern const EmbeddedFile kEmbeddedFiles[];
extern const unsigned kEmbeddedFileCount;

}  // namespace vp
