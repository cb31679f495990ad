// What the first start makes, over the memory twin: the owner and, when asked for, the demo world.
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/send.hpp>
#include <gmock/gmock.h>
#include <unistd.h>

#include "actors/directory.hpp"
#include "actors/registry.hpp"
#include "apps/cleatd/demo.hpp"
#include "apps/cleatd/owner.hpp"
#include "storage/memory.hpp"

namespace cleat::cleatd {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class FirstStartTest : public testing::Test {
protected:
  FirstStartTest()
    : system_(
        config_.add_message_types<caf::id_block::cleat_storage>().add_message_types<caf::id_block::cleat_actors>()) {
    std::string name = (std::filesystem::temp_directory_path() / "cleat-first-start-XXXXXX").string();
    folder_path_ = mkdtemp(name.data());
    folder_ = std::make_unique<storage::DataFolder>(folder_path_);
    use(std::make_shared<storage::MemoryTables>());
  }

  ~FirstStartTest() override {
    end_actors();
    std::filesystem::remove_all(folder_path_);
  }

  /// Goes on with these tables, as a new process on that database would.
  void use(std::shared_ptr<storage::MemoryTables> tables) {
    end_actors();
    tables_ = std::move(tables);
    auto deps = std::make_shared<actors::Dependencies>();
    deps->store = storage::open_memory(system_, tables_);
    deps->clock = clock_;
    deps->ids = ids_;
    deps->metrics = std::make_shared<Metrics>();
    frontends_ = {
      actors::spawn_registry(system_, deps), actors::spawn_directory(system_, deps), {}, deps->store, {}, {}};
  }

  void end_actors() {
    if (!frontends_.registry)
      return;
    caf::anon_send_exit(frontends_.registry, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(frontends_.directory, caf::exit_reason::user_shutdown);
    caf::anon_send_exit(frontends_.store.writer, caf::exit_reason::user_shutdown);
    frontends_ = {};
  }

  Owner owner(const storage::DataFolder& folder, const std::filesystem::path& given = {}) {
    return make_owner(system_, frontends_.store, folder, given, *ids_, *clock_);
  }

  Demo demo(const Owner& owner) { return make_demo(system_, frontends_, *folder_, owner); }

  [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_path_ / name) << text;
    return folder_path_ / name;
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
  std::shared_ptr<SystemClock> clock_ = std::make_shared<SystemClock>();
  std::shared_ptr<RandomIdSource> ids_ = std::make_shared<RandomIdSource>();
  std::shared_ptr<storage::MemoryTables> tables_;
  actors::Frontends frontends_;
  std::filesystem::path folder_path_;
  std::unique_ptr<storage::DataFolder> folder_;
};

TEST_F(FirstStartTest, TheOwnerOfAnEmptyDatabaseIsMadeOnce) {
  const auto first = owner(*folder_);
  ASSERT_TRUE(first.principal.has_value());
  EXPECT_TRUE(first.principal->instance_owner);
  EXPECT_EQ(first.token_file, folder_->path() / "owner.token");
  const auto text = folder_->read("owner.token");
  const auto second = owner(*folder_);
  EXPECT_EQ(second.principal, first.principal);
  EXPECT_EQ(folder_->read("owner.token"), text);
}

TEST_F(FirstStartTest, ATokenWhoseStartWasCutOffIsOfferedAgain) {
  folder_->write("owner.token", std::string(43, 'a') + "\n");
  const auto made = owner(*folder_);
  ASSERT_TRUE(made.principal.has_value());
  EXPECT_EQ(folder_->read("owner.token"), std::string(43, 'a') + "\n");
}

TEST_F(FirstStartTest, TheSecondNodeOfADatabaseKeepsNoFile) {
  owner(*folder_);
  const storage::DataFolder other(folder_path_ / "other");
  const auto second = owner(other);
  EXPECT_FALSE(second.principal.has_value());
  EXPECT_TRUE(second.token_file.empty());
  EXPECT_EQ(other.read("owner.token"), std::nullopt);
}

TEST_F(FirstStartTest, ATokenOfAnotherDatabaseIsLeftAlone) {
  owner(*folder_);
  const storage::DataFolder other(folder_path_ / "other");
  other.write("owner.token", std::string(43, 'b'));
  EXPECT_FALSE(owner(other).principal.has_value());
  EXPECT_EQ(other.read("owner.token"), std::string(43, 'b'));
}

TEST_F(FirstStartTest, TheOwnersTokenMayBeBrought) {
  const auto given = write("given", "  " + std::string(32, 'c') + "\n");
  const auto made = owner(*folder_, given);
  ASSERT_TRUE(made.principal.has_value());
  EXPECT_EQ(made.token_file, given);
  EXPECT_EQ(folder_->read("owner.token"), std::nullopt);
}

TEST_F(FirstStartTest, ATokenThatIsNoneIsRefused) {
  for (const auto* text : {"", "short", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa aaaaaaaa", "\n"}) {
    const auto given = write("given", text);
    EXPECT_THAT([&] { owner(*folder_, given); }, ThrowsMessage<std::runtime_error>(HasSubstr("owner_token_file")));
  }
  EXPECT_THAT([&] { owner(*folder_, folder_path_ / "absent"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("cannot be read")));
  folder_->write("owner.token", "");
  EXPECT_THAT([&] { owner(*folder_); }, ThrowsMessage<std::runtime_error>(HasSubstr("does not hold a token")));
  EXPECT_EQ(tables_->commits(), 0);
}

TEST_F(FirstStartTest, TheDemoWorldHasAHistoryAndIsMadeOnce) {
  const auto who = owner(*folder_);
  const auto first = demo(who);
  const auto sessions = tables_->sessions_of(Id::parse(first.thread_id).value());
  ASSERT_EQ(sessions.size(), 3U);
  EXPECT_EQ(sessions[0].end_reason, EndReason::reset);
  EXPECT_EQ(sessions[1].end_reason, EndReason::import);
  EXPECT_EQ(sessions[2].end_reason, EndReason::import);
  const auto tokens = folder_->read("demo.tokens").value();
  for (const auto* name : {"Alex ", "\nSam ", "\nRobin "})
    EXPECT_THAT(tokens, HasSubstr(name));

  const auto commits = tables_->commits();
  const auto second = demo(who);
  EXPECT_EQ(second.thread_id, first.thread_id);
  EXPECT_EQ(tables_->commits(), commits);
  EXPECT_EQ(folder_->read("demo.tokens"), tokens);
}

TEST_F(FirstStartTest, ADemoWorldThatWasCutOffIsCompleted) {
  const auto who = owner(*folder_);
  const auto first = demo(who);
  const auto events = tables_->events().size();
  folder_->remove("demo.threads");
  folder_->remove("demo.tokens");
  const auto second = demo(who);
  EXPECT_EQ(second.thread_id, first.thread_id);
  // Every step gave its first answer again; only the people's tokens were made anew, and those have no events.
  EXPECT_EQ(tables_->events().size(), events);
  EXPECT_TRUE(folder_->read("demo.tokens").has_value());
}

TEST_F(FirstStartTest, AnotherDatabaseGetsADemoWorldOfItsOwn) {
  const auto first = demo(owner(*folder_));
  use(std::make_shared<storage::MemoryTables>());
  const auto second = demo(owner(*folder_));
  EXPECT_NE(second.thread_id, first.thread_id);
  EXPECT_EQ(tables_->sessions_of(Id::parse(second.thread_id).value()).size(), 3U);
}

TEST_F(FirstStartTest, TheDemoNeedsTheOwner) {
  EXPECT_THAT([&] { demo(Owner{}); }, ThrowsMessage<std::runtime_error>(HasSubstr("owner.token")));
}

} // namespace
} // namespace cleat::cleatd
