#include "platform/iozone_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "models/core/params.hpp"

namespace vp {
namespace {

constexpr std::uint64_t kKiB = 1024;
const char* const kLetters = "-t, -s, -r, -i, -I, -e and -F";

[[noreturn]] void bad(const std::string& what) { throw InputError("iozone: " + what); }

std::uint64_t number(const std::string& option, const std::string& text, const std::string& digits) {
  std::uint64_t n = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (digits.empty() || error != std::errc{} || rest != digits.data() + digits.size())
    bad(fmt::format("{} {}: not a whole number: write for example {}", option, text,
                    option == "-t" ? "4" : "8192k"));
  return n;
}

std::uint64_t size(const std::string& option, const std::string& text) {
  std::uint64_t unit = kKiB;
  std::string digits = text;
  if (!digits.empty()) {
    const char last = digits.back();
    if (last == 'k' || last == 'K') unit = kKiB;
    if (last == 'm' || last == 'M') unit = kKiB * kKiB;
    if (last == 'g' || last == 'G') unit = kKiB * kKiB * kKiB;
    if (std::string("kKmMgG").find(last) != std::string::npos) digits.pop_back();
  }
  const std::uint64_t n = number(option, text, digits);
  if (n == 0 || n > ~std::uint64_t{0} / unit)
    bad(fmt::format("{} {}: out of range: write for example 8192k", option, text));
  return n * unit;
}

/// The words as iozone's getopt takes them: one letter at a time, values beside or after their letter.
class Words {
 public:
  explicit Words(const std::vector<std::string>& words) : words_(words) {}
  std::optional<char> letter() {
    if (at_ == 0) {
      if (word_ == words_.size()) return std::nullopt;
      const std::string& w = words_[word_];
      if (w.size() < 2 || w[0] != '-')
        bad(fmt::format("unexpected '{}': the options here are {}", w, kLetters));
      at_ = 1;
    }
    const char c = words_[word_][at_++];
    if (at_ == words_[word_].size()) next_word();
    return c;
  }
  std::string value(char letter) {
    if (at_ != 0) {
      std::string v = words_[word_].substr(at_);
      next_word();
      return v;
    }
    if (word_ == words_.size()) bad(fmt::format("-{} needs a value", letter));
    return words_[word_++];
  }
  /// What follows up to the next option.
  std::vector<std::string> list() {
    std::vector<std::string> names;
    if (at_ != 0) names.push_back(value('F'));
    while (word_ < words_.size() && words_[word_].rfind('-', 0) != 0) names.push_back(words_[word_++]);
    return names;
  }

 private:
  void next_word() { ++word_, at_ = 0; }
  const std::vector<std::string>& words_;
  std::size_t word_ = 0, at_ = 0;
};

std::vector<IozoneTest> tests_of(const std::set<std::uint64_t>& numbers) {
  std::vector<IozoneTest> tests;
  const auto add = [&](std::uint64_t number, std::initializer_list<IozoneTest> list) {
    if (numbers.count(number) != 0) tests.insert(tests.end(), list);
  };
  add(0, {IozoneTest::write, IozoneTest::rewrite});
  add(1, {IozoneTest::read, IozoneTest::reread});
  add(2, {IozoneTest::random_read});
  add(8, {IozoneTest::mixed});
  add(2, {IozoneTest::random_write});
  return tests;
}

void check(const IozoneRun& run, bool threads_given, bool direct) {
  if (!threads_given) bad("only the throughput mode is modelled: add -t N");
  if (run.threads == 0) bad("-t 0: at least one thread");
  if (!direct) bad("buffered I/O is not modelled: add -I");
  if (run.tests.empty()) bad("no test: add -i 0, -i 1, -i 2 or -i 8");
  if (run.file_bytes % run.record_bytes != 0)
    bad(fmt::format("-s {}k is not a whole number of records of -r {}k: make it a multiple",
                    run.file_bytes / kKiB, run.record_bytes / kKiB));
  if (run.record_bytes > 16 * kKiB * kKiB) bad(fmt::format("-r {}k: at most 16m", run.record_bytes / kKiB));
  if (!run.files.empty() && run.files.size() != run.threads)
    bad(fmt::format("-F names {} file(s) for -t {}: name one per thread", run.files.size(), run.threads));
}

fw::JobKind kind_of(IozoneTest test, unsigned thread) {
  switch (test) {
    case IozoneTest::write:
    case IozoneTest::rewrite:
      return fw::JobKind::write;
    case IozoneTest::read:
    case IozoneTest::reread:
      return fw::JobKind::read;
    case IozoneTest::random_read:
      return fw::JobKind::randread;
    case IozoneTest::random_write:
      return fw::JobKind::randwrite;
    case IozoneTest::mixed:
      return thread % 2 == 0 ? fw::JobKind::randread : fw::JobKind::randwrite;
  }
  return fw::JobKind::read;
}

}  // namespace

const char* to_string(IozoneTest t) {
  switch (t) {
    case IozoneTest::write:
      return "initial writers";
    case IozoneTest::rewrite:
      return "rewriters";
    case IozoneTest::read:
      return "readers";
    case IozoneTest::reread:
      return "re-readers";
    case IozoneTest::random_read:
      return "random readers";
    case IozoneTest::mixed:
      return "mixed workload";
    case IozoneTest::random_write:
      return "random writers";
  }
  return "";
}

IozoneRun parse_iozone(const std::vector<std::string>& words) {
  IozoneRun run;
  run.line = fmt::format("iozone {}", fmt::join(words, " "));
  bool threads_given = false, direct = false;
  std::set<std::uint64_t> numbers;
  Words line(words);
  while (const auto letter = line.letter()) {
    switch (*letter) {
      case 't': {
        const std::string v = line.value('t');
        run.threads = static_cast<unsigned>(std::min<std::uint64_t>(number("-t", v, v), 1U << 20));
        threads_given = true;
        break;
      }
      case 's':
        run.file_bytes = size("-s", line.value('s'));
        break;
      case 'r':
        run.record_bytes = size("-r", line.value('r'));
        break;
      case 'i': {
        const std::string v = line.value('i');
        const std::uint64_t n = number("-i", v, v);
        if (n > 2 && n != 8) bad(fmt::format("-i {}: only the tests 0, 1, 2 and 8 are modelled", n));
        numbers.insert(n);
        break;
      }
      case 'I':
        direct = true;
        break;
      case 'e':
        run.flush = true;
        break;
      case 'F':
        run.files = line.list();
        break;
      default:
        bad(fmt::format("unknown option '-{}': the options here are {}", *letter, kLetters));
    }
  }
  run.tests = tests_of(numbers);
  check(run, threads_given, direct);
  return run;
}

void check_iozone(const IozoneRun& run, const IozoneLimits& limits) {
  const std::uint64_t most = limits.jobs / run.tests.size();
  if (run.threads > most) bad(fmt::format("-t {}: at most {} threads with these tests", run.threads, most));
  if (run.file_bytes > limits.device_bytes / run.threads)
    bad(fmt::format("-s {}k times -t {} is more than the device's {} KiB: make the files smaller",
                    run.file_bytes / kKiB, run.threads, limits.device_bytes / kKiB));
  const std::uint64_t record =
      (run.record_bytes + 2 * limits.page_bytes - 1) / limits.page_bytes * limits.page_bytes;
  if (run.threads * run.tests.size() > limits.buffer_bytes / record)
    bad(fmt::format("-r {}k: the buffers of -t {} do not fit in driver.buffer_bytes: make records smaller",
                    run.record_bytes / kKiB, run.threads));
}

void fill_job_table(fw::JobTable& table, const IozoneRun& run, std::uint64_t seed) {
  table.magic = fw::kJobTableMagic;
  table.job_count = 0;
  for (std::size_t phase = 0; phase < run.tests.size(); ++phase)
    for (unsigned thread = 0; thread < run.threads; ++thread) {
      fw::JobDef& d = table.jobs[table.job_count] = fw::JobDef{};
      d.kind = kind_of(run.tests[phase], thread);
      d.block_bytes = static_cast<std::uint32_t>(run.record_bytes);
      d.iodepth = 1;
      d.offset = thread * run.file_bytes;
      d.size = d.io_bytes = run.file_bytes;
      d.seed = (seed << 16) + table.job_count;  // the workload mixes it
      d.phase = static_cast<std::uint32_t>(phase);
      d.stop_together = 1;
      d.end_sync = run.flush;
      ++table.job_count;
    }
}

}  // namespace vp
