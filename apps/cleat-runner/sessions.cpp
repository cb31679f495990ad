/// What happens while an agent runs: its lines, its input, its secrets (spec 04 section 7).
#include <algorithm>
#include <utility>

#include "apps/cleat-runner/crash_points.hpp"
#include "apps/cleat-runner/runner.hpp"
#include "base/log.hpp"

namespace cleat::runner {

void Runner::on_said(const OperationKey& key, std::vector<std::string> lines) {
  Container* const container = living(key);
  if (container == nullptr)
    return;
  said_ = true;
  for (auto& line : lines)
    relays_.said(key, std::move(line), std::nullopt, clock_.now());
  if (container->phase == Container::Phase::live)
    container->life->agent->hold(relays_.is_full(key));
}

void Runner::on_relay_done(const wire::ToRunner& message, const wire::RelayDone& done) {
  const OperationKey key{message.operation_id, message.container_attempt_id};
  relays_.acknowledged(key, done.through, std::chrono::steady_clock::now());
  crash_point(CrashPoint::after_relay_done);
  Container* const container = living(key);
  if (container != nullptr && container->life->agent)
    container->life->agent->hold(container->phase == Container::Phase::live && relays_.is_full(key));
}

void Runner::on_input(const wire::ToRunner& message, const wire::Input& input) {
  const OperationKey key{message.operation_id, message.container_attempt_id};
  Container* const container = living(key);
  if (container == nullptr || container->phase != Container::Phase::live ||
      container->life->row.session_id != input.session_id)
    return; // its end is told by the relay
  auto& life = *container->life;
  if (input.seq <= life.row.input_through) {
    if (input.seq <= life.input_written)
      on_input_done(key, life.input_written);
    return;
  }
  if (life.input_missed && input.seq != *life.input_missed)
    return;
  if (life.agent && !life.agent->takes(input.line.size())) {
    // The server sends it again, and those that follow it after it.
    life.input_missed = input.seq;
    return;
  }
  life.input_missed.reset();
  life.row.input_through = input.seq;
  put(life.row);
  then([this, key, input] { write_input(key, input.seq, input.line); });
}

void Runner::write_input(const OperationKey& key, std::int64_t seq, const std::string& line) {
  crash_point(CrashPoint::after_journal_input);
  Container* const container = living(key);
  if (container == nullptr)
    return;
  if (container->life->agent)
    container->life->agent->write(seq, line);
  else
    on_input_done(key, seq);
}

void Runner::on_input_done(const OperationKey& key, std::int64_t through) {
  Container* const container = living(key);
  if (container == nullptr)
    return;
  auto& life = *container->life;
  life.input_written = std::max(life.input_written, through);
  crash_point(CrashPoint::after_input);
  say(life.row, ids_.next(clock_.now()).str(), wire::InputDone{life.row.session_id, life.input_written});
}

void Runner::on_secret_asked(const OperationKey& key, std::uint64_t connection, const std::string& name) {
  Container* const container = living(key);
  if (container == nullptr)
    return;
  container->life->secret_requests[connection] = name;
  ask_for_secrets(*container->life);
}

void Runner::ask_for_secrets(Lifetime& life) {
  // The server knows of the agent once it has been told of its start; what is asked before that waits.
  if (!life.told || !link_.enrolled() || !life.secrets)
    return;
  std::erase_if(life.secret_requests, [&](const auto& request) { return !life.secrets->waits(request.first); });
  for (const auto& [connection, name] : life.secret_requests) {
    const auto is_asked =
      std::any_of(secret_asks_.begin(), secret_asks_.end(), [&, number = connection](const auto& ask) {
        return ask.second.key == life.row.key && ask.second.connection == number;
      });
    if (is_asked)
      continue;
    const auto request_id = ids_.next(clock_.now()).str();
    secret_asks_[request_id] = {life.row.key, connection};
    say(life.row, request_id, wire::AskSecret{life.row.session_id, name});
  }
}

void Runner::on_secret(const wire::ToRunner& message, const wire::SecretAnswer& answer) {
  const auto found = secret_asks_.find(message.request_id);
  if (found == secret_asks_.end())
    return;
  const auto ask = found->second;
  secret_asks_.erase(found);
  Container* const container = living(ask.key);
  if (container == nullptr || !container->life->secrets)
    return;
  container->life->secret_requests.erase(ask.connection);
  container->life->secrets->answer(ask.connection, answer.found, answer.value);
}

} // namespace cleat::runner
