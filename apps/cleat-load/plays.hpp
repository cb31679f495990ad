#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apps/cleat-load/play.hpp"

/// The plays that `make_plays` hands out, each made in a file of its own.
namespace cleat::load {

inline constexpr int status_ok = 200;
inline constexpr int status_created = 201;
inline constexpr int status_conflict = 409;

/// Says in the findings that `answer` is not what it must be.
void wrong_answer(Stage& stage, std::string_view what, const Answer& answer);

/// Binds new references on threads of its own.
std::unique_ptr<Play> make_distinct(Stage& stage, std::size_t connection, std::vector<std::string> threads);

/// Moves one reference over threads of its own.
std::unique_ptr<Play> make_takeover(Stage& stage, std::size_t connection, std::vector<std::string> threads);

/// Binds on the contested thread.
std::unique_ptr<Play> make_contended(Stage& stage, std::size_t connection);

/// Binds and resets on threads of its own.
std::unique_ptr<Play> make_reset(Stage& stage, std::size_t connection, std::vector<std::string> threads);

/// Reports other models for runs of its own.
std::unique_ptr<Play> make_report(Stage& stage, std::size_t connection, std::vector<ReportedRun> runs);

/// Starts and stops agents in containers of its own.
std::unique_ptr<Play> make_start(Stage& stage, std::size_t connection, std::vector<std::string> containers);

/// Puts four keys into an etcd in one transaction.
std::unique_ptr<Play> make_etcd(Stage& stage, std::size_t connection, std::size_t places);

} // namespace cleat::load
