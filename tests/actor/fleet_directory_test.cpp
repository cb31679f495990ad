#include <chrono>
#include <string>

#include <caf/event_based_actor.hpp>

#include "protocol/render_fleet.hpp"
#include "tests/actor/container_fixture.hpp"

/// Provisioning around Runners and transcripts, as the directory answers them. Sam acts for the account.
namespace cleat::test {
namespace {

using storage::CommitOutcome;

class FleetDirectory : public ContainerTest {
public:
  DirectoryCommand command(const Principal& actor, DirectoryOperation operation, const std::string& key = {},
                           std::uint8_t fingerprint = 1) {
    return {by(actor, key, fingerprint), std::move(operation)};
  }

  op::PutAccountSecret put_secret() { return {account.id, "API_KEY", SecretBody{"plain text"}}; }

  TranscriptAnswer read(const Principal& actor, const std::string& session_id,
                        const std::optional<Id>& lifetime = std::nullopt, std::int64_t after = 0) {
    auto slot = std::make_shared<std::optional<TranscriptAnswer>>();
    const ReadTranscript question{by(actor), session_id, after, 10, lifetime};
    system.spawn([slot, handle = directory, question](caf::event_based_actor* self) {
      self->request(handle, caf::infinite, question).then([slot](const TranscriptAnswer& answer) { *slot = answer; });
    });
    run();
    if (!*slot)
      throw std::runtime_error("the transcript was not answered");
    return **slot;
  }

  /// Starts an agent that says two lines.
  std::string talking() {
    ask_fleet(start());
    sent = received_one();
    say(sent, started(sent));
    say(sent, wire::Relay{sent.fresh_session_id, {{1, 5, "hello"}, {2, 6, "world"}}});
    received();
    return sent.fresh_session_id;
  }

  /// The agent ends by itself.
  void end() { say(sent, wire::Relay{sent.fresh_session_id, {{3, 7, "", 0}}}); }

  std::vector<AuditEntry> denials() const {
    std::vector<AuditEntry> found;
    for (const AuditEntry& entry : tables->audit())
      if (!entry.allowed)
        found.push_back(entry);
    return found;
  }

  wire::ToRunner sent;
};

TEST_F(FleetDirectory, SealsASecretForItsPlace) {
  const Answer answer = ask(command(world.sam, put_secret(), "key"));
  ASSERT_EQ(status_of(answer), 200);
  const auto row = tables->fleet().secrets.at({account.id, "API_KEY"});
  EXPECT_EQ(answer.result->body, render::secret(row));
  EXPECT_EQ(row.sealed.find("plain"), std::string::npos);
  const MasterKey& key = *deps->options.fleet.master_key;
  EXPECT_EQ(key.open(row.sealed, secret_place(account.id, "API_KEY")), "plain text");
  EXPECT_EQ(key.open(row.sealed, secret_place(account.id, "OTHER")), std::nullopt);
  EXPECT_NE(ask(command(world.sam, op::ListAccountSecrets{account.id})).result->body.find("\"API_KEY\""),
            std::string::npos);
}

TEST_F(FleetDirectory, ASecretsKeyIsKeptWithABlindedFingerprint) {
  ASSERT_EQ(status_of(ask(command(world.sam, put_secret(), "key"))), 200);
  const auto record = tables->find(storage::FindIdempotency{world.sam.id, "key"}).record;
  ASSERT_TRUE(record);
  EXPECT_NE(record->key.fingerprint, by(world.sam, "key").idempotency->fingerprint);
  EXPECT_EQ(record->reply.body.find("plain"), std::string::npos);
  const Answer again = ask(command(world.sam, put_secret(), "key"));
  ASSERT_EQ(status_of(again), 200);
  EXPECT_TRUE(again.result->replay);
  EXPECT_EQ(refusal_of(ask(command(world.sam, put_secret(), "key", 2))).code, Code::idempotency_key_reuse);
}

TEST_F(FleetDirectory, ShowsARunnersTokenOnce) {
  const op::CreateRunnerToken create{runner.id, RunnerTokenBody{"host", std::nullopt}};
  const Answer first = ask(command(world.alex, create, "key"));
  const std::string secret = member(first, "token");
  ASSERT_FALSE(secret.empty());
  EXPECT_EQ(tables->fleet().runner_tokens.begin()->second.digest, sha256(secret));
  const Answer again = ask(command(world.alex, create, "key"));
  EXPECT_TRUE(again.result->replay);
  EXPECT_EQ(member(again, "token"), "");
}

TEST_F(FleetDirectory, ANewContainerJoinsTheEnrolmentInForce) {
  const op::CreateContainer create{ContainerBody{"new", account.id, runner.id}};
  tables->script({{CommitOutcome::stale}});
  ASSERT_EQ(status_of(ask(command(world.alex, create))), 201);
  const auto rows = tables->fleet();
  const auto attempts = rows.attempts_of("new");
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_TRUE(attempts[0].current);
  EXPECT_EQ(attempts[0].enrollment_revision, runner.enrollment_revision);
  EXPECT_EQ(rows.containers.at("new").attempt_id, attempts[0].id);
  EXPECT_EQ(rows.runners.at(runner.id).version, runner.version + 1);
  EXPECT_EQ(refusal_of(ask(command(world.alex, create))), (Refusal{Code::conflict, Reason::name_taken}));
}

TEST_F(FleetDirectory, ShowsALiveSessionToItsActorAlone) {
  const std::string session = talking();
  EXPECT_EQ(member(ask(command(world.sam, op::GetContainer{"box"})), "session_id"), session);
  const Answer by_owner = ask(command(world.alex, op::GetContainer{"box"}));
  EXPECT_EQ(member(by_owner, "state"), "live");
  EXPECT_EQ(member(by_owner, "session_id"), "");
  const op::ListContainers list{PageRange{10, std::nullopt}};
  EXPECT_EQ(member(ask(command(world.sam, list)), "session_id"), session);
  EXPECT_EQ(member(ask(command(world.alex, list)), "session_id"), "");
  EXPECT_EQ(ask(command(world.lotse, list)).result->body, R"({"items":[]})");
}

TEST_F(FleetDirectory, AuditsWhoLooksAtForeignContainers) {
  EXPECT_EQ(refusal_of(ask(command(world.lotse, op::GetContainer{"box"}))).code, Code::not_found);
  ASSERT_EQ(denials().size(), 1U);
  EXPECT_EQ(denials()[0].action, "container.read");
  EXPECT_EQ(denials()[0].resource_id, box.id);
  EXPECT_EQ(refusal_of(ask(command(world.lotse, op::GetContainer{"nothing"}))).code, Code::not_found);
  EXPECT_EQ(denials().size(), 1U) << "what does not exist denies nothing";
}

TEST_F(FleetDirectory, ReadsALiveTranscript) {
  const std::string session = talking();
  const auto answer = read(world.sam, session);
  ASSERT_TRUE(answer.result);
  ASSERT_EQ(answer.result->items.size(), 2U);
  EXPECT_EQ(answer.result->items[0].seq, 1);
  EXPECT_EQ(answer.result->items[0].type, "transcript.line");
  EXPECT_EQ(answer.result->items[0].json, render::transcript_line(tables->fleet().transcript_of(session)[0]));
  EXPECT_EQ(answer.result->next_after, 2);
  EXPECT_FALSE(answer.result->ended);
  EXPECT_TRUE(answer.live);
  EXPECT_EQ(answer.lifetime, live()->operation_id);
  const auto rest = read(world.sam, session, std::nullopt, 2);
  EXPECT_TRUE(rest.result->items.empty());
  EXPECT_EQ(rest.result->next_after, 2);
  EXPECT_FALSE(rest.result->ended);
}

TEST_F(FleetDirectory, ALifetimeThatWasBegunIsReadToItsEnd) {
  const std::string session = talking();
  const Id lifetime = live()->operation_id;
  end();
  EXPECT_EQ(read(world.sam, session).result.error().code, Code::not_found) << "a released session is unknown";
  const auto last = read(world.sam, session, lifetime, 2);
  ASSERT_TRUE(last.result);
  ASSERT_EQ(last.result->items.size(), 1U);
  EXPECT_NE(last.result->items[0].json.find("\"exit_code\":0"), std::string::npos);
  EXPECT_TRUE(last.result->ended);
  EXPECT_FALSE(last.live);
  EXPECT_EQ(read(world.lotse, session, lifetime, 2).result.error().code, Code::not_found);
}

TEST_F(FleetDirectory, AReaderOfAnEarlierLifetimeIsSentAway) {
  const std::string session = talking();
  const Id lifetime = live()->operation_id;
  end();
  received();
  ask_fleet(resume(session));
  const auto again = received();
  ASSERT_FALSE(again.empty());
  say(again.back(), started(again.back()));
  ASSERT_TRUE(live());
  const auto answer = read(world.sam, session, lifetime, 3);
  ASSERT_TRUE(answer.result);
  EXPECT_TRUE(answer.result->ended) << "it comes back for the new lifetime";
  EXPECT_FALSE(read(world.sam, session, std::nullopt, 3).result->ended);
}

TEST_F(FleetDirectory, AForeignTranscriptIsUnknownAndAudited) {
  const std::string session = talking();
  const auto foreign = read(world.lotse, session);
  const auto nothing = read(world.lotse, std::string(64, 'f'));
  EXPECT_EQ(foreign.result.error(), nothing.result.error());
  EXPECT_EQ(foreign.result.error(), Refusal{Code::not_found});
  ASSERT_EQ(denials().size(), 1U);
  EXPECT_EQ(denials()[0].action, "transcript.read");
  EXPECT_EQ(denials()[0].resource_kind, "container");
  EXPECT_EQ(denials()[0].resource_id, box.id);
  EXPECT_EQ(denials()[0].actor_id, world.lotse.id);
  end();
  EXPECT_EQ(read(world.sam, session).result.error(), Refusal{Code::not_found});
  EXPECT_EQ(denials().size(), 1U) << "a session of one's own that is over denies nothing";
}

TEST_F(FleetDirectory, ATranscriptThatCannotBeReadIsNoTranscript) {
  const std::string session = talking();
  tables->set_unavailable(true);
  EXPECT_EQ(read(world.sam, session).result.error(), Refusal{Code::unavailable});
}

class WithoutMasterKey : public ActorTest {};

TEST_F(WithoutMasterKey, SecretsCannotBeKept) {
  const Account account{world.ids.next(), "builds", world.sam.id, clock->now(), 1};
  Decision decision;
  decision.rows.emplace_back(fleet::Write(fleet::InsertAccount{account}));
  ASSERT_EQ(tables->commit(decision), CommitOutcome::committed);
  const op::PutAccountSecret put{account.id, "API_KEY", SecretBody{"plain text"}};
  EXPECT_EQ(refusal_of(ask(DirectoryCommand{by(world.sam), put})), (Refusal{Code::not_ready, Reason::no_master_key}));
  EXPECT_EQ(refusal_of(ask(DirectoryCommand{by(world.sam, "key"), put})).code, Code::not_ready);
  EXPECT_EQ(refusal_of(ask(DirectoryCommand{by(world.lotse), put})).code, Code::not_found);
}

} // namespace
} // namespace cleat::test
