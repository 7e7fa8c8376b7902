// Every test executable's entry: the SystemC library owns main() and calls sc_main.
#define CATCH_CONFIG_RUNNER
#include <systemc>

#include "sc_tests/catch.hpp"

int sc_main(int argc, char* argv[]) {
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  return Catch::Session().run(argc, argv);
}
