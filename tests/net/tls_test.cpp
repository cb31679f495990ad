#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/net/fixture.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_identities.hpp"

/// Runners over TLS 1.3: who is believed, and that nothing less is spoken.
namespace cleat::test {
namespace {

class Tls : public NetTest {
public:
  Tls() { listen(); }

  void listen() {
    actors::RunnerListenerOptions options;
    options.certificate_file = ours.file("chain.pem");
    options.key_file = ours.file("key.pem");
    port = server->listen(options);
  }

  static std::shared_ptr<tls::Context> trusting(const TemporaryIdentities& authority, const std::string& name) {
    return tls::Context::client(authority.file("ca.pem"), name);
  }

  TemporaryIdentities ours{"runners"};
  TemporaryIdentities theirs{"others"};
  std::unique_ptr<Server> server = serve();
  std::uint16_t port = 0;
};

TEST_F(Tls, EnrolsReportsAndIsCommanded) {
  Client client(port, trusting(ours, "cleat.example.com"));
  ASSERT_TRUE(client.enrol()) << client.tls_error();
  client.send(numbered(1));
  EXPECT_EQ(server->log->await_reports(1)[0].message->dispatch, 1);
  wire::ToRunner part;
  part.command = wire::BodyPart{0, std::string(900'000, 'x')};
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(server->deliver(command(*server, 1, part)), Server::Handed::yes);
  for (int i = 0; i < 10; ++i) {
    const auto message = client.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->command, part.command);
  }
}

TEST_F(Tls, ARefusalArrives) {
  Client client(port, trusting(ours, "127.0.0.1"));
  EXPECT_EQ(client.ask("", "made up"), "unauthorized");
  EXPECT_TRUE(client.is_ended());
}

TEST_F(Tls, ARunnerBelievesItsAuthorityAndTheNameOnly) {
  Client wrong_authority(port, trusting(theirs, "cleat.example.com"));
  EXPECT_FALSE(wrong_authority.tls_error().empty());
  EXPECT_TRUE(wrong_authority.is_ended());
  Client wrong_name(port, trusting(ours, "sam.example.com"));
  EXPECT_FALSE(wrong_name.tls_error().empty());
  EXPECT_TRUE(wrong_name.is_ended());
  EXPECT_EQ(row().epoch, 0);
}

TEST_F(Tls, PlainAgainstTlsEndsAndTlsAgainstPlainToo) {
  Client plain(port);
  EXPECT_EQ(plain.ask(""), "");
  EXPECT_TRUE(plain.is_ended());
  const auto other = serve(quick(), "127.0.0.1:2");
  Client encrypted(other->listen(), trusting(ours, "cleat.example.com"));
  EXPECT_TRUE(encrypted.is_ended());
  EXPECT_EQ(row().epoch, 0);
}

/// A handshake with at most this version; whether it was made.
bool shakes_hands(std::uint16_t port, int version) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), version);
  const std::unique_ptr<SSL, void (*)(SSL*)> session(SSL_new(context.get()), SSL_free);
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  SSL_set_fd(session.get(), socket);
  const bool made = SSL_connect(session.get()) == 1;
  ::close(socket);
  return made;
}

TEST_F(Tls, SpeaksNothingOlderThanTls13) {
  EXPECT_FALSE(shakes_hands(port, TLS1_2_VERSION));
  EXPECT_TRUE(shakes_hands(port, TLS1_3_VERSION));
}

TEST_F(Tls, AHandshakeThatIsNotFinishedIsClosed) {
  server = serve(impatient());
  listen();
  Client half(port);
  half.send_bytes("\x16\x03\x01");
  EXPECT_TRUE(half.is_ended());
}

TEST_F(Tls, ANewCertificateIsForNewConnections) {
  Client old(port, trusting(ours, "cleat.example.com"));
  ASSERT_TRUE(old.enrol()) << old.tls_error();
  ours.become(theirs);
  server->listener.identity->reload();
  Client trusting_the_new(port, trusting(theirs, "cleat.example.com"));
  EXPECT_EQ(trusting_the_new.ask("", "made up"), "unauthorized") << trusting_the_new.tls_error();
  wire::ToRunner part;
  part.command = wire::BodyPart{0, "x"};
  ASSERT_EQ(server->deliver(command(*server, 1, part)), Server::Handed::yes);
  EXPECT_TRUE(old.receive()) << "it goes on as it began";
}

TEST_F(Tls, FilesThatCannotBeUsedChangeNothing) {
  const auto trusted = trusting(ours, "cleat.example.com");
  write_file(ours.file("key.pem"), read_file(theirs.file("key.pem")));
  EXPECT_THROW(server->listener.identity->reload(), std::runtime_error);
  Client client(port, trusted);
  EXPECT_TRUE(client.enrol()) << client.tls_error();
}

TEST_F(Tls, NamesTheFileThatItCannotUse) {
  const auto other = serve(quick(), "127.0.0.1:2");
  actors::RunnerListenerOptions options;
  options.certificate_file = ours.file("absent.pem");
  options.key_file = ours.file("key.pem");
  try {
    other->listen(options);
    FAIL() << "there is no such file";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("absent.pem"), std::string::npos) << error.what();
  }
}

} // namespace
} // namespace cleat::test
