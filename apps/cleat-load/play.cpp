#include "apps/cleat-load/play.hpp"

#include <array>
#include <utility>

#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

constexpr int status_ok = 200;
constexpr int status_created = 201;
constexpr int status_conflict = 409;

/// A bind as it is sent, for comparison with its answer.
struct SentBind {
  std::string thread;
  std::string reference;
  std::string expected;
  bool take_over = false;
};

/// What all plays that bind have in common.
class Binding : public Play {
public:
  Binding(Stage& stage, std::size_t connection)
    : stage_(stage), prefix_(stage.world.run + "-" + std::to_string(connection) + "-") {}

  void next(Request& request) final {
    choose(sent_);
    json::Writer body;
    body.begin_object().member("external_session_ref", sent_.reference);
    if (!sent_.expected.empty())
      body.member("expected_current_session_id", sent_.expected);
    if (sent_.take_over)
      body.member("take_over", true);
    body.end_object();
    request.method = "POST";
    request.target = "/v1/threads/" + sent_.thread + "/agent-sessions/bind";
    request.body = body.str();
    request.token = stage_.world.human_token;
    request.idempotency_key = prefix_ + std::to_string(++writes_);
  }

  Kind check(const Answer& answer) final {
    if (answer.status != status_created)
      return refused(answer, sent_);
    const JsonObject session = stage_.json.parse(answer);
    check_session(answer, session);
    ++stage_.tally.binds;
    stage_.tally.ended += (sent_.expected.empty() ? 0 : 1) + (sent_.take_over ? 1 : 0);
    bound(sent_, session.text("id"));
    return sent_.take_over ? Kind::take_over : Kind::bind;
  }

protected:
  /// Fills in the next bind.
  virtual void choose(SentBind& bind) = 0;

  /// It was answered 201 with the session `id`.
  virtual void bound(const SentBind& bind, std::string_view id) = 0;

  /// It was answered otherwise, which is wrong unless a play says differently.
  virtual Kind refused(const Answer& answer, const SentBind&) {
    stage_.findings.wrong("a bind that nobody competes with was answered " + std::to_string(answer.status) + " " +
                          std::string(answer.body));
    return Kind::refusal;
  }

  [[nodiscard]] Stage& stage() { return stage_; }

  /// A reference that nobody has used.
  [[nodiscard]] std::string new_reference() { return prefix_ + "r" + std::to_string(++references_); }

private:
  void check_session(const Answer& answer, const JsonObject& session) {
    const std::string_view id = session.text("id");
    const bool right = !id.empty() && id != sent_.expected && session.text("thread_id") == sent_.thread &&
                       session.text("agent_id") == stage_.world.agent &&
                       session.text("external_session_ref") == sent_.reference && session.flag("is_current") == true &&
                       session.flag("started") == true && session.number("version") == 1 && !session.has("ended_at") &&
                       !session.has("end_reason") && answer.etag == "\"1\"";
    if (!right)
      stage_.findings.wrong("a bind was answered with another session than it asked for: " + std::string(answer.body));
  }

  Stage& stage_;
  std::string prefix_;
  SentBind sent_;
  std::uint64_t writes_ = 0;
  std::uint64_t references_ = 0;
};

/// New references on threads of its own.
class Distinct final : public Binding {
public:
  Distinct(Stage& stage, std::size_t connection, std::vector<std::string> threads) : Binding(stage, connection) {
    for (auto& thread : threads)
      places_.push_back({std::move(thread), {}});
  }

private:
  struct Place {
    std::string thread;
    std::string current;
  };

  void choose(SentBind& bind) override {
    at_ = (at_ + 1) % places_.size();
    bind = {places_[at_].thread, new_reference(), places_[at_].current, false};
  }

  void bound(const SentBind&, std::string_view id) override { places_[at_].current = id; }

  std::vector<Place> places_;
  std::size_t at_ = 0;
};

/// One reference of its own that wanders over its threads.
class TakeOver final : public Binding {
public:
  TakeOver(Stage& stage, std::size_t connection, std::vector<std::string> threads)
    : Binding(stage, connection), threads_(std::move(threads)), reference_(new_reference()) {}

private:
  void choose(SentBind& bind) override {
    // The thread it comes to was left without a session when the reference left it a round ago.
    bind = {threads_[at_], reference_, {}, placed_};
  }

  void bound(const SentBind&, std::string_view) override {
    at_ = (at_ + 1) % threads_.size();
    placed_ = true;
  }

  std::vector<std::string> threads_;
  std::string reference_;
  std::size_t at_ = 0;
  bool placed_ = false;
};

/// New references on the one thread that everybody binds on.
class Contended final : public Binding {
public:
  using Binding::Binding;

private:
  void choose(SentBind& bind) override {
    bind = {stage().world.contested, new_reference(), stage().contest.expectation(), false};
  }

  void bound(const SentBind& bind, std::string_view id) override {
    stage().contest.won(bind.expected, id, stage().findings);
  }

  Kind refused(const Answer& answer, const SentBind& bind) override {
    const JsonObject problem = stage().json.parse(answer);
    if (answer.status != status_conflict || problem.text("code") != "conflict" ||
        problem.text("reason") != "session_changed")
      stage().findings.wrong("a bind that lost was answered " + std::to_string(answer.status) + " " +
                             std::string(answer.body));
    stage().contest.refused(bind.expected);
    return Kind::refusal;
  }
};

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
      stage_.findings.wrong("the list of a thread that nobody changes was answered " + std::to_string(answer.status) +
                            " " + std::string(answer.body));
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
      const JsonObject session(std::move(element));
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

/// Every `connections`-th thread, so that no two connections share one.
std::vector<std::string> threads_of(const World& world, std::size_t connection, std::size_t connections) {
  std::vector<std::string> threads;
  for (std::size_t i = connection; i < world.threads.size(); i += connections)
    threads.push_back(world.threads[i]);
  return threads;
}

std::unique_ptr<Play> make_play(Scenario scenario, Stage& stage, std::size_t connection, std::size_t connections) {
  constexpr std::array mix{Scenario::distinct, Scenario::contended, Scenario::takeover, Scenario::list};
  switch (scenario) {
    case Scenario::distinct:
      return std::make_unique<Distinct>(stage, connection, threads_of(stage.world, connection, connections));
    case Scenario::contended:
      return std::make_unique<Contended>(stage, connection);
    case Scenario::takeover:
      return std::make_unique<TakeOver>(stage, connection, threads_of(stage.world, connection, connections));
    case Scenario::list:
      return std::make_unique<Lists>(stage, connection);
    case Scenario::mixed:
      return make_play(mix.at(connection % mix.size()), stage, connection, connections);
    case Scenario::noop:
      break;
  }
  return std::make_unique<Noop>(stage);
}

} // namespace

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
