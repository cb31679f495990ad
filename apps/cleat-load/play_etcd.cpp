#include <array>
#include <string>
#include <utility>

#include "apps/cleat-load/base64.hpp"
#include "apps/cleat-load/plays.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

/// Text as long as what a bind leaves in a row of this kind.
std::string text_of(std::size_t size) {
  return std::string(size, 'x');
}

/// What a bind writes, as four keys of etcd: the place's current session, guarded by the version that this connection
/// expects, an event, an audit entry and an idempotency record. One transaction, durable before it is answered.
class EtcdTransactions final : public Play {
public:
  EtcdTransactions(Stage& stage, std::size_t connection, std::size_t places)
    : stage_(stage),
      prefix_(stage.world.run + "/" + std::to_string(connection) + "/"),
      versions_(places, 0),
      session_(to_base64(text_of(session_bytes))),
      event_(to_base64(text_of(event_bytes))),
      audit_(to_base64(text_of(audit_bytes))) {}

  void next(Request& request) override {
    at_ = (at_ + 1) % versions_.size();
    ++transactions_;
    const std::string place = to_base64(prefix_ + "current/" + std::to_string(at_));
    json::Writer body;
    body.begin_object().key("compare").begin_array().begin_object();
    body.member("key", place).member("target", "VERSION").member("result", "EQUAL");
    body.member("version", versions_[at_]).end_object().end_array();
    body.key("success").begin_array();
    put(body, place, session_);
    put(body, log_key("event/"), event_);
    put(body, log_key("audit/"), audit_);
    put(body, log_key("idempotency/"), session_);
    body.end_array().end_object();
    request.method = "POST";
    request.target = "/v3/kv/txn";
    request.body = body.str();
  }

  Kind check(const Answer& answer) override {
    const JsonObject done = stage_.json.parse(answer);
    const auto responses = done.array("responses");
    if (answer.status != status_ok || done.flag("succeeded") != true || !responses || responses->size() != puts) {
      wrong_answer(stage_, "a transaction that nobody competes with", answer);
      return Kind::transaction;
    }
    constexpr std::int64_t log_keys = 3;
    stage_.tally.keys += log_keys + (versions_[at_] == 0 ? 1 : 0);
    ++stage_.tally.transactions;
    ++versions_[at_];
    return Kind::transaction;
  }

private:
  static constexpr std::size_t puts = 4;
  // Bytes of a bind's row or answer, of its event and of its audit entry.
  static constexpr std::size_t session_bytes = 350;
  static constexpr std::size_t event_bytes = 430;
  static constexpr std::size_t audit_bytes = 170;

  static void put(json::Writer& body, const std::string& key, const std::string& value) {
    body.begin_object().key("request_put").begin_object();
    body.member("key", key).member("value", value).end_object().end_object();
  }

  [[nodiscard]] std::string log_key(std::string_view kind) const {
    return to_base64(prefix_ + std::string(kind) + std::to_string(transactions_));
  }

  Stage& stage_;
  std::string prefix_;
  /// How often each of its places was written.
  std::vector<std::int64_t> versions_;
  std::size_t at_ = 0;
  std::uint64_t transactions_ = 0;
  std::string session_;
  std::string event_;
  std::string audit_;
};

} // namespace

std::unique_ptr<Play> make_etcd(Stage& stage, std::size_t connection, std::size_t places) {
  return std::make_unique<EtcdTransactions>(stage, connection, places);
}

} // namespace cleat::load
