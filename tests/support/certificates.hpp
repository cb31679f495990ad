#pragma once

#include <memory>
#include <string>
#include <vector>

namespace cleat::test {

/// A certificate authority made for one test.
class Authority {
public:
  explicit Authority(const std::string& name);
  ~Authority();

  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  /// Its own certificate as PEM, which clients trust.
  [[nodiscard]] std::string certificate() const;

  /// A certificate and its private key.
  struct Identity {
    std::string certificate; ///< PEM
    std::string key;         ///< PEM
  };

  /// Signs a server's certificate for DNS names and addresses.
  [[nodiscard]] Identity issue(const std::vector<std::string>& names, const std::vector<std::string>& addresses) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace cleat::test
