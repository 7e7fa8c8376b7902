#include "platform/linux/guest_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "models/core/params.hpp"
#include "platform/output_file.hpp"

namespace vp::guest {
namespace {

/// The guest's memory is a file in $TMPDIR; it must be one from which programs may run.
constexpr const char* kMemoryFolder = "/dev/shm";

std::vector<std::string> arguments_of(const RunFolder& folder, const GuestCommand& c) {
  return {c.kernel + "/linux", fmt::format("mem={}K", c.memory_bytes / 1024), "root=/dev/root",
          "rootfstype=hostfs", "rootflags=/", "ro", "init=" + folder.file("init"), "stderr=1",
          "console=stderr0",  // the kernel's log goes to stderr
          "con0=null,fd:1", "con=null", "umid=guest", "uml_dir=" + folder.path() + "/",
          fmt::format("virtio_uml.device={}:{}", folder.file("device.sock"), c.virtio_id),
          "time-travel=ext:" + folder.file("calendar.sock"), "panic=-1", "oops=panic",
          // Unknown words become the environment of init.
          "VP_RUN=" + folder.path(), "VP_KERNEL=" + c.kernel, "VP_DRIVER=" + c.driver};
}

[[noreturn]] void become_guest(const std::vector<std::string>& arguments, int log) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  ::personality(ADDR_NO_RANDOMIZE);  // addresses repeat from run to run
  ::setenv("TMPDIR", kMemoryFolder, 1);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  if (log >= 0) ::dup2(log, STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

std::string shell_word(const std::string& word) {
  std::string quoted(1, '\'');
  for (const char c : word) {
    if (c == '\'')
      quoted.append("'\\''");
    else
      quoted.push_back(c);
  }
  quoted.push_back('\'');
  return quoted;
}

RunFolder::RunFolder() {
  const char* const base = std::getenv("TMPDIR");
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/emmc-vp-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw InputError(
        fmt::format("emmc-vp linux: no folder can be made in {}: set TMPDIR", base && *base ? base : "/tmp"));
  path_ = pattern;
}

RunFolder::~RunFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

GuestProcess::GuestProcess(const RunFolder& folder, const GuestCommand& command)
    : folder_(folder), arguments_(arguments_of(folder, command)) {
  if (::access(arguments_.front().c_str(), X_OK) != 0)
    throw InputError(fmt::format("emmc-vp linux: --kernel={}: no kernel there: scripts/linux.sh builds one",
                                 command.kernel));
  write_whole_file(folder.file("init"), command.init, "emmc-vp linux");
  std::filesystem::permissions(folder.file("init"), std::filesystem::perms::owner_all);
  std::string script;
  for (const std::string& word : command.words) script.append(shell_word(word)).append(1, ' ');
  // One word is a shell command line, several are a command and its arguments.
  write_whole_file(folder.file("command"),
                   fmt::format("{}\n", command.words.size() == 1 ? command.words.front() : script),
                   "emmc-vp linux");
  int log = -1;
  if (!command.console.empty()) {
    log = ::open(command.console.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (log < 0)
      throw InputError(
          fmt::format("emmc-vp linux: guest.console={}: {}", command.console, std::strerror(errno)));
  }
  pid_ = ::fork();
  if (pid_ == 0) become_guest(arguments_, log);
  if (log >= 0) ::close(log);
  if (pid_ < 0) throw std::runtime_error("the guest cannot be started: fork");
}

GuestProcess::~GuestProcess() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void GuestProcess::finish() {
  using namespace std::chrono_literals;
  for (int i = 0; i < 500 && pid_ > 0; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      ::kill(-pid_, SIGKILL);  // threads of the guest's own that outlived it
      pid_ = -1;
    } else {
      std::this_thread::sleep_for(10ms);
    }
  }
}

std::optional<int> GuestProcess::command_status() const {
  std::ifstream file(folder_.file("status"));
  int status = -1;
  if (file >> status) return status;
  return std::nullopt;
}

}  // namespace vp::guest
