#include "apps/cleat-load/setup.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace cleat::load {
namespace {

constexpr int success_class = 2;
constexpr int statuses_of_a_class = 100;

/// A number of requests, spread over all connections.
class Batch final : public Traffic {
public:
  Batch(std::size_t count, const Setup::Fill& fill, const Setup::Take& take)
    : count_(count), fill_(fill), take_(take) {}

  bool next(std::size_t connection, Request& request) override {
    if (started_ == count_)
      return false;
    if (at_.size() <= connection)
      at_.resize(connection + 1);
    at_[connection] = started_++;
    request = {};
    fill_(at_[connection], request);
    return true;
  }

  void answered(std::size_t connection, const Answer& answer, std::chrono::nanoseconds) override {
    if (answer.status / statuses_of_a_class != success_class)
      throw std::runtime_error("The server refused to make a world to work in: " + std::to_string(answer.status) + " " +
                               std::string(answer.body));
    take_(at_[connection], json_.parse(answer));
  }

private:
  std::size_t count_;
  const Setup::Fill& fill_;
  const Setup::Take& take_;
  std::size_t started_ = 0;
  std::vector<std::size_t> at_;
  AnswerJson json_;
};

/// The owner's token, without which there is nothing to work with.
const std::string& token_of(const Target& target) {
  if (target.owner_token.empty())
    throw std::runtime_error("A world to work in is made with the owner's token: give --token-file FILE.");
  return target.owner_token;
}

} // namespace

Setup::Setup(const Target& target, std::string run, std::size_t connections, std::chrono::seconds patience)
  : token_(token_of(target)), run_(std::move(run)), connections_(target.address, connections, patience) {}

void Setup::each(std::size_t count, const Fill& fill, const Take& take) {
  Batch batch(count, fill, take);
  connections_.play(batch);
}

std::string Setup::one(std::string_view method, const std::string& target, const json::Writer& body,
                       std::string_view member) {
  std::string value;
  each(
    1, [&](std::size_t, Request& request) { write(request, method, target, body.str()); },
    [&](std::size_t, const JsonObject& answer) { value = answer.text(member); });
  return value;
}

void Setup::write(Request& request, std::string_view method, std::string target, std::string body) {
  request.method = method;
  request.target = std::move(target);
  request.body = std::move(body);
  request.token = token_;
  request.idempotency_key = run_ + "-make-" + std::to_string(++writes_);
}

} // namespace cleat::load
