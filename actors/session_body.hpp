#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/answering.hpp"
#include "actors/dependencies.hpp"
#include "protocol/render_fleet.hpp"
#include "protocol/runner_messages.hpp"

/// The session body of a resume: the transcript of the session as lines of JSON, in parts that fit into frames
/// (spec 04 section 5).
namespace cleat::actors {

/// Collects the newest lines that fit into `runner.max_body_bytes`, a page after the other, and hands the parts over.
/// What does not fit is left out from the beginning, which the first line then says.
template <class Self>
class BodyReader : public std::enable_shared_from_this<BodyReader<Self>> {
public:
  using Parts = std::vector<wire::ToRunner>;

  BodyReader(Self* self, DependenciesPtr deps, Operation operation, std::function<void(Parts)> then)
    : self_(self), deps_(std::move(deps)), operation_(std::move(operation)), then_(std::move(then)) {}

  void read() {
    storage::FindTranscript question;
    question.session_id = operation_.subject();
    question.after = after_;
    question.limit = page;
    self_->request(deps_->store.log_reader, caf::infinite, question)
      .then([reader = this->shared_from_this()](const storage::TranscriptFound& found) { reader->on_page(found); },
            // Without a body nothing is sent: the operation stays in flight, and the Runner will be asked about it.
            [](const caf::error&) {});
  }

private:
  static constexpr std::int64_t page = 1000;
  /// Parts leave room for the rest of their envelope, whatever `runner.max_frame_bytes` allows.
  static constexpr std::size_t part_bytes = 64 << 10;

  void on_page(const storage::TranscriptFound& found) {
    if (found.status != storage::ReadStatus::ok)
      return;
    for (const TranscriptLine& line : found.lines)
      keep(line);
    if (std::ssize(found.lines) == page)
      return read();
    then_(parts());
  }

  void keep(const TranscriptLine& line) {
    after_ = line.seq;
    lines_.push_back(render::transcript_line(line) + "\n");
    bytes_ += std::ssize(lines_.back());
    while (bytes_ > deps_->options.fleet.max_body_bytes && !lines_.empty()) {
      bytes_ -= std::ssize(lines_.front());
      lines_.pop_front();
      ++left_out_;
    }
  }

  Parts parts() {
    if (left_out_ > 0)
      lines_.push_front("{\"left_out\":" + std::to_string(left_out_) + "}\n");
    std::string body;
    for (const std::string& line : lines_)
      body += line;
    Parts made;
    for (std::size_t begin = 0; begin < body.size(); begin += part_bytes) {
      wire::ToRunner message;
      message.request_id = deps_->ids->next(deps_->clock->now()).str();
      message.operation_id = operation_.id.str();
      message.container_attempt_id = operation_.container_attempt_id.str();
      message.dispatch = operation_.dispatch;
      message.command = wire::BodyPart{std::ssize(made), body.substr(begin, part_bytes)};
      made.push_back(std::move(message));
    }
    return made;
  }

  Self* self_;
  DependenciesPtr deps_;
  Operation operation_;
  std::function<void(Parts)> then_;
  std::deque<std::string> lines_;
  std::int64_t bytes_ = 0;
  std::int64_t after_ = 0;
  std::int64_t left_out_ = 0;
};

/// Reads the body of a resume and hands its parts to `then`, in the actor's own time.
template <class Self, class Then>
void send_with_body(Self* self, const DependenciesPtr& deps, const Operation& operation, Then then) {
  std::make_shared<BodyReader<Self>>(self, deps, operation, std::move(then))->read();
}

} // namespace cleat::actors
