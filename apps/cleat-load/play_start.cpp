#include <algorithm>
#include <string>
#include <utility>

#include "apps/cleat-load/plays.hpp"
#include "protocol/json_writer.hpp"

namespace cleat::load {
namespace {

/// Whether this is an id as the server mints it: 64 lower-case hexadecimal digits.
bool is_minted(std::string_view id) {
  constexpr std::size_t digits = 64;
  return id.size() == digits &&
         std::ranges::all_of(id, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Fresh starts in one container after the other, each answered when the agent is promoted. A container that comes
/// round again is stopped first, so that nearly all of them are live at any time.
class Starts final : public Play {
public:
  Starts(Stage& stage, std::size_t connection, std::vector<std::string> containers)
    : stage_(stage), prefix_(stage.world.run + "-" + std::to_string(connection) + "-start-") {
    for (auto& container : containers)
      places_.push_back({std::move(container), {}});
  }

  void next(Request& request) override {
    const Place& place = places_[at_];
    request.method = "POST";
    request.body = "{}";
    request.token = stage_.world.human_token;
    request.idempotency_key = prefix_ + std::to_string(++writes_);
    if (place.session.empty()) {
      request.target = "/v1/containers/" + place.container + "/agent-sessions";
      request.prefer = "wait=20";
    } else {
      request.target = "/v1/agent-sessions/" + place.session + "/stop";
      request.prefer = {};
    }
  }

  Kind check(const Answer& answer) override {
    return places_[at_].session.empty() ? check_start(answer) : check_stop(answer);
  }

private:
  struct Place {
    std::string container;
    /// The live session; empty when there is none.
    std::string session;
  };

  Kind check_start(const Answer& answer) {
    const JsonObject started = stage_.json.parse(answer);
    const std::string id(started.text("session_id"));
    if (answer.status != status_created || started.text("state") != "promoted" || !is_minted(id) ||
        started.text("retry_handle").empty())
      wrong_answer(stage_, "a start in a container of its own", answer);
    else if (!stage_.minted.insert(id).second)
      wrong_answer(stage_, "a start got the session id of another one:", answer);
    if (answer.status == status_created)
      ++stage_.tally.starts;
    places_[at_].session = id;
    at_ = (at_ + 1) % places_.size();
    return Kind::start;
  }

  Kind check_stop(const Answer& answer) {
    const JsonObject stopped = stage_.json.parse(answer);
    if (answer.status != status_ok || stopped.text("session_id") != places_[at_].session ||
        stopped.text("state") != "released")
      wrong_answer(stage_, "the stop of a session that is live", answer);
    if (answer.status == status_ok)
      ++stage_.tally.stops;
    // Whatever it was answered, the next request begins anew here: a session that goes on refuses it and is found.
    places_[at_].session.clear();
    return Kind::stop;
  }

  Stage& stage_;
  std::string prefix_;
  std::vector<Place> places_;
  std::size_t at_ = 0;
  std::uint64_t writes_ = 0;
};

} // namespace

std::unique_ptr<Play> make_start(Stage& stage, std::size_t connection, std::vector<std::string> containers) {
  return std::make_unique<Starts>(stage, connection, std::move(containers));
}

} // namespace cleat::load
