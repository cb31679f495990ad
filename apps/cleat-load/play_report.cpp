#include <chrono>
#include <string>
#include <utility>

#include "apps/cleat-load/plays.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

/// The agent of runs that are active all the time: it reports another model for one after the other, each report under
/// the version that the last answer gave, and keeps their leases.
class Reports final : public Play {
public:
  Reports(Stage& stage, std::size_t connection, std::vector<ReportedRun> runs)
    : stage_(stage), prefix_(stage.world.run + "-" + std::to_string(connection) + "-report-") {
    for (auto& run : runs)
      places_.push_back({std::move(run), 1, Clock::now()});
  }

  void next(Request& request) override {
    at_ = (at_ + 1) % places_.size();
    Place& place = places_[at_];
    const auto now = Clock::now();
    beats_ = now - place.beaten > between_heartbeats;
    request.method = "POST";
    request.token = stage_.world.agent_token;
    if (beats_) {
      place.beaten = now;
      request.target = "/v1/runs/" + place.run.run + "/heartbeat";
      request.body = "{}";
      request.idempotency_key.clear();
      request.if_match = 0;
      return;
    }
    model_ = "load-model-" + std::to_string(++reports_);
    json::Writer body;
    body.begin_object().member("model", model_).end_object();
    request.target = "/v1/threads/" + place.run.thread + "/agent-sessions/report";
    request.body = body.str();
    request.idempotency_key = prefix_ + std::to_string(reports_);
    request.if_match = place.version;
  }

  Kind check(const Answer& answer) override {
    Place& place = places_[at_];
    const JsonObject object = stage_.json.parse(answer);
    if (beats_) {
      if (answer.status != status_ok || object.text("id") != place.run.run || object.text("state") != "running")
        wrong_answer(stage_, "the heartbeat of a run", answer);
      return Kind::heartbeat;
    }
    ++place.version;
    const bool right = answer.status == status_ok && object.text("id") == place.run.session &&
                       object.text("thread_id") == place.run.thread && object.text("agent_id") == stage_.world.agent &&
                       object.text("external_session_ref") == place.run.reference && object.text("model") == model_ &&
                       object.flag("is_current") == true && object.number("version") == place.version &&
                       answer.etag == "\"" + std::to_string(place.version) + "\"";
    if (!right)
      wrong_answer(stage_, "a report that nobody competes with", answer);
    if (answer.status == status_ok)
      ++stage_.tally.reports;
    return Kind::report;
  }

private:
  /// A lease lasts a minute unless the server is told otherwise (spec 03 section 10).
  static constexpr std::chrono::seconds between_heartbeats{15};

  struct Place {
    ReportedRun run;
    std::int64_t version;
    Clock::time_point beaten;
  };

  Stage& stage_;
  std::string prefix_;
  std::vector<Place> places_;
  std::size_t at_ = 0;
  std::uint64_t reports_ = 0;
  /// What was sent last: a heartbeat, or a report with this model.
  bool beats_ = false;
  std::string model_;
};

} // namespace

std::unique_ptr<Play> make_report(Stage& stage, std::size_t connection, std::vector<ReportedRun> runs) {
  return std::make_unique<Reports>(stage, connection, std::move(runs));
}

} // namespace cleat::load
