#include "protocol/tls.hpp"

#include <filesystem>
#include <functional>
#include <stdexcept>

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <unistd.h>

#include "tests/support/certificates.hpp"
#include "tests/support/child.hpp"

namespace cleat::tls {
namespace {

/// Certificates in a folder that goes with the test.
class Tls : public ::testing::Test {
protected:
  Tls() {
    std::string name = "/tmp/cleat-tls-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a folder");
    folder_ = name;
    test::write_file(folder_ / "ca.pem", authority_.certificate());
    test::write_file(folder_ / "other_ca.pem", test::Authority("other").certificate());
    const auto identity = authority_.issue({"cleat.example.com"}, {"127.0.0.1"});
    test::write_file(folder_ / "server.pem", identity.certificate);
    test::write_file(folder_ / "server.key", identity.key);
  }
  ~Tls() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::shared_ptr<Context> server() const {
    return Context::server(file("server.pem"), file("server.key"));
  }
  [[nodiscard]] std::shared_ptr<Context> client(const char* ca, const std::string& name) const {
    return Context::client(file(ca), name);
  }

  test::Authority authority_{"authority"};
  std::filesystem::path folder_;
};

/// What both ends were sent while bytes went back and forth.
struct Heard {
  std::string by_client;
  std::string by_server;
};

/// Carries bytes until neither side has any; `step` bytes at a time.
Heard carry(Session& client, Session& server, std::size_t step = 65'536) {
  Heard heard;
  for (bool moved = true; moved;) {
    moved = false;
    const auto from_client = client.take_output();
    for (std::size_t at = 0; at < from_client.size(); at += step, moved = true)
      heard.by_server += server.receive(std::string_view(from_client).substr(at, step));
    const auto from_server = server.take_output();
    for (std::size_t at = 0; at < from_server.size(); at += step, moved = true)
      heard.by_client += client.receive(std::string_view(from_server).substr(at, step));
  }
  return heard;
}

TEST_F(Tls, TextGoesBothWaysOnceTheServerIsKnown) {
  Session c(client("ca.pem", "cleat.example.com"));
  Session s(server());
  c.send("said before the handshake");
  EXPECT_EQ(carry(c, s).by_server, "said before the handshake");
  EXPECT_TRUE(c.established());
  EXPECT_TRUE(s.established());
  s.send("hello");
  c.send("and again");
  const auto heard = carry(c, s);
  EXPECT_EQ(heard.by_client, "hello");
  EXPECT_EQ(heard.by_server, "and again");
  EXPECT_EQ(c.error(), "");
  EXPECT_EQ(s.error(), "");
  EXPECT_FALSE(c.closed());
}

TEST_F(Tls, WhatIsCarriedIsNotTheText) {
  Session c(client("ca.pem", "cleat.example.com"));
  Session s(server());
  carry(c, s);
  s.send("a secret that nobody may read");
  EXPECT_EQ(s.take_output().find("a secret"), std::string::npos);
}

TEST_F(Tls, BytesMayComeOneByOneAndMegabytesAtOnce) {
  Session c(client("ca.pem", "cleat.example.com"));
  Session s(server());
  carry(c, s, 1);
  EXPECT_TRUE(c.established());
  const std::string much(3 << 20, 'm');
  s.send(much);
  EXPECT_EQ(carry(c, s, 1 << 30).by_client, much);
}

TEST_F(Tls, AnAddressIsVerifiedAsAnAddress) {
  Session c(client("ca.pem", "127.0.0.1"));
  Session s(server());
  carry(c, s);
  EXPECT_TRUE(c.established()) << c.error();
  Session other(client("ca.pem", "127.0.0.2"));
  Session again(server());
  carry(other, again);
  EXPECT_FALSE(other.established());
  EXPECT_NE(other.error().find("IP address mismatch"), std::string::npos) << other.error();
}

TEST_F(Tls, AnotherNameIsRefused) {
  Session c(client("ca.pem", "other.example.com"));
  Session s(server());
  c.send("a token");
  const auto heard = carry(c, s);
  EXPECT_FALSE(c.established());
  EXPECT_NE(c.error().find("hostname mismatch"), std::string::npos) << c.error();
  EXPECT_EQ(heard.by_server, "");
  EXPECT_NE(s.error(), "") << "the server is told by an alert";
}

TEST_F(Tls, AnotherAuthorityIsRefused) {
  Session c(client("other_ca.pem", "cleat.example.com"));
  Session s(server());
  c.send("a token");
  EXPECT_EQ(carry(c, s).by_server, "");
  EXPECT_FALSE(c.established());
  EXPECT_NE(c.error().find("unable to get local issuer certificate"), std::string::npos) << c.error();
  EXPECT_EQ(c.receive("more"), "");
}

/// A peer of this file's own, for what ours never does.
struct Peer {
  explicit Peer(const SSL_METHOD* method) : context(SSL_CTX_new(method)) {}
  ~Peer() {
    SSL_free(ssl);
    SSL_CTX_free(context);
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void start() {
    ssl = SSL_new(context);
    in = BIO_new(BIO_s_mem());
    out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
  }
  void exchange(Session& with) const {
    for (int i = 0; i < 4; ++i) {
      SSL_do_handshake(ssl);
      std::string bytes(BIO_ctrl_pending(out), '\0');
      BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
      with.receive(bytes);
      const auto answer = with.take_output();
      BIO_write(in, answer.data(), static_cast<int>(answer.size()));
    }
  }

  SSL_CTX* context;
  SSL* ssl = nullptr;
  BIO* in = nullptr;
  BIO* out = nullptr;
};

TEST_F(Tls, APeerThatSpeaksTls12IsRefused) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Peer peer(TLS_client_method());
    SSL_CTX_set_max_proto_version(peer.context, version);
    peer.start();
    SSL_set_connect_state(peer.ssl);
    Session s(server());
    peer.exchange(s);
    EXPECT_EQ(s.established(), version == TLS1_3_VERSION);
    EXPECT_EQ(s.error().empty(), version == TLS1_3_VERSION) << s.error();
  }
  Peer old(TLS_server_method());
  SSL_CTX_set_max_proto_version(old.context, TLS1_2_VERSION);
  ASSERT_EQ(SSL_CTX_use_certificate_chain_file(old.context, file("server.pem").c_str()), 1);
  ASSERT_EQ(SSL_CTX_use_PrivateKey_file(old.context, file("server.key").c_str(), SSL_FILETYPE_PEM), 1);
  old.start();
  SSL_set_accept_state(old.ssl);
  Session c(client("ca.pem", "cleat.example.com"));
  const auto hello = c.take_output();
  BIO_write(old.in, hello.data(), static_cast<int>(hello.size()));
  old.exchange(c);
  EXPECT_FALSE(c.established());
  EXPECT_NE(c.error(), "");
}

TEST_F(Tls, AnOrderlyEndIsSeen) {
  Peer peer(TLS_client_method());
  peer.start();
  SSL_set_connect_state(peer.ssl);
  Session s(server());
  peer.exchange(s);
  EXPECT_FALSE(s.closed());
  SSL_shutdown(peer.ssl);
  peer.exchange(s);
  EXPECT_TRUE(s.closed());
  EXPECT_EQ(s.error(), "");
}

TEST_F(Tls, PlainTextIsRefused) {
  Session s(server());
  EXPECT_EQ(s.receive(std::string("\0\0\0\5hello", 9)), "");
  EXPECT_NE(s.error(), "");
  EXPECT_FALSE(s.established());
}

std::string sentence_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST_F(Tls, WrongFilesAreNamed) {
  const auto other = authority_.issue({"cleat.example.com"}, {});
  test::write_file(folder_ / "other.key", other.key);
  test::write_file(folder_ / "empty", "");
  EXPECT_NE(sentence_of([&] { Context::server(file("none"), file("server.key")); }).find(file("none")),
            std::string::npos);
  EXPECT_NE(sentence_of([&] { Context::server(file("server.pem"), file("empty")); }).find(file("empty")),
            std::string::npos);
  EXPECT_NE(sentence_of([&] { Context::server(file("server.pem"), file("other.key")); }).find(file("other.key")),
            std::string::npos);
  EXPECT_NE(sentence_of([&] { (void)client("empty", "cleat.example.com"); }).find(file("empty")), std::string::npos);
  EXPECT_NE(sentence_of([&] { (void)client("ca.pem", ""); }).find("name"), std::string::npos);
}

} // namespace
} // namespace cleat::tls
