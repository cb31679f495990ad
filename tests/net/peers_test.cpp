#include <future>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include <caf/io/middleman.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/peers.hpp"
#include "base/addresses.hpp"
#include "protocol/runner_codec.hpp"
#include "tests/net/fixture.hpp"
#include "tests/support/temporary_identities.hpp"

/// Servers among themselves: a Runner is found wherever its socket is, and nobody is told more than is certain.
namespace cleat::test {
namespace {

wire::ToRunner question() {
  wire::ToRunner message;
  message.request_id = "request-1";
  message.command = wire::AskStatus{"atlas", "journal"};
  return message;
}

const Sent about_atlas{"operation-1", "attempt-1", "atlas"};

actors::PeersOptions secured(const TemporaryIdentities& identities) {
  actors::PeersOptions options;
  options.certificate_file = identities.file("chain.pem");
  options.key_file = identities.file("key.pem");
  options.ca_file = identities.file("ca.pem");
  return options;
}

class PeersTest : public NetTest {
public:
  std::unique_ptr<Server> join(actors::PeersOptions options) {
    auto fleet = quick();
    fleet.timeout_s = 60;
    fleet.node = {world.ids.next(), "", {}};
    return std::make_unique<Server>(tables, Server::Options{std::move(fleet), std::move(options)});
  }

  /// What `from` hears about a command for the Runner at `at`.
  Server::Handed deliver(Server& from, const Server& at, std::int64_t epoch = 1) {
    return from.deliver(command(at, epoch, question(), about_atlas));
  }
};

/// Everything that holds with and without TLS.
class Peers : public PeersTest, public testing::WithParamInterface<bool> {
public:
  std::unique_ptr<Server> join() { return PeersTest::join(GetParam() ? secured(ours) : actors::PeersOptions{}); }

  TemporaryIdentities ours{"servers"};
  std::unique_ptr<Server> near = join();
  std::unique_ptr<Server> far = join();
};

TEST_P(Peers, DeliverToARunnerAtTheOther) {
  Client client(far->listen());
  ASSERT_TRUE(client.enrol());
  ASSERT_EQ(deliver(*near, *far), Server::Handed::yes);
  const auto received = client.receive();
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, question());
  auto report = numbered(1);
  report.request_id = "request-1";
  client.send(report);
  EXPECT_EQ(far->log->await_reports(1)[0].about, about_atlas) << "the other server knows what it was about";
  EXPECT_EQ(deliver(*near, *far, 2), Server::Handed::no) << "there is no such connection";
}

TEST_P(Peers, FindARunnerThatHasMoved) {
  Client first(near->listen());
  const auto enrolled = first.enrol();
  ASSERT_TRUE(enrolled);
  EXPECT_EQ(deliver(*far, *near), Server::Handed::yes);
  Client second(far->listen());
  ASSERT_TRUE(second.enrol(enrolled->secret));
  EXPECT_EQ(row().node_id, far->node().id);
  ASSERT_TRUE(first.receive()) << "what was delivered before";
  EXPECT_EQ(first.receive(), std::nullopt) << "and then it was closed";
  EXPECT_TRUE(first.is_ended());
  EXPECT_EQ(deliver(*near, *near), Server::Handed::no);
  EXPECT_EQ(deliver(*near, *far, 2), Server::Handed::yes);
  EXPECT_EQ(deliver(*far, *far, 2), Server::Handed::yes);
  EXPECT_EQ(row().node_id, far->node().id) << "the first socket's end is not the Runner's";
}

TEST_P(Peers, TellWhoHasDeliveredThatAContainerHasMoved) {
  Client client(far->listen());
  ASSERT_TRUE(client.enrol());
  ASSERT_EQ(deliver(*near, *far), Server::Handed::yes);
  caf::anon_send(far->hub, ContainerMoved{"borealis"});
  caf::anon_send(far->hub, ContainerMoved{"atlas"});
  EXPECT_EQ(near->log->await_moved(1), std::vector<std::string>{"atlas"});
}

TEST_P(Peers, DeliverNothingToAServerThatTookOverAnAddress) {
  Client client(far->listen());
  ASSERT_TRUE(client.enrol());
  auto stale = command(*far, 1, question());
  stale.node.id = world.ids.next();
  EXPECT_EQ(near->deliver(stale), Server::Handed::no);
  EXPECT_EQ(deliver(*near, *far), Server::Handed::yes);
}

TEST_P(Peers, AreCertainThatNothingReachedAServerThatIsGone) {
  Client client(far->listen());
  ASSERT_TRUE(client.enrol());
  const auto gone = command(*far, 1, question());
  far.reset();
  EXPECT_EQ(near->deliver(gone), Server::Handed::no);
  auto nowhere = gone;
  nowhere.node.address = "no address";
  EXPECT_EQ(near->deliver(nowhere), Server::Handed::no);
  far = join();
  Client again(far->listen());
  ASSERT_TRUE(again.enrol());
  EXPECT_EQ(deliver(*near, *far, 2), Server::Handed::yes) << "the others are reached as before";
}

INSTANTIATE_TEST_SUITE_P(PlainAndTls, Peers, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "tls" : "plain"; });

/// A server that takes what it is given and never answers.
struct SilentPeer {
  struct Config : caf::actor_system_config {
    Config() {
      add_message_types<caf::id_block::cleat_storage>();
      add_message_types<caf::id_block::cleat_actors>();
      actors::prepare_network(*this, {});
    }
  };

  SilentPeer() {
    handle = system.spawn([this](actors::peer_actor::pointer self) -> actors::peer_actor::behavior_type {
      return {
        [this, self](const Deliver&) {
          asked.set_value();
          promise = self->make_response_promise<Delivered>();
          return promise;
        },
        [](const ContainerMoved&) {},
      };
    });
    port = *system.middleman().publish(handle, 0, "127.0.0.1");
  }

  ~SilentPeer() { caf::anon_send_exit(handle, caf::exit_reason::kill); }

  std::promise<void> asked;
  caf::typed_response_promise<Delivered> promise;
  Config config;
  caf::actor_system system{config};
  actors::peer_actor handle;
  std::uint16_t port = 0;
};

class PeerTrouble : public PeersTest {};

TEST_F(PeerTrouble, NobodyKnowsWhatBecameOfWhatWasSent) {
  actors::PeersOptions patient;
  patient.node_timeout_s = 300;
  const auto near = join(patient);
  auto silent = std::make_unique<SilentPeer>();
  auto sent = command(*near, 1, question());
  sent.node = {world.ids.next(), "127.0.0.1:" + std::to_string(silent->port), {}};
  auto answer = std::async(std::launch::async, [&] { return near->deliver(sent); });
  ASSERT_EQ(silent->asked.get_future().wait_for(patience), std::future_status::ready);
  silent.reset();
  EXPECT_EQ(answer.get(), Server::Handed::unknown) << "its end is seen, long before time is up";
  EXPECT_EQ(near->deliver(sent), Server::Handed::no) << "and now it is certain that it cannot be reached";
}

TEST_F(PeerTrouble, TimeIsNoAnswer) {
  actors::PeersOptions hasty;
  hasty.node_timeout_s = 1;
  const auto near = join(hasty);
  SilentPeer silent;
  auto sent = command(*near, 1, question());
  sent.node = {world.ids.next(), "127.0.0.1:" + std::to_string(silent.port), {}};
  EXPECT_EQ(near->deliver(sent), Server::Handed::unknown);
}

TEST_F(PeerTrouble, AServerEndsAndLeavesNobodyWaiting) {
  actors::PeersOptions patient;
  patient.node_timeout_s = 300;
  auto near = join(patient);
  SilentPeer silent;
  auto sent = command(*near, 1, question());
  sent.node = {world.ids.next(), "127.0.0.1:" + std::to_string(silent.port), {}};
  auto answer = std::async(std::launch::async, [&] { return near->deliver(sent); });
  ASSERT_EQ(silent.asked.get_future().wait_for(patience), std::future_status::ready);
  near->leave_peers();
  EXPECT_EQ(answer.get(), Server::Handed::unknown);
}

TEST_F(PeerTrouble, OnlyServersOfOneAuthorityUnderstandEachOther) {
  const TemporaryIdentities ours("servers");
  const TemporaryIdentities theirs("strangers");
  const auto good = join(secured(ours));
  Client client(good->listen());
  ASSERT_TRUE(client.enrol());
  const auto stranger = join(secured(theirs));
  const auto plain = join({});
  EXPECT_EQ(deliver(*stranger, *good), Server::Handed::no);
  EXPECT_EQ(deliver(*plain, *good), Server::Handed::no);
  constexpr std::int64_t elsewhere = 7; // what is not at this server is looked for at the other
  EXPECT_EQ(deliver(*good, *stranger, elsewhere), Server::Handed::no);
  EXPECT_EQ(deliver(*good, *plain, elsewhere), Server::Handed::no);
  const auto friendly = join(secured(ours));
  EXPECT_EQ(deliver(*friendly, *good), Server::Handed::yes);
  ASSERT_TRUE(client.receive());
  EXPECT_EQ(client.receive(std::chrono::milliseconds(50)), std::nullopt) << "one command, the friendly one";
}

TEST(PeersOptions, NameTheKeyThatIsWrong) {
  actors::PeersOptions options;
  EXPECT_FALSE(options.validate());
  options.host = "10.0.0.1";
  ASSERT_TRUE(options.validate());
  EXPECT_NE(options.validate()->find("nodes.listen is '10.0.0.1:0'"), std::string::npos);
  options.insecure = true;
  EXPECT_FALSE(options.validate());
  options.certificate_file = "chain.pem";
  options.key_file = "key.pem";
  ASSERT_TRUE(options.validate());
  EXPECT_NE(options.validate()->find("nodes.ca is empty"), std::string::npos);
  options.ca_file = "ca.pem";
  EXPECT_FALSE(options.validate());
}

TEST_F(PeerTrouble, NamesWhatCannotBeUsedOrOpened) {
  const TemporaryIdentities ours("servers");
  const auto near = join({});
  const auto mistake = [&](actors::PeersOptions options) -> std::string {
    try {
      const auto server = join(std::move(options));
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
  };
  auto absent = secured(ours);
  absent.ca_file = ours.file("absent.pem");
  EXPECT_NE(mistake(absent).find("absent.pem"), std::string::npos);
  absent = secured(ours);
  absent.certificate_file = ours.file("absent.pem");
  EXPECT_NE(mistake(absent).find("absent.pem"), std::string::npos);
  auto taken = secured(ours);
  taken.port = parse_address(near->node().address)->port;
  EXPECT_NE(mistake(taken).find(near->node().address), std::string::npos);
  taken.certificate_file = taken.key_file = taken.ca_file = "";
  EXPECT_NE(mistake(taken).find(near->node().address), std::string::npos);
}

} // namespace
} // namespace cleat::test
