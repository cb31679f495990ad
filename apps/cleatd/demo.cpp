#include "apps/cleatd/demo.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <caf/actor_system.hpp>
#include <simdjson.h>

#include "apps/cleatd/ask.hpp"
#include "base/encoding.hpp"
#include "base/log.hpp"

namespace cleat::cleatd {
namespace {

constexpr const char* tokens_file = "demo.tokens";
/// The token of the Runner that docs/examples/demo.sh starts.
constexpr const char* runner_token_file = "demo.runner.token";
/// Titles and ids of the threads to try things on, the first one first; exists once the world is complete.
constexpr const char* complete_file = "demo.threads";

std::string text_of(const Reply& reply, std::string_view member) {
  simdjson::dom::parser parser;
  std::string_view text;
  if (parser.parse(reply.body)[member].get(text) != simdjson::SUCCESS)
    throw std::runtime_error("The demo world cannot be made: an answer has no member " + std::string(member) + ".");
  return std::string(text);
}

Id id_of(const Reply& reply, std::string_view member = "id") {
  return Id::parse(text_of(reply, member)).value();
}

/// Asks as one principal, as a client of the HTTP surface would.
class Caller {
public:
  Caller(caf::scoped_actor& self, const actors::Frontends& frontends, Principal principal)
    : self_(self), frontends_(frontends), principal_(std::make_shared<const Principal>(std::move(principal))) {}

  /// Writes once: `key` names the step, and the second time gives the answer of the first.
  Reply once(const std::string& key, DirectoryOperation operation) {
    return granted(ask<Answer>(self_, frontends_.directory, DirectoryCommand{context(key), std::move(operation)}));
  }

  Reply bind(const std::string& key, const Id& thread, const std::string& reference) {
    return granted(
      ask<Answer>(self_, frontends_.registry, BindSession{context(key), thread, BindBody{reference, std::nullopt}}));
  }

  Reply reset(const std::string& key, const Id& thread) {
    return granted(ask<Answer>(self_, frontends_.registry, ResetSession{context(key), thread, ResetBody{}}));
  }

  Reply import_sessions(const std::string& key, const Id& thread, std::vector<ImportItem> items) {
    return granted(
      ask<Answer>(self_, frontends_.registry, ImportSessions{context(key), thread, ImportBody{std::move(items)}}));
  }

  /// A new token of a principal. Its secret is shown this once and kept in no record, so it has no key.
  std::string new_token(const Id& of) {
    const op::CreateToken operation{of, TokenBody{"demo", std::nullopt}};
    const auto answer = ask<Answer>(self_, frontends_.directory, DirectoryCommand{context({}), operation});
    return text_of(granted(answer), "token");
  }

  /// A new token of a Runner, likewise.
  std::string new_runner_token(const Id& of) {
    const op::CreateRunnerToken operation{of, RunnerTokenBody{"demo", std::nullopt}};
    const auto answer = ask<Answer>(self_, frontends_.directory, DirectoryCommand{context({}), operation});
    return text_of(granted(answer), "token");
  }

  /// Whether the principal can see the thread.
  bool sees(const Id& thread) {
    const auto answer = ask<Answer>(self_, frontends_.directory, DirectoryCommand{context({}), op::GetThread{thread}});
    return answer.result.has_value();
  }

private:
  [[nodiscard]] RequestContext context(const std::string& key) const {
    RequestContext context{principal_, "demo", std::nullopt, std::nullopt};
    if (!key.empty())
      context.idempotency = IdempotencyKey{principal_->id, "demo " + key, sha256("demo " + key)};
    return context;
  }

  static Reply granted(const Answer& answer) {
    if (answer.result)
      return *answer.result;
    throw std::runtime_error("The demo world cannot be made: " +
                             std::string(problem_info(answer.result.error().code).detail));
  }

  caf::scoped_actor& self_;
  const actors::Frontends& frontends_;
  const std::shared_ptr<const Principal> principal_;
};

/// Who is in the demo world.
struct People {
  Principal alex;
  Principal sam;
  Principal robin;
  Id lotse;
  Id builder;
};

Principal make_human(Caller& owner, const std::string& name) {
  const auto reply = owner.once(name, op::CreatePrincipal{PrincipalBody{PrincipalKind::human, name, std::nullopt}});
  Principal human;
  human.id = id_of(reply);
  human.name = name;
  return human;
}

Id make_agent(Caller& owner, const std::string& name, ToolClass tools) {
  AgentPatch agent;
  agent.tool_class = tools;
  return id_of(owner.once(name, op::CreatePrincipal{PrincipalBody{PrincipalKind::agent, name, agent}}));
}

People make_people(Caller& owner) {
  return {make_human(owner, "Alex"), make_human(owner, "Sam"), make_human(owner, "Robin"),
          make_agent(owner, "Lotse", ToolClass::container), make_agent(owner, "Builder", ToolClass::host)};
}

/// Where things happen in the demo world.
struct Places {
  Id space;
  Id support;
  Id engineering;
  Id welcome;
  Id invoices;
  Id archive;
  Id release;
};

Id make_thread(Caller& owner, const Id& channel, const std::string& title) {
  return id_of(owner.once(title, op::CreateThread{channel, ThreadBody{title, std::nullopt}}));
}

Places make_places(Caller& owner, const People& people) {
  Places places;
  places.space = id_of(owner.once("Example", op::CreateSpace{SpaceBody{"Example"}}));
  places.support = id_of(
    owner.once("Support", op::CreateChannel{places.space, ChannelBody{"Support", people.lotse, ChannelMode::open}}));
  places.engineering = id_of(owner.once(
    "Engineering", op::CreateChannel{places.space, ChannelBody{"Engineering", people.builder, ChannelMode::open}}));
  places.welcome = make_thread(owner, places.support, "Welcome");
  places.invoices = make_thread(owner, places.support, "Invoices");
  places.archive = make_thread(owner, places.support, "Archive");
  places.release = make_thread(owner, places.engineering, "Release");
  return places;
}

/// Alex works everywhere, Sam reads along in Support, Robin manages Engineering and does not see Support. None of
/// them can invoke Builder, whose host tools belong to the space's owner.
void grant_rights(Caller& owner, const People& people, const Places& places) {
  owner.once("grant Alex", op::PutGrant{ScopeKind::space, places.space, people.alex.id, GrantBody{Level::trigger}});
  owner.once("grant Sam", op::PutGrant{ScopeKind::channel, places.support, people.sam.id, GrantBody{Level::read}});
  owner.once("grant Robin",
             op::PutGrant{ScopeKind::channel, places.engineering, people.robin.id, GrantBody{Level::manage}});
}

ImportItem earlier_session(const Id& agent, const std::string& reference, const std::string& from,
                           const std::string& to, std::int64_t cost_micros) {
  ImportItem item;
  item.agent_id = agent;
  item.external_session_ref = reference;
  item.model = "example-model";
  item.cost_baseline_micros = cost_micros;
  item.created_at = parse_rfc3339(from).value();
  item.ended_at = parse_rfc3339(to).value();
  return item;
}

/// Welcome gets two imported sessions and one that was bound and reset, Archive an imported one that its first run will
/// be bound to; the other threads have a current one.
void make_history(Caller& owner, Caller& alex, const People& people, const Places& places) {
  owner.import_sessions(
    "import", places.welcome,
    {earlier_session(people.lotse, "lotse-welcome-1", "2026-01-12T09:00:00Z", "2026-01-12T09:40:00Z", 120'000),
     earlier_session(people.lotse, "lotse-welcome-2", "2026-01-13T14:10:00Z", "2026-01-13T15:00:00Z", 85'000)});
  owner.import_sessions(
    "import Archive", places.archive,
    {earlier_session(people.lotse, "lotse-archive-1", "2025-11-03T08:00:00Z", "2025-11-03T08:30:00Z", 40'000)});
  alex.bind("bind Welcome", places.welcome, "lotse-welcome-3");
  alex.reset("reset Welcome", places.welcome);
  alex.bind("bind Invoices", places.invoices, "lotse-invoices-1");
  owner.bind("bind Release", places.release, "builder-release-1");
}

/// An account that Alex acts for, with a container under a Runner of the demo. Gives the Runner's token.
std::string make_workshop(Caller& owner, const People& people) {
  const Id account = id_of(owner.once("account", op::CreateAccount{NameBody{"Workshop"}}));
  owner.once("subscriber", op::PutSubscriber{account, SubscriberBody{people.alex.id}});
  const Id runner = id_of(owner.once("runner", op::CreateRunner{NameBody{"demo-runner"}}));
  owner.once("container", op::CreateContainer{ContainerBody{"workshop", account, runner}});
  return owner.new_runner_token(runner);
}

std::string make_tokens(Caller& owner, const People& people) {
  std::string text;
  for (const auto* person : {&people.alex, &people.sam, &people.robin})
    text += person->name + " " + owner.new_token(person->id) + "\n";
  text += "Lotse " + owner.new_token(people.lotse) + "\n";
  return text;
}

std::string thread_lines(const Places& places) {
  return "Welcome " + places.welcome.str() + "\nInvoices " + places.invoices.str() + "\nArchive " +
         places.archive.str() + "\nRelease " + places.release.str() + "\n";
}

/// The id in the first of those lines.
std::optional<Id> first_thread(const std::string& lines) {
  const auto line = lines.substr(0, lines.find('\n'));
  const auto space = line.find(' ');
  return space == std::string::npos ? std::nullopt : Id::parse(line.substr(space + 1));
}

/// The thread of a world that is complete in this database.
std::optional<Id> complete_world(Caller& owner, const storage::DataFolder& folder) {
  const auto text = folder.read(complete_file);
  const auto thread = text ? first_thread(*text) : std::nullopt;
  if (!thread || !folder.read(tokens_file) || !folder.read(runner_token_file) || !owner.sees(*thread))
    return std::nullopt;
  return thread;
}

} // namespace

Demo make_demo(caf::actor_system& system, const actors::Frontends& frontends, const storage::DataFolder& folder,
               const Owner& owner) {
  if (!owner.principal)
    throw std::runtime_error(
      "--demo acts as the owner of the database, whose token is not in the data folder. Put it into " +
      (folder.path() / "owner.token").string() + ", or start without --demo.");
  caf::scoped_actor self(system);
  Caller as_owner(self, frontends, *owner.principal);
  if (const auto thread = complete_world(as_owner, folder))
    return {thread->str()};
  log::get().info("making the demo world");
  const auto people = make_people(as_owner);
  const auto places = make_places(as_owner, people);
  grant_rights(as_owner, people, places);
  Caller as_alex(self, frontends, people.alex);
  make_history(as_owner, as_alex, people, places);
  folder.write(runner_token_file, make_workshop(as_owner, people) + "\n");
  folder.write(tokens_file, make_tokens(as_owner, people));
  folder.write(complete_file, thread_lines(places));
  return {places.welcome.str()};
}

} // namespace cleat::cleatd
