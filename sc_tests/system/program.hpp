// Runs the program as a user would: one process per run, streams captured. The binary's path comes from CMake.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "sc_tests/catch.hpp"

namespace vp::test {

using Json = nlohmann::json;

struct Outcome {
  int status = -1;
  std::string out, err;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A folder of its own for one test case, removed at the end.
struct Scratch {
  std::filesystem::path dir;
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "emmc-vp-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    dir = name;
  }
  ~Scratch() { std::filesystem::remove_all(dir); }
  std::string file(const std::string& name) const { return (dir / name).string(); }
};

inline Outcome run(const std::vector<std::string>& args) {
  const Scratch s;
  const std::string out = s.file("out"), err = s.file("err");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!std::freopen(out.c_str(), "w", stdout) || !std::freopen(err.c_str(), "w", stderr)) _exit(126);
    std::vector<char*> argv = {const_cast<char*>(EMMC_VP_BINARY)};
    for (const std::string& a : args) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execv(EMMC_VP_BINARY, argv.data());
    _exit(127);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(out), slurp(err)};
}

/// `emmc-vp fio <platform options> --output-format=json -- --filename=… --direct=1 --name=t <fio options>`.
inline Outcome fio(std::vector<std::string> platform, const std::vector<std::string>& job) {
  std::vector<std::string> args = {"fio", "--quiet"};
  args.insert(args.end(), platform.begin(), platform.end());
  for (const char* a : {"--output-format=json", "--", "--filename=/dev/mmcblk0", "--direct=1", "--name=t"})
    args.push_back(a);
  args.insert(args.end(), job.begin(), job.end());
  return run(args);
}

/// `emmc-vp dd <platform options> --output-format=json -- <operands>`.
inline Outcome dd(std::vector<std::string> platform, const std::vector<std::string>& operands) {
  std::vector<std::string> args = {"dd", "--quiet", "--output-format=json"};
  args.insert(args.end(), platform.begin(), platform.end());
  args.push_back("--");
  args.insert(args.end(), operands.begin(), operands.end());
  return run(args);
}

inline Json json_of(const Outcome& o) {
  INFO(o.err);
  REQUIRE(o.status == 0);
  return Json::parse(o.out);
}

inline std::uint64_t counter(const Json& report, const std::string& name) {
  const Json& counters = report.at("emmc-vp").at("counters");
  return counters.contains(name) ? counters.at(name).get<std::uint64_t>() : 0;
}

}  // namespace vp::test
