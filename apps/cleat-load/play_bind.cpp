#include <utility>

#include "apps/cleat-load/plays.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

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

  void next(Request& request) override {
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
    sign(request);
  }

  Kind check(const Answer& answer) override {
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
    wrong_answer(stage_, "a bind that nobody competes with", answer);
    return Kind::refusal;
  }

  [[nodiscard]] Stage& stage() { return stage_; }

  /// Whose request it is, and a key that no other has.
  void sign(Request& request) {
    request.token = stage_.world.human_token;
    request.idempotency_key = prefix_ + std::to_string(++writes_);
  }

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

/// Binds new references on threads of its own, and resets each of them in between.
class Resets final : public Binding {
public:
  Resets(Stage& stage, std::size_t connection, std::vector<std::string> threads)
    : Binding(stage, connection), threads_(std::move(threads)) {}

  void next(Request& request) override {
    if (current_.empty())
      return Binding::next(request);
    json::Writer body;
    body.begin_object().member("expected_current_session_id", current_).end_object();
    request.method = "POST";
    request.target = "/v1/threads/" + threads_[at_] + "/agent-sessions/reset";
    request.body = body.str();
    sign(request);
  }

  Kind check(const Answer& answer) override {
    if (current_.empty())
      return Binding::check(answer);
    const JsonObject session = stage().json.parse(answer);
    const bool right = answer.status == status_created && session.text("id") == current_ &&
                       session.text("thread_id") == threads_[at_] && session.flag("is_current") == false &&
                       session.text("end_reason") == "reset" && session.has("ended_at") &&
                       session.number("version") == 2 && answer.etag == "\"2\"";
    if (!right)
      wrong_answer(stage(), "a reset that nobody competes with", answer);
    if (answer.status == status_created)
      ++stage().tally.resets;
    current_.clear();
    at_ = (at_ + 1) % threads_.size();
    return Kind::reset;
  }

private:
  void choose(SentBind& bind) override { bind = {threads_[at_], new_reference(), {}, false}; }

  void bound(const SentBind&, std::string_view id) override { current_ = id; }

  std::vector<std::string> threads_;
  std::size_t at_ = 0;
  /// The session that the thread has now; empty when it has none.
  std::string current_;
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
      wrong_answer(stage(), "a bind that lost", answer);
    stage().contest.refused(bind.expected);
    return Kind::refusal;
  }
};

} // namespace

std::unique_ptr<Play> make_distinct(Stage& stage, std::size_t connection, std::vector<std::string> threads) {
  return std::make_unique<Distinct>(stage, connection, std::move(threads));
}

std::unique_ptr<Play> make_takeover(Stage& stage, std::size_t connection, std::vector<std::string> threads) {
  return std::make_unique<TakeOver>(stage, connection, std::move(threads));
}

std::unique_ptr<Play> make_contended(Stage& stage, std::size_t connection) {
  return std::make_unique<Contended>(stage, connection);
}

std::unique_ptr<Play> make_reset(Stage& stage, std::size_t connection, std::vector<std::string> threads) {
  return std::make_unique<Resets>(stage, connection, std::move(threads));
}

} // namespace cleat::load
