#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include <caf/typed_response_promise.hpp>

#include "storage/messages.hpp"

namespace cleat::storage {

/// Questions of one kind with those who asked them.
template <class Question, class Answer>
struct Waiting {
  std::vector<Question> questions;
  std::vector<caf::typed_response_promise<Answer>> promises;

  /// Keeps a question of the message that `self` is handling.
  template <class Self>
  caf::typed_response_promise<Answer> add(Self& self, Question& question) {
    auto promise = self.template make_response_promise<Answer>();
    questions.push_back(std::move(question));
    promises.push_back(promise);
    return promise;
  }

  /// Takes the oldest questions, at most `room`, and lowers `room` by their number.
  Waiting take(std::int64_t& room) {
    const auto count = std::min<std::ptrdiff_t>(std::ssize(questions), room);
    room -= count;
    Waiting taken;
    move_front(questions, taken.questions, count);
    move_front(promises, taken.promises, count);
    return taken;
  }

  /// Answers everybody, with `unavailable` where there are no answers.
  void deliver(std::vector<Answer>& answers) {
    for (std::size_t i = 0; i < promises.size(); ++i)
      promises[i].deliver(i < answers.size() ? std::move(answers[i]) : unavailable());
  }

  /// The answer to whom nothing can be told.
  static Answer unavailable() {
    Answer answer;
    answer.status = ReadStatus::unavailable;
    return answer;
  }

private:
  template <class T>
  static void move_front(std::vector<T>& from, std::vector<T>& to, std::ptrdiff_t count) {
    to.assign(std::move_iterator(from.begin()), std::move_iterator(from.begin() + count));
    from.erase(from.begin(), from.begin() + count);
  }
};

} // namespace cleat::storage
