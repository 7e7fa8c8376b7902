// dd's operands and its last lines, as GNU coreutils has them.
#include "models/core/params.hpp"
#include "platform/dd_options.hpp"
#include "platform/dd_report.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

constexpr std::uint64_t kDevice = 4ull << 30;

fw::OsConfig places() {
  fw::OsConfig os{};
  os.file_start = 512 << 20;
  os.file_bytes = 100'000'001;
  os.partition_start = 4 << 20;
  os.filesystem = 2;
  return os;
}

std::string error_of(const std::vector<std::string>& args) {
  try {
    dd_copy(parse_dd(args), kDevice, places());
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

fw::CopyDef copy_of(const std::vector<std::string>& args) {
  return dd_copy(parse_dd(args), kDevice, places());
}

std::string text_of(std::uint64_t bytes, std::uint64_t ns, const std::vector<std::string>& more = {}) {
  std::vector<std::string> args = {"if=/dev/zero", "of=f", "bs=1M", "count=500"};
  args.insert(args.end(), more.begin(), more.end());
  return dd_text(parse_dd(args), {bytes >> 20, 0, bytes >> 20, 0, bytes, ns});
}

}  // namespace

TEST_CASE("the study's command line is a synchronous write of new file blocks") {
  const fw::CopyDef c = copy_of({"if=/dev/zero", "of=somefile", "bs=1M", "count=500", "oflag=sync"});
  CHECK((c.active == 1 && c.ibs == 1 << 20 && c.obs == 1 << 20 && c.bytes == 500ull << 20));
  CHECK((c.in.kind == fw::FileDef::none && c.out.kind == fw::FileDef::file));
  CHECK((c.out.sync == 2 && c.out.direct == 0 && c.out.size == 0 && c.out.start == 512ull << 20));
  CHECK(c.out.filesystem == 2);
}

TEST_CASE("names are zeros, nothing, device nodes, partitions and files") {
  fw::CopyDef c = copy_of({"if=1GB.img", "of=/dev/null"});
  CHECK((c.in.kind == fw::FileDef::file && c.out.kind == fw::FileDef::none));
  CHECK((c.ibs == 512 && c.obs == 512 && c.bytes == 100'000'001));
  c = copy_of({"if=/dev/mmcblk0", "of=/dev/null", "count=1"});
  CHECK((c.in.kind == fw::FileDef::device && c.in.start == 0 && c.in.size == kDevice));
  c = copy_of({"if=/dev/zero", "of=/dev/mmcblk1p2", "bs=1M", "count=100"});
  CHECK((c.out.kind == fw::FileDef::device && c.out.start == 4 << 20 && c.out.size == kDevice - (4 << 20)));
  c = copy_of({"if=a", "of=b"});
  CHECK(c.out.start == 637'534'208);  // 536870912 + 100000001 = 607.4 MiB, up to 608 MiB
}

TEST_CASE("sizes have dd's suffixes and products, and B counts bytes") {
  CHECK(dd_number("1K", "bs") == 1024);
  CHECK(dd_number("3kB", "bs") == 3000);
  CHECK(dd_number("2MB", "bs") == 2'000'000);
  CHECK(dd_number("2M", "bs") == 2 << 20);
  CHECK(dd_number("1GiB", "bs") == 1 << 30);
  CHECK(dd_number("3b", "bs") == 1536);
  CHECK(dd_number("5w", "bs") == 10);
  CHECK(dd_number("2x4Kx3", "bs") == 24576);
  fw::CopyDef c = copy_of({"if=/dev/mmcblk0", "of=/dev/null", "bs=4k", "count=3", "skip=2"});
  CHECK((c.bytes == 12288 && c.in.offset == 8192));
  c = copy_of({"if=/dev/mmcblk0", "of=/dev/null", "bs=4k", "count=5000B", "skip=100B"});
  CHECK((c.bytes == 5000 && c.in.offset == 100));
  c = copy_of({"if=/dev/mmcblk0", "of=/dev/null", "bs=4k", "count=5000", "iflag=count_bytes"});
  CHECK(c.bytes == 5000);
  c = copy_of({"if=/dev/zero", "of=f", "ibs=1k", "obs=4k", "count=8", "seek=3", "conv=notrunc,fsync"});
  CHECK((c.ibs == 1024 && c.obs == 4096 && c.out.offset == 12288 && c.out.size == 100'000'001 &&
         c.final_sync == 2));
}

TEST_CASE("flags and conversions reach the copy") {
  fw::CopyDef c = copy_of({"if=/dev/mmcblk0", "of=f", "bs=4k", "count=1", "iflag=direct,fullblock",
                           "oflag=dsync", "conv=fdatasync"});
  CHECK((c.in.direct == 1 && c.out.direct == 0 && c.out.sync == 1 && c.final_sync == 1));
  CHECK(parse_dd({"if=a", "of=b", "status=none"}).status == DdStatus::none);
}

TEST_CASE("bad operands are one line that says what and how to mend") {
  CHECK(error_of({"if=/dev/zero", "of=f", "cuont=5"}) ==
        "dd: unrecognized operand 'cuont=5': did you mean 'count='?");
  CHECK(error_of({"of=f", "count=5"}).find("dd: there is no standard input here") == 0);
  CHECK(error_of({"if=/dev/zero", "count=5"}).find("dd: there is no standard output") == 0);
  CHECK(error_of({"if=/dev/zero", "of=f"}) == "dd: if=/dev/zero: never ends: give count=");
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "bs=1Q"}).find("dd: bs=1Q: invalid number '1Q'") == 0);
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "bs=0"}).find("dd: bs=0: invalid number '0'") == 0);
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "bs="}) == "dd: bs: needs a value: write bs=…");
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "oflag=snyc"}).find("did you mean 'sync'") !=
        std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "conv=sparse"}).find("not in this version yet") !=
        std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "conv=fsnyc"}).find("did you mean 'fsync'") !=
        std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "count=1", "status=quiet"}).find("invalid status level") !=
        std::string::npos);
  CHECK(error_of({"if=/dev/sda", "of=/dev/null"}).find("dd: if=/dev/sda: no such device here") == 0);
  CHECK(error_of({"if=/dev/mmcblk0px", "of=/dev/null"}).find("no such device here") != std::string::npos);
  CHECK(error_of({"if=f", "of=f"}).find("is the input file too") != std::string::npos);
  CHECK(error_of({"if=f", "of=/dev/null", "skip=1G"}).find("cannot skip to byte") != std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "bs=1M", "count=4000"}).find("no space left on device") !=
        std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "bs=1000", "count=1", "oflag=direct"})
            .find("not a multiple of the 512-byte block") != std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "bs=1x99999999999999999999", "count=1"}).find("invalid number") !=
        std::string::npos);
  CHECK(error_of({"if=/dev/zero", "of=f", "bs=1M", "count=99999999999999999"}).find("too large") !=
        std::string::npos);
}

// The lines below are GNU coreutils' own for these amounts.
TEST_CASE("the last lines are dd's own") {
  CHECK(text_of(524'288'000, 5'400'000'000) ==
        "500+0 records in\n500+0 records out\n524288000 bytes (524 MB, 500 MiB) copied, 5.4 s, 97.1 MB/s\n");
  CHECK(text_of(1'048'576'000, 3'912'249'000)
            .find("1048576000 bytes (1.0 GB, 1000 MiB) copied, 3.91225 s, 268 MB/s\n") != std::string::npos);
  CHECK(text_of(512, 1'230'000).find("512 bytes copied, 0.00123 s, 416 kB/s\n") != std::string::npos);
  CHECK(text_of(1000, 1'000'000'000).find("1000 bytes (1.0 kB) copied, 1 s, 1.0 kB/s\n") !=
        std::string::npos);
  CHECK(text_of(1, 2'000'000'000).find("1 byte copied, 2 s, 0 B/s\n") != std::string::npos);
  CHECK(text_of(512, 0).find("512 bytes copied, 0 s, Infinity B/s\n") != std::string::npos);
  CHECK(text_of(1 << 20, 1'000'000, {"status=noxfer"}) == "1+0 records in\n1+0 records out\n");
  CHECK(text_of(1 << 20, 1'000'000, {"status=none"}).empty());
}

TEST_CASE("amounts round halves to even and carry into the next prefix") {
  CHECK(dd_amount(999'499, 1, 1, false) == "999 kB");
  CHECK(dd_amount(999'500, 1, 1, false) == "1.0 MB");    // 999.5 -> 1000 (even)
  CHECK(dd_amount(1'050'000, 1, 1, false) == "1.0 MB");  // 1.05 -> 1.0 (even)
  CHECK(dd_amount(1'150'000, 1, 1, false) == "1.2 MB");
  CHECK(dd_amount(9'960'000, 1, 1, false) == "10 MB");
  CHECK(dd_amount(1536, 1, 1, true) == "1.5 KiB");
  CHECK(dd_amount(2'296'521'564, 1, 1, false) == "2.3 GB");
  CHECK(dd_amount(2'296'521'564, 1, 1, true) == "2.1 GiB");
  CHECK(dd_amount(2'296'521'564, 1'000'000'000, 37'124'446'000, false) == "61.9 MB");
}

TEST_CASE("JSON has dd's numbers and what a sweep reads") {
  const DdRun run = parse_dd({"if=/dev/zero", "of=f", "bs=1M", "count=2"});
  const Json j = dd_json(run, {2, 0, 2, 0, 2 << 20, 1'000'000'000});
  CHECK(j["dd"]["records_out"]["full"] == 2);
  CHECK(j["dd"]["bytes_per_second"] == 2097152.0);
  CHECK(j["jobs"][0]["write"]["total_ios"] == 2);
  CHECK(j["jobs"][0]["read"]["total_ios"] == 0);
}
