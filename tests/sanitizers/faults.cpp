/// Makes the fault that its argument names, so that a test sees that the sanitizers of this folder are on.
#include <cstdio>
#include <limits>
#include <string_view>
#include <thread>

namespace {

/// Not known to the compiler, so that it cannot see the faults coming.
volatile int unknown = 4; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

int read_what_is_freed() {
  const auto* const number = new int(unknown);
  delete number;
  return *number;
}

int overflow() {
  return std::numeric_limits<int>::max() + unknown;
}

/// Many, because an address that still lies on the stack is no leak yet.
int leak() {
  int number = 0;
  for (int i = 0; i < 100; ++i)
    number += (new int[16]{})[unknown];
  return number;
}

int race() {
  int number = 0;
  {
    std::jthread one([&number] { number += unknown; });
    std::jthread other([&number] { number += unknown; });
  }
  return number;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view fault = argc > 1 ? argv[1] : "";
  int number = 0;
  if (fault == "freed")
    number = read_what_is_freed();
  else if (fault == "overflow")
    number = overflow();
  else if (fault == "leak")
    number = leak();
  else if (fault == "race")
    number = race();
  std::printf("%d\n", number);
  return 0;
}
