// The program's entry: SystemC owns main() and calls sc_main with the command line.
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <systemc>

#include "platform/run_fio.hpp"

namespace {
/// The SystemC library prints a banner before sc_main unless told otherwise; an error here is one line.
[[maybe_unused]] const int kNoBanner = ::setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 0);
}  // namespace

int sc_main(int argc, char* argv[]) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  const std::vector<std::string> args(argv + 1, argv + argc);
  const vp::Streams streams{std::cout, std::cerr, ::isatty(STDERR_FILENO) != 0};
  return vp::run_program(args, vp::make_machine, vp::ConfigSource::embedded(), streams);
}
