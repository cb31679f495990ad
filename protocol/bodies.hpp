#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/problem.hpp"
#include "protocol/commands.hpp"
#include "protocol/session_commands.hpp"

/// Request bodies and query parameters, from bytes to typed values or a refusal with pointers (spec 05).
namespace cleat::bodies {

/// One function an operation. Each refuses with `malformed_json` or `validation_failed`; the types of what they
/// return stand in `commands.hpp`.
Result<ResetBody> reset(std::string_view body);
Result<BindBody> bind(std::string_view body, std::size_t session_ref_max_bytes);
Result<ImportBody> import_sessions(std::string_view body, std::size_t session_ref_max_bytes, std::size_t max_items);

/// The bodies of runs and of reports (spec 03 sections 7, 8 and 10). A failed binding needs the reference that takes
/// its place; a code and a detail belong to a run that failed.
Result<TriggerBody> trigger(std::string_view body, std::size_t message_max_bytes);
Result<StartBody> start(std::string_view body, std::size_t session_ref_max_bytes);
Result<FinishBody> finish(std::string_view body);
Result<PostBody> post(std::string_view body, std::size_t message_max_bytes);
Result<ReportBody> report(std::string_view body, std::size_t session_ref_max_bytes);

/// The bodies of provisioning. In a patch every member is optional, and an absent one keeps its value.
Result<SpaceBody> space(std::string_view body);
Result<SpacePatch> space_patch(std::string_view body);
Result<ChannelBody> channel(std::string_view body);
Result<ChannelPatch> channel_patch(std::string_view body);
Result<ThreadBody> thread(std::string_view body);
Result<ThreadPatch> thread_patch(std::string_view body);
Result<PrincipalBody> principal(std::string_view body);
Result<PrincipalPatch> principal_patch(std::string_view body);
Result<TokenBody> token(std::string_view body);
Result<GrantBody> grant(std::string_view body);
/// The bodies of accounts, Runners and containers. `named` is what makes an account or a Runner.
Result<NameBody> named(std::string_view body);
Result<SubscriberBody> subscriber(std::string_view body);
Result<SecretBody> secret(std::string_view body, std::size_t max_bytes);
Result<RunnerTokenBody> runner_token(std::string_view body);
Result<ContainerBody> container(std::string_view body);

/// The bodies around sessions in containers. One that holds what only the server mints is `invalid_argument`, ahead of
/// everything else that is wrong with it (spec 04 section 3). A session to resume that no session can be called like
/// is `not_found`; a handle is taken as it is, because an unknown one is the owner's to refuse.
Result<StartSessionBody> start_session(std::string_view body);
Result<HandleBody> lookup(std::string_view body, std::int64_t wait_max_s);
Result<HandleBody> retry(std::string_view body);
Result<std::monostate> stop_session(std::string_view body);
Result<InputBody> input(std::string_view body, std::size_t max_bytes);

/// A body of an operation that takes none: absent or `{}`.
Result<std::monostate> empty(std::string_view body);

/// `limit` and `cursor` of a list; absent parameters are `nullopt`. A limit that is no number between 1 and 200 is
/// `validation_failed` with the pointer `/limit`; a cursor that no page gave is `invalid_cursor`.
Result<PageRange> page_range(const std::optional<std::string>& limit, const std::optional<std::string>& cursor);

} // namespace cleat::bodies
