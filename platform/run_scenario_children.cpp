// Child processes: started, read, reaped.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "platform/run_scenario.hpp"

namespace vp {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

class Child {
 public:
  Child(std::size_t point, const std::string& program, const std::vector<std::string>& arguments)
      : point_(point) {
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) != 0) fail("cannot make a pipe");
    if (pipe2(err, O_CLOEXEC) != 0) {
      close(out[0]), close(out[1]);
      fail("cannot make a pipe");
    }
    std::vector<char*> argv = {const_cast<char*>(program.c_str())};
    for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) execute(parent, argv.data(), out[1], err[1]);
    close(out[1]), close(err[1]);
    fds_ = {out[0], err[0]};
    if (pid_ < 0) fail("cannot start a process");
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    for (const int fd : fds_)
      if (fd >= 0) close(fd);
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    reap();
  }

  std::size_t point() const { return point_; }
  bool open() const { return fds_[0] >= 0 || fds_[1] >= 0; }
  const std::array<int, 2>& fds() const { return fds_; }

  /// Takes what stream `which` (0: stdout) has; closes it at its end.
  void take(unsigned which) {
    char buffer[65536];
    const ssize_t n = read(fds_[which], buffer, sizeof buffer);
    if (n > 0)
      return void((which == 0 ? result_.out : result_.err).append(buffer, static_cast<std::size_t>(n)));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
    close(fds_[which]);
    fds_[which] = -1;
  }
  ChildResult finish() {
    result_.status = reap();
    return std::move(result_);
  }

 private:
  [[noreturn]] static void execute(pid_t parent, char** argv, int out, int err) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // a run that is ended takes its points along
    if (getppid() != parent) _exit(127);
    const int in = ::open("/dev/null", O_RDONLY);
    if (in >= 0) dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execv(argv[0], argv);
    _exit(127);
  }
  int reap() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::size_t point_;
  pid_t pid_ = -1;
  std::array<int, 2> fds_ = {-1, -1};
  ChildResult result_;
};

/// Waits until a stream has something and takes it.
void take_some(std::vector<std::unique_ptr<Child>>& running) {
  std::vector<pollfd> polled;
  std::vector<std::pair<Child*, unsigned>> who;
  for (const auto& c : running)
    for (unsigned i = 0; i < 2; ++i)
      if (c->fds()[i] >= 0) {
        polled.push_back({c->fds()[i], POLLIN, 0});
        who.emplace_back(c.get(), i);
      }
  if (poll(polled.data(), polled.size(), -1) < 0) {
    if (errno == EINTR) return;
    fail("cannot wait for a process");
  }
  for (std::size_t i = 0; i < polled.size(); ++i)
    if (polled[i].revents != 0) who[i].first->take(who[i].second);
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of("\n\r ");
  if (end == std::string::npos) return {};
  const auto begin = text.rfind('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

std::string error_of(const ChildResult& child) {
  if (child.status == 0) return {};
  const std::string line = last_line(child.err);
  if (!line.empty()) return line;
  return child.status > 128 ? fmt::format("ended by signal {}", child.status - 128) : "said nothing";
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::vector<ChildResult> run_children(const std::string& program,
                                      const std::vector<std::vector<std::string>>& arguments, unsigned jobs,
                                      const std::function<void(std::size_t)>& on_done) {
  std::vector<ChildResult> results(arguments.size());
  std::vector<std::unique_ptr<Child>> running;
  std::size_t next = 0, done = 0;
  while (done < arguments.size()) {
    while (next < arguments.size() && running.size() < std::max(jobs, 1u)) {
      running.push_back(std::make_unique<Child>(next, program, arguments[next]));
      ++next;
    }
    take_some(running);
    for (std::size_t i = 0; i < running.size();) {
      if (running[i]->open()) {
        ++i;
        continue;
      }
      results[running[i]->point()] = running[i]->finish();
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
      on_done(++done);
    }
  }
  return results;
}

}  // namespace vp
