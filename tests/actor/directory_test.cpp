#include <string>

#include "tests/actor/fixture.hpp"

namespace cleat::test {
namespace {

using storage::CommitOutcome;

class Directory : public ActorTest {
public:
  DirectoryCommand command(const Principal& actor, DirectoryOperation operation, const std::string& key = {}) {
    return {by(actor, key), std::move(operation)};
  }
};

TEST_F(Directory, CreatesWhatItAnswers) {
  const Answer answer = ask(command(world.alex, op::CreateSpace{SpaceBody{"Second"}}));
  ASSERT_EQ(status_of(answer), 201);
  EXPECT_NE(answer.result->body.find("\"Second\""), std::string::npos);
  const Answer list = ask(command(world.alex, op::ListSpaces{PageRange{10, std::nullopt}}));
  EXPECT_NE(list.result->body.find("\"Second\""), std::string::npos);
}

TEST_F(Directory, DecidesAgainWhenAGuardWasStale) {
  tables->script({{CommitOutcome::stale}});
  EXPECT_EQ(status_of(ask(command(world.alex, op::UpdateChannel{world.channel.id, ChannelPatch{"New name", {}, {}}}))),
            200);
}

TEST_F(Directory, AnswersAWriteThatChangesNothingUnderItsKeyTheSameForEver) {
  const op::UpdateChannel nothing{world.channel.id, ChannelPatch{}};
  const Answer first = ask(command(world.alex, nothing, "key"));
  ASSERT_EQ(status_of(first), 200);
  ASSERT_EQ(status_of(ask(command(world.alex, op::UpdateChannel{world.channel.id, ChannelPatch{"New name", {}, {}}}))),
            200);
  const Answer again = ask(command(world.alex, nothing, "key"));
  EXPECT_EQ(again.result->body, first.result->body);
  EXPECT_TRUE(again.result->replay);
}

TEST_F(Directory, ShowsATokenOnce) {
  const op::CreateToken create{world.sam.id, TokenBody{"laptop", std::nullopt}};
  const Answer first = ask(command(world.alex, create, "key"));
  ASSERT_EQ(status_of(first), 201);
  EXPECT_NE(first.result->body.find("\"token\":"), std::string::npos);
  const Answer again = ask(command(world.alex, create, "key"));
  ASSERT_EQ(status_of(again), 201);
  EXPECT_TRUE(again.result->replay);
  EXPECT_EQ(again.result->body.find("\"token\":"), std::string::npos);
}

TEST_F(Directory, AuditsDenialsAndCountsEqualOnes) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(refusal_of(ask(command(world.sam, op::GetSpace{world.space.id}))).code, Code::not_found);
  EXPECT_EQ(refusal_of(ask(command(world.sam, op::CreateSpace{SpaceBody{"Mine"}}))).reason, Reason::owner_required);
  std::int64_t counted = 0;
  for (const AuditEntry& entry : tables->audit()) {
    EXPECT_FALSE(entry.allowed);
    counted += entry.count;
  }
  EXPECT_EQ(tables->audit().size(), 2U);
  EXPECT_EQ(counted, 4);
}

TEST_F(Directory, ListsTheHistoryOfAThread) {
  ASSERT_EQ(status_of(ask(bind(world.alex, world.threads[0], "ref-1"))), 201);
  const Answer list = ask(ListSessions{by(world.alex), world.threads[0].id});
  ASSERT_EQ(status_of(list), 200);
  EXPECT_NE(list.result->body.find("\"ref-1\""), std::string::npos);
  EXPECT_EQ(ask(ListSessions{by(world.alex), world.threads[1].id}).result->body, R"({"items":[]})");
  EXPECT_EQ(refusal_of(ask(ListSessions{by(world.sam), world.threads[0].id})).code, Code::not_found);
  EXPECT_EQ(refusal_of(ask(ListSessions{by(world.alex), world.ids.next()})).code, Code::not_found);
  EXPECT_EQ(tables->audit().size(), 2U) << "the bind and one denial: a list that is granted leaves no trace";
}

TEST_F(Directory, SaysThatTheDatabaseIsAway) {
  tables->set_unavailable(true);
  EXPECT_EQ(refusal_of(ask(command(world.alex, op::GetSpace{world.space.id}))).code, Code::unavailable);
  EXPECT_EQ(refusal_of(ask(ListSessions{by(world.alex), world.threads[0].id})).code, Code::unavailable);
}

} // namespace
} // namespace cleat::test
