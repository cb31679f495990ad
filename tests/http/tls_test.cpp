#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/http/server_fixture.hpp"
#include "tests/support/child.hpp"
#include "tests/support/temporary_identities.hpp"

/// HTTP through TLS: what is spoken, that everything that is bounded in the clear is bounded here too, and certificates
/// that change while connections live.
namespace cleat::test {
namespace {

using namespace std::chrono_literals;

class Tls : public ServerTest {
protected:
  Tls() {
    options_.certificate_file = ours_.file("chain.pem");
    options_.key_file = ours_.file("key.pem");
  }

  static std::shared_ptr<tls::Context> trusting(const TemporaryIdentities& authority) {
    return tls::Context::client(authority.file("ca.pem"), "cleat.example.com");
  }
  [[nodiscard]] RawOptions encrypted() const { return {0, trusting(ours_)}; }

  /// Another client is served, whatever came before.
  void expect_service() {
    RawClient client(port_, encrypted());
    EXPECT_EQ(client.exchange(get("/v1/me")).status, 200);
  }

  TemporaryIdentities ours_{"ours"};
  TemporaryIdentities theirs_{"theirs"};
};

/// What a client of a test insists on.
struct Handshake {
  int version = TLS1_3_VERSION;
  std::string ciphers = {};
  std::string protocols = {}; ///< as in an ALPN extension
};

/// A client by OpenSSL itself, for what our own does not do. Asks for a page, to prove that more than the handshake
/// works.
class OpenSslClient {
public:
  OpenSslClient(std::uint16_t port, const Handshake& wanted)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), session_(nullptr, SSL_free) {
    SSL_CTX_set_security_level(context_.get(), 0);
    SSL_CTX_set_min_proto_version(context_.get(), wanted.version);
    SSL_CTX_set_max_proto_version(context_.get(), wanted.version);
    if (!wanted.ciphers.empty() && SSL_CTX_set_cipher_list(context_.get(), wanted.ciphers.c_str()) != 1)
      throw std::runtime_error("OpenSSL does not know " + wanted.ciphers);
    session_.reset(SSL_new(context_.get()));
    if (!wanted.protocols.empty())
      SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(wanted.protocols.data()),
                          static_cast<unsigned int>(wanted.protocols.size()));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
      throw std::runtime_error("cannot connect");
    SSL_set_fd(session_.get(), socket_);
  }
  ~OpenSslClient() { ::close(socket_); }

  OpenSslClient(const OpenSslClient&) = delete;
  OpenSslClient& operator=(const OpenSslClient&) = delete;

  bool shakes_hands() { return SSL_connect(session_.get()) == 1; }

  /// The first line of the answer; empty when there is none.
  std::string ask() {
    const std::string request = "GET /healthz HTTP/1.1\r\n\r\n";
    std::string answer(4096, '\0');
    if (SSL_write(session_.get(), request.data(), static_cast<int>(request.size())) <= 0)
      return {};
    const int count = SSL_read(session_.get(), answer.data(), static_cast<int>(answer.size()));
    return count > 0 ? answer.substr(0, answer.find('\r')) : std::string();
  }

  /// Asks for a new handshake on the connection; whether the server went along with it.
  bool renegotiates() { return SSL_renegotiate(session_.get()) == 1 && SSL_do_handshake(session_.get()) == 1; }

  /// What was agreed on to be spoken inside.
  [[nodiscard]] std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned int length = 0;
    SSL_get0_alpn_selected(session_.get(), &name, &length);
    return {reinterpret_cast<const char*>(name), length};
  }

private:
  std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> session_;
  int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

bool shakes_hands(std::uint16_t port, const Handshake& wanted) {
  return OpenSslClient(port, wanted).shakes_hands();
}

TEST_F(Tls, AnswersAsInTheClear) {
  start();
  RawClient client(port_, encrypted());
  ASSERT_EQ(client.tls_error(), "");
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(client.exchange(get("/v1/me")).status, 200);
  client.send(get("/v1/me", "X-Request-Id: 1\r\n") + post(reset_path, "{}", "X-Request-Id: 2\r\n"));
  EXPECT_EQ(client.receive().value().headers.at("x-request-id"), "1");
  EXPECT_EQ(client.receive().value().headers.at("x-request-id"), "2");
  // More than a record in both directions.
  EXPECT_EQ(client.exchange(post(reset_path, std::string(500'000, ' '))).status, 201);
  EXPECT_GT(client.exchange(get("/openapi.yaml")).body.size(), 50'000U);
  EXPECT_EQ(client.exchange(get("/v1/me", "Connection: close\r\n")).status, 200);
  EXPECT_TRUE(client.ends());
  EXPECT_TRUE(client.was_told_the_end());
}

TEST_F(Tls, TellsBrowsersToStayWithIt) {
  start();
  RawClient client(port_, encrypted());
  EXPECT_EQ(client.exchange(get("/v1/me")).headers.at("strict-transport-security"), "max-age=31536000");
  EXPECT_EQ(client.exchange("garbage\r\n\r\n").headers.at("strict-transport-security"), "max-age=31536000");
}

TEST_F(Tls, SpeaksOnePointThreeAndNothingOlder) {
  start();
  EXPECT_TRUE(shakes_hands(port_, {}));
  for (const int version : {TLS1_2_VERSION, TLS1_1_VERSION, TLS1_VERSION})
    EXPECT_FALSE(shakes_hands(port_, {version})) << version;
  expect_service();
}

TEST_F(Tls, SpeaksOnePointTwoWhenToldToButOnlyWellOfIt) {
  options_.oldest_tls = tls::Version::tls_1_2;
  start();
  EXPECT_TRUE(shakes_hands(port_, {TLS1_3_VERSION}));
  EXPECT_FALSE(shakes_hands(port_, {TLS1_1_VERSION}));
  for (const auto* good : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"})
    EXPECT_TRUE(shakes_hands(port_, {TLS1_2_VERSION, good})) << good;
  for (const auto* weak :
       {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-ECDSA-AES128-CCM8", "AES128-GCM-SHA256"})
    EXPECT_FALSE(shakes_hands(port_, {TLS1_2_VERSION, weak})) << weak;
  OpenSslClient client(port_, {TLS1_2_VERSION});
  ASSERT_TRUE(client.shakes_hands());
  EXPECT_EQ(client.ask(), "HTTP/1.1 200 OK");
  EXPECT_FALSE(client.renegotiates());
  expect_service();
}

TEST_F(Tls, AgreesOnHttp11AndOnNothingElse) {
  start();
  OpenSslClient client(port_, {TLS1_3_VERSION, {}, "\x02h2\x08http/1.1"});
  ASSERT_TRUE(client.shakes_hands());
  EXPECT_EQ(client.protocol(), "http/1.1");
  EXPECT_EQ(client.ask(), "HTTP/1.1 200 OK");
  EXPECT_FALSE(shakes_hands(port_, {TLS1_3_VERSION, {}, "\x02h2"}));
}

TEST_F(Tls, ClientsBelieveTheAuthorityOnly) {
  start();
  RawClient client(port_, {0, trusting(theirs_)});
  EXPECT_NE(client.tls_error(), "");
  EXPECT_TRUE(client.ends());
  expect_service();
}

TEST_F(Tls, WhatIsNoTlsEnds) {
  start();
  for (const auto& bytes : {get("/v1/me"), std::string("garbage"), std::string(100'000, 'x'),
                            std::string("\x16\x03\x01\xff\xff", 5) + std::string(70'000, '\0'),
                            std::string("\x15\x03\x03\x00\x02\x02\x28", 7), std::string(5, '\0')}) {
    RawClient client(port_);
    client.send(bytes);
    const auto answer = client.read_to_end();
    EXPECT_EQ(answer.find("HTTP/"), std::string::npos);
    EXPECT_LT(answer.size(), 20U) << "an alert at most";
  }
  expect_service();
}

TEST_F(Tls, AHandshakeThatTakesTooLongEnds) {
  options_.read_timeout = 1s; // enough for the one that is served at the end, on a busy machine as well
  start();
  RawClient silent(port_);
  RawClient half(port_);
  half.send("\x16\x03\x01");
  RawClient dripping(port_);
  // A record that is never whole, byte after byte: each alone would be in time.
  dripping.send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  int drops = 0;
  while (!dripping.ends_within(10ms) && drops < 1000) {
    dripping.send("a");
    ++drops;
  }
  EXPECT_LT(drops, 500);
  EXPECT_TRUE(silent.ends());
  EXPECT_TRUE(half.ends());
  expect_service();
}

TEST_F(Tls, ClientsThatAreTooSlowAfterTheHandshakeEnd) {
  options_.read_timeout = 1s;
  options_.keep_alive = 50ms;
  start();
  RawClient silent(port_, encrypted());
  RawClient half_head(port_, encrypted());
  half_head.send("GET /v1/me HTT");
  RawClient half_body(port_, encrypted());
  half_body.send(post(reset_path, "{}").substr(0, post(reset_path, "{}").size() - 1));
  RawClient served(port_, encrypted());
  EXPECT_EQ(served.exchange(get("/v1/me")).status, 200);
  for (auto* client : {&silent, &half_head, &served}) {
    EXPECT_TRUE(client->ends());
    EXPECT_TRUE(client->was_told_the_end());
  }
  EXPECT_EQ(half_body.receive().value().status, 400);
  EXPECT_EQ(behind_->arrivals(), 0);
}

TEST_F(Tls, TooMuchOfItIsRefusedAsInTheClear) {
  options_.max_json_body_bytes = 4096;
  start();
  const auto status_of = [this](const std::string& bytes) {
    RawClient client(port_, encrypted());
    return client.exchange(bytes).status;
  };
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(status_of(post(reset_path, std::string(4097, ' '))), 413);
  EXPECT_EQ(status_of("hello\r\n\r\n"), 400);
  expect_service();
}

TEST_F(Tls, AClientThatDoesNotReadIsNotWaitedFor) {
  options_.write_timeout = 100ms;
  start();
  auto options = encrypted();
  options.receive_buffer = 4096;
  RawClient client(port_, options);
  std::string requests;
  for (int i = 0; i < 200; ++i)
    requests += get("/openapi.yaml");
  client.send(requests);
  // Without reading: the place in the gauge is free once the server has given up.
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (metrics_->http_connections.Value() > 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
  EXPECT_EQ(metrics_->http_connections.Value(), 0);
}

TEST_F(Tls, ConnectionsBeyondTheLimitEndAtOnceAndHoldUpNobody) {
  options_.max_connections = 2;
  options_.max_waiting = 1;
  options_.read_timeout = 1h;
  start();
  RawClient first(port_, encrypted());
  EXPECT_EQ(first.exchange(get("/v1/me")).status, 200);
  RawClient second(port_, encrypted());
  EXPECT_EQ(second.exchange(get("/v1/me")).status, 200);
  for (int i = 0; i < 3; ++i) {
    RawClient silent(port_); // it sends nothing, and is refused all the same
    EXPECT_EQ(silent.read_to_end(), std::string("\x15\x03\x03\x00\x02\x02\x50", 7)) << "a fatal alert";
  }
  EXPECT_EQ(first.exchange(get("/v1/me")).status, 200);
}

TEST_F(Tls, ANewCertificateIsForNewConnections) {
  start();
  RawClient old(port_, encrypted());
  EXPECT_EQ(old.exchange(get("/v1/me")).status, 200);
  ours_.become(theirs_);
  RawClient before(port_, {0, trusting(theirs_)});
  EXPECT_NE(before.tls_error(), "") << "nobody has told the server yet";
  server_->reload_certificates();
  EXPECT_EQ(old.exchange(get("/v1/me")).status, 200) << "it goes on as it began";
  RawClient after(port_, {0, trusting(theirs_)});
  EXPECT_EQ(after.tls_error(), "");
  EXPECT_EQ(after.exchange(get("/v1/me")).status, 200);
}

TEST_F(Tls, FilesThatCannotBeUsedChangeNothing) {
  start();
  const auto complaint = [this] {
    try {
      server_->reload_certificates();
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint(), "");
  const auto trusted = encrypted(); // the authority, as it was
  const auto key = read_file(ours_.file("key.pem"));
  write_file(ours_.file("key.pem"), read_file(theirs_.file("key.pem")));
  EXPECT_NE(complaint().find("key.pem"), std::string::npos) << complaint();
  write_file(ours_.file("key.pem"), key);
  write_file(ours_.file("chain.pem"), "no certificate");
  EXPECT_NE(complaint().find("chain.pem"), std::string::npos) << complaint();
  RawClient client(port_, trusted);
  EXPECT_EQ(client.exchange(get("/v1/me")).status, 200);
}

/// Standard input that has this text to give.
class TypedInput {
public:
  explicit TypedInput(const std::string& text) : before_(::dup(STDIN_FILENO)) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0 || ::write(ends[1], text.data(), text.size()) < 0)
      throw std::runtime_error("cannot make a pipe");
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~TypedInput() {
    ::dup2(before_, STDIN_FILENO);
    ::close(before_);
  }

  TypedInput(const TypedInput&) = delete;
  TypedInput& operator=(const TypedInput&) = delete;

private:
  int before_;
};

TEST_F(Tls, AKeyWithAPassphraseIsRefusedAndNobodyIsAsked) {
  const TypedInput input("secret\n"); // where OpenSSL would ask without a terminal
  const auto locked = ours_.file("locked.pem");
  const auto made = "openssl pkey -in " + ours_.file("key.pem") + " -aes256 -passout pass:secret -out " + locked;
  ASSERT_EQ(std::system(made.c_str()), 0);
  options_.key_file = locked;
  try {
    start();
    ADD_FAILURE() << "it cannot be read";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("locked.pem"), std::string::npos) << error.what();
  }
}

TEST_F(Tls, DrainEndsIdleConnectionsAndHandshakes) {
  options_.read_timeout = 1h;
  start();
  RawClient idle(port_, encrypted());
  EXPECT_EQ(idle.exchange(get("/v1/me")).status, 200);
  RawClient half(port_);
  half.send("\x16\x03\x01");
  RawClient busy(port_, encrypted());
  behind_->holds = true;
  busy.send(post(reset_path, "{}"));
  behind_->wait_for_arrivals(1);
  auto drained = std::async(std::launch::async, [this] { return server_->drain(); });
  EXPECT_TRUE(idle.ends());
  EXPECT_TRUE(idle.was_told_the_end());
  EXPECT_TRUE(half.ends());
  behind_->release();
  EXPECT_EQ(busy.receive().value().status, 201);
  EXPECT_TRUE(busy.ends());
  EXPECT_TRUE(busy.was_told_the_end());
  EXPECT_TRUE(drained.get());
}

TEST_F(Tls, AStreamTellsThatItIsWholeWhenItEnds) {
  start();
  RawClient client(port_, encrypted());
  client.send(get("/v1/events"));
  client.read_until(": connected\n\n");
  append({1, "run.changed", R"({"seq":1})"});
  EXPECT_NE(client.read_until("\n\n").find("id: 1\n"), std::string::npos);
  server_->drain();
  EXPECT_TRUE(client.ends());
  EXPECT_TRUE(client.was_told_the_end());
}

TEST_F(Tls, AClientThatSaysItsLastWordIsStillAnswered) {
  start();
  RawClient client(port_, encrypted());
  client.send(get("/v1/me") + get("/openapi.yaml"));
  client.say_the_end();
  EXPECT_EQ(client.receive().value().status, 200);
  EXPECT_GT(client.receive().value().body.size(), 50'000U);
  EXPECT_TRUE(client.ends());
  EXPECT_TRUE(client.was_told_the_end());
}

TEST(TlsOptions, NameTheKeysThatAreWrong) {
  const auto complaint = [](const http::HttpOptions& options) {
    try {
      options.validate();
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  http::HttpOptions options;
  options.certificate_file = "chain.pem";
  EXPECT_NE(complaint(options).find("http.key"), std::string::npos);
  options.key_file = "key.pem";
  options.host = "0.0.0.0";
  EXPECT_EQ(complaint(options), "");
  options.certificate_file.clear();
  options.key_file.clear();
  for (const auto* key : {"http.listen", "http.certificate", "http.key", "http.insecure"})
    EXPECT_NE(complaint(options).find(key), std::string::npos) << key;
  options.insecure = true;
  EXPECT_EQ(complaint(options), "");
}

} // namespace
} // namespace cleat::test
