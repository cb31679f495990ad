#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace cleat::load {

/// What was not as it must be. The first few are kept in words, the others counted.
class Findings {
public:
  void wrong(std::string what) {
    constexpr std::size_t kept = 10;
    ++count_;
    if (samples_.size() < kept)
      samples_.push_back(std::move(what));
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] const std::vector<std::string>& samples() const { return samples_; }

private:
  std::uint64_t count_ = 0;
  std::vector<std::string> samples_;
};

} // namespace cleat::load
