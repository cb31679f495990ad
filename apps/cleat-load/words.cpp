#include "apps/cleat-load/words.hpp"

#include <iomanip>
#include <sstream>

namespace cleat::load {
namespace {

std::string decimal(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
  return out.str();
}

} // namespace

std::string grouped(std::int64_t number) {
  constexpr std::size_t group = 3;
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool behind_a_digit = i > 0 && digits[i - 1] != '-';
    if (behind_a_digit && (digits.size() - i) % group == 0)
      text += ',';
    text += digits[i];
  }
  return text;
}

std::string short_time(std::chrono::microseconds time) {
  constexpr std::int64_t milli = 1000;
  constexpr std::int64_t second = 1000 * milli;
  const auto micros = time.count();
  if (micros < milli)
    return std::to_string(micros) + " us";
  const bool millis = micros < second;
  const double value = static_cast<double>(micros) / static_cast<double>(millis ? milli : second);
  constexpr double long_enough = 100;
  constexpr double rather_long = 10;
  return decimal(value, value >= long_enough ? 0 : value >= rather_long ? 1 : 2) + (millis ? " ms" : " s");
}

std::string ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "-" : decimal(static_cast<double>(part) / static_cast<double>(whole), 2);
}

} // namespace cleat::load
