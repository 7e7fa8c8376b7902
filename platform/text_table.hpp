// Text that several reports set alike: tables of aligned columns, commands to paste.
#pragma once

#include <string>
#include <vector>

namespace vp {

using TextRow = std::vector<std::string>;

/// Columns as wide as their widest cell; numbers to the right, the first `left` columns to the left.
std::string aligned(const std::vector<TextRow>& rows, std::size_t left);
/// The command to paste: words with spaces or quotes get single quotes.
std::string pasteable(const std::vector<std::string>& words);

}  // namespace vp
