#include "apps/cleat-load/play.hpp"

#include <array>
#include <utility>

#include "apps/cleat-load/plays.hpp"

namespace cleat::load {
namespace {

/// Lists threads with a history.
class Lists final : public Play {
public:
  Lists(Stage& stage, std::size_t first) : stage_(stage), at_(first % stage.world.listed.size()) {}

  void next(Request& request) override {
    at_ = (at_ + 1) % stage_.world.listed.size();
    request.method = "GET";
    request.target = "/v1/threads/" + stage_.world.listed[at_] + "/agent-sessions";
    request.token = stage_.world.human_token;
  }

  Kind check(const Answer& answer) override {
    std::string& known = stage_.lists[at_];
    if (answer.status == status_ok && !known.empty() && answer.body == known)
      return Kind::list;
    if (answer.status != status_ok || !known.empty() || !is_history(answer))
      wrong_answer(stage_, "the list of a thread that nobody changes", answer);
    known = answer.body;
    return Kind::list;
  }

private:
  /// All sessions of the thread, newest first (spec 03 section 3).
  bool is_history(const Answer& answer) {
    const auto items = stage_.json.parse(answer).array("items");
    if (!items || items->size() != sessions_of_a_listed_thread)
      return false;
    std::string_view newer = "~"; // sorts behind every time
    for (simdjson::dom::element element : *items) {
      const JsonObject session(element);
      const std::string_view created = session.text("created_at");
      if (session.text("thread_id") != stage_.world.listed[at_] || session.flag("is_current") != false ||
          session.text("end_reason") != "import" || created >= newer)
        return false;
      newer = created;
    }
    return true;
  }

  Stage& stage_;
  std::size_t at_;
};

/// Asks for what costs the server nothing but HTTP.
class Noop final : public Play {
public:
  explicit Noop(Stage& stage) : stage_(stage) {}

  void next(Request& request) override { request.target = "/healthz"; }

  Kind check(const Answer& answer) override {
    if (answer.status != status_ok)
      stage_.findings.wrong("/healthz was answered " + std::to_string(answer.status));
    return Kind::noop;
  }

private:
  Stage& stage_;
};

/// Every `connections`-th one, so that no two connections share one.
template <class T>
std::vector<T> share_of(const std::vector<T>& all, std::size_t connection, std::size_t connections) {
  std::vector<T> share;
  for (std::size_t i = connection; i < all.size(); i += connections)
    share.push_back(all[i]);
  return share;
}

std::vector<std::string> containers_of(const World& world) {
  std::vector<std::string> containers;
  for (const RunnerEntry& runner : world.runners)
    containers.insert(containers.end(), runner.containers.begin(), runner.containers.end());
  return containers;
}

std::unique_ptr<Play> make_play(Scenario scenario, Stage& stage, std::size_t connection, std::size_t connections) {
  constexpr std::array mix{Scenario::distinct, Scenario::contended, Scenario::takeover, Scenario::report,
                           Scenario::list};
  constexpr std::size_t places_in_etcd = 10; // as many as a connection has threads by default
  const auto threads = [&] { return share_of(stage.world.threads, connection, connections); };
  switch (scenario) {
    case Scenario::distinct:
      return make_distinct(stage, connection, threads());
    case Scenario::contended:
      return make_contended(stage, connection);
    case Scenario::takeover:
      return make_takeover(stage, connection, threads());
    case Scenario::reset:
      return make_reset(stage, connection, threads());
    case Scenario::report:
      return make_report(stage, connection, share_of(stage.world.reported, connection, connections));
    case Scenario::list:
      return std::make_unique<Lists>(stage, connection);
    case Scenario::mixed:
      return make_play(mix.at(connection % mix.size()), stage, connection, connections);
    case Scenario::starts:
      return make_start(stage, connection, share_of(containers_of(stage.world), connection, connections));
    case Scenario::etcd:
      return make_etcd(stage, connection, places_in_etcd);
    case Scenario::noop:
      break;
  }
  return std::make_unique<Noop>(stage);
}

} // namespace

void wrong_answer(Stage& stage, std::string_view what, const Answer& answer) {
  stage.findings.wrong(std::string(what) + " was answered " + std::to_string(answer.status) + " " +
                       std::string(answer.body));
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::bind:
      return "bind";
    case Kind::take_over:
      return "take-over";
    case Kind::refusal:
      return "bind, refused";
    case Kind::list:
      return "list";
    case Kind::reset:
      return "reset";
    case Kind::report:
      return "report";
    case Kind::heartbeat:
      return "heartbeat";
    case Kind::start:
      return "start";
    case Kind::stop:
      return "stop";
    case Kind::transaction:
      return "transaction";
    case Kind::noop:
      break;
  }
  return "no-op";
}

void Contest::won(const std::string& expected, std::string_view made, Findings& findings) {
  if (++rounds_[expected].won > 1)
    findings.wrong("two binds with the same expectation were both answered 201");
  expectation_ = made;
}

void Contest::settle(Findings& findings) const {
  for (const auto& [expected, round] : rounds_)
    if (round.won == 0)
      findings.wrong(std::to_string(round.refused) + " binds were refused although nobody had replaced the session " +
                     "that they expected");
}

std::vector<std::unique_ptr<Play>> make_plays(Scenario scenario, Stage& stage, std::size_t connections) {
  stage.lists.resize(stage.world.listed.size());
  std::vector<std::unique_ptr<Play>> plays;
  for (std::size_t i = 0; i < connections; ++i)
    plays.push_back(make_play(scenario, stage, i, connections));
  return plays;
}

} // namespace cleat::load
