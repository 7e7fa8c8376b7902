// JSON in fio's own layout (two spaces, `"key" : value`, doubles with six decimals), so that runs are
// byte-identical and scripts written for fio's output keep working. Values are built with
// nlohmann::ordered_json; key order is kept.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace vp {

using Json = nlohmann::ordered_json;

std::string json_text(const Json& value);

}  // namespace vp
