#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/fleet.hpp"
#include "protocol/json_writer.hpp"
#include "protocol/pages.hpp"

/// Accounts, Runners, containers and the sessions in them as JSON (spec 05 "Shapes"). An absent value is an absent
/// member; nothing here ever writes a secret's value or its sealed form.
namespace cleat::render {

/// The answer to a start: where its operation stands, with the handle that is shown this once.
std::string start(const Operation& row, std::string_view retry_handle);
/// What a handle tells: `in_flight`, or how it came out.
std::string operation(const Operation& row);
/// The answer to a stop.
std::string stopped(std::string_view session_id);
/// The answer to an input: its place in the transcript.
std::string input_accepted(std::string_view session_id, std::int64_t seq);
std::string orphan(const Orphan& row);
std::string transcript_line(const TranscriptLine& row);

/// Resources of provisioning, each as it is shown alone.
std::string account(const Account& row);
std::string runner(const RunnerRow& row);
/// With the secret only in the answer to its creation.
std::string runner_token(const RunnerToken& row, std::string_view secret = {});
/// A container as `viewer` is shown it: the id of its live session is for the account's actor alone.
std::string container(const ContainerRow& row, const std::optional<Id>& viewer);
/// A secret's name, and when it was put.
std::string secret(const AccountSecret& row);

/// The rows of lists; `render::page` puts them together.
namespace fleet_rows {
void write(json::Writer& out, const Account& row);
void write(json::Writer& out, const AccountSecret& row);
void write(json::Writer& out, const RunnerRow& row);
void write(json::Writer& out, const RunnerToken& row);
void write(json::Writer& out, const Orphan& row);
void write_container(json::Writer& out, const ContainerRow& row, const std::optional<Id>& viewer);
} // namespace fleet_rows

} // namespace cleat::render
