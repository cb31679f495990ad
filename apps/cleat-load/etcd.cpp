#include "apps/cleat-load/etcd.hpp"

#include <charconv>
#include <stdexcept>
#include <string>

#include "apps/cleat-load/base64.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

/// One question: how many keys begin with a prefix.
class KeyCount final : public Traffic {
public:
  explicit KeyCount(const std::string& prefix) {
    std::string end = prefix;
    ++end.back(); // the first text that does not begin with it
    json::Writer body;
    body.begin_object().member("key", to_base64(prefix)).member("range_end", to_base64(end));
    body.member("count_only", true).end_object();
    body_ = body.str();
  }

  bool next(std::size_t, Request& request) override {
    request.method = "POST";
    request.target = "/v3/kv/range";
    request.body = body_;
    return !std::exchange(asked_, true);
  }

  void answered(std::size_t, const Answer& answer, std::chrono::nanoseconds) override {
    constexpr int ok = 200;
    if (answer.status != ok)
      throw std::runtime_error("etcd does not count its keys: " + std::string(answer.body));
    // Its gateway writes 64-bit numbers as text, and leaves out a zero.
    const std::string_view text = json_.parse(answer).text("count");
    std::from_chars(text.data(), text.data() + text.size(), count_);
  }

  [[nodiscard]] std::int64_t count() const { return count_; }

private:
  std::string body_;
  bool asked_ = false;
  std::int64_t count_ = 0;
  AnswerJson json_;
};

} // namespace

std::vector<Comparison> compare_with_etcd(const Address& address, const World& world, const Tally& tally,
                                          std::chrono::seconds patience) {
  KeyCount keys(world.run + "/");
  Connections(address, 1, patience).play(keys);
  return {{"keys", tally.keys, keys.count()}};
}

} // namespace cleat::load
