// The guest kernel as a process of this machine: its working folder, command line, start and end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vp::guest {

struct GuestCommand {
  std::string kernel;  ///< folder with `linux` and its modules, absolute
  std::string init;    ///< text of the guest's first program
  std::uint64_t memory_bytes = 0;
  unsigned virtio_id = 1234;       ///< CONFIG_UML_PCI_OVER_VIRTIO_DEVICE_ID of guest/kernel.config
  std::string driver;              ///< module of the host controller's driver
  std::string console;             ///< file for the kernel's log; empty: stderr
  std::vector<std::string> words;  ///< what runs in the guest
};

/// A folder of the run's own, removed at the end: sockets, the command, its exit status.
class RunFolder {
 public:
  /// Under $TMPDIR, else /tmp. Throws InputError.
  RunFolder();
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class GuestProcess {
 public:
  /// Starts the guest; it connects to `device.sock` and `calendar.sock` in the folder. Its standard output is ours.
  /// Throws InputError when the kernel cannot be started.
  GuestProcess(const RunFolder& folder, const GuestCommand& command);
  /// Kills what is left.
  ~GuestProcess();
  GuestProcess(const GuestProcess&) = delete;
  GuestProcess& operator=(const GuestProcess&) = delete;

  /// Waits for the end, a few seconds at most, then kills it.
  void finish();
  /// Exit status of the command in the guest; none when it did not come to its end.
  std::optional<int> command_status() const;
  const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  const RunFolder& folder_;
  std::vector<std::string> arguments_;
  pid_t pid_ = -1;
};

/// One word of a shell command, quoted.
std::string shell_word(const std::string& word);

}  // namespace vp::guest
