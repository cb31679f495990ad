#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"
#include "tests/support/temporary_identities.hpp"

/// A server that one dares to expose (spec 06 section 3): TLS as a scan sees it, certificates that are renewed, what
/// may listen where, and what a guesser gets.
namespace cleat::test {
namespace {

/// What a shell makes of a command: its status, and both of its outputs.
struct Outcome {
  int status = 0;
  std::string output;
};

Outcome shell(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  Outcome outcome;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = ::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    outcome.output.append(buffer.data(), n);
  outcome.status = ::pclose(pipe);
  return outcome;
}

std::string address_of(const Server& server) {
  return server.endpoint().host + ":" + std::to_string(server.endpoint().port);
}

/// A scan's look at a server with these options of `openssl s_client`, which insists on a certificate of the authority.
Outcome scan(const std::string& authority, const std::string& address, const std::string& options) {
  return shell("openssl s_client -brief -verify_return_error -CAfile " + authority + " -connect " + address + " " +
               options + " </dev/null");
}

/// The same at its port for HTTP.
Outcome scan(const Server& server, const std::string& options) {
  return scan(server.endpoint().authority, address_of(server), options);
}

/// A connection that says exactly these bytes; what comes back until the server ends it.
std::string exchange_bytes(const Endpoint& endpoint, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{20, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  std::string answer;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::recv(socket, buffer.data(), buffer.size(), 0)) > 0)
    answer.append(buffer.data(), static_cast<std::size_t>(count));
  EXPECT_FALSE(count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) << "the server has not ended the connection";
  ::close(socket);
  return answer;
}

/// The arguments of a server with these certificates.
std::vector<std::string> certificates(const TemporaryIdentities& identities) {
  return {"--set", "http.certificate=" + identities.file("chain.pem"), "--set",
          "http.key=" + identities.file("key.pem")};
}

class Encrypted : public testing::Test {
protected:
  /// A server with TLS and more options.
  std::unique_ptr<Server> serve(const std::vector<std::string>& more = {}) {
    auto arguments = certificates(identities);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<Server>(
      ServerOptions{shared_cluster().createdb(fresh_database_name()), arguments, {}, identities.file("ca.pem")});
  }

  TemporaryIdentities identities{"ours"};
};

TEST_F(Encrypted, AScanFindsOnePointThreeAndNothingElse) {
  const auto server = serve();
  const auto newest = scan(*server, "-tls1_3");
  EXPECT_EQ(newest.status, 0) << newest.output;
  EXPECT_NE(newest.output.find("Verification: OK"), std::string::npos) << newest.output;
  EXPECT_EQ(scan(*server, "").status, 0) << "whoever can speak 1.3 need not insist on it";
  EXPECT_NE(scan(*server, "-alpn h2").status, 0) << "HTTP/1.1 is what is spoken";
  for (const auto* older : {"-tls1_2", "-tls1_1 -cipher DEFAULT@SECLEVEL=0", "-tls1 -cipher DEFAULT@SECLEVEL=0"}) {
    const auto refused = scan(*server, older);
    EXPECT_NE(refused.status, 0) << older;
    EXPECT_NE(refused.output.find("alert"), std::string::npos) << older << "\n" << refused.output;
  }
  const auto endpoints = read_file(server->data() / "endpoints.json");
  EXPECT_NE(endpoints.find("https://" + address_of(*server)), std::string::npos) << endpoints;
}

TEST_F(Encrypted, OnePointTwoIsSpokenWhenConfiguredAndOnlyWithGoodSuites) {
  const auto server = serve({"--set", "http.tls_min_version=1.2"});
  EXPECT_EQ(scan(*server, "-tls1_3").status, 0);
  EXPECT_EQ(scan(*server, "-tls1_2").status, 0);
  EXPECT_EQ(scan(*server, "-tls1_2 -cipher ECDHE-ECDSA-AES256-GCM-SHA384").status, 0);
  for (const auto* weak : {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "ECDHE-ECDSA-AES128-CCM",
                           "AES128-GCM-SHA256", "aNULL", "eNULL"})
    EXPECT_NE(scan(*server, std::string("-tls1_2 -cipher ") + weak + "@SECLEVEL=0").status, 0) << weak;
  EXPECT_NE(scan(*server, "-tls1_1 -cipher DEFAULT@SECLEVEL=0").status, 0);
  const auto details = shell("openssl s_client -tls1_2 -connect " + address_of(*server) + " </dev/null");
  EXPECT_NE(details.output.find("Compression: NONE"), std::string::npos) << details.output;
  EXPECT_NE(details.output.find("Secure Renegotiation IS supported"), std::string::npos) << details.output;
}

TEST_F(Encrypted, RunnersAreSpokenToInOnePointThreeAndBelieveTheirAuthorityAndTheNameAlone) {
  const auto server = serve({"--set", "runner.certificate=" + identities.file("chain.pem"), "--set",
                             "runner.key=" + identities.file("key.pem"), "--set", "http.tls_min_version=1.2"});
  const auto at_runners = [&](const std::string& options) {
    return scan(identities.file("ca.pem"), server->runner_address(), options);
  };
  EXPECT_EQ(at_runners("-tls1_3").status, 0) << at_runners("-tls1_3").output;
  for (const auto* older : {"-tls1_2", "-tls1_1 -cipher DEFAULT@SECLEVEL=0"})
    EXPECT_NE(at_runners(older).status, 0) << older;

  World world(*server);
  Client owner = world.as(world.owner);
  const Workshop workshop(owner, world.alex);
  const TemporaryIdentities theirs("theirs");
  const auto with = [](const TemporaryIdentities& authority, const std::string& name) {
    RunnerOptions options;
    options.toml = "[tls]\nca = \"" + authority.file("ca.pem") + "\"\nserver_name = \"" + name + "\"\n";
    return options;
  };
  for (const auto& [options, why] : {std::pair(with(theirs, "cleat.example.com"), "the TLS handshake failed"),
                                     std::pair(with(identities, "sam.example.com"), "hostname mismatch")}) {
    const RunnerProcess runner(server->runner_address(), workshop, options);
    EXPECT_TRUE(runner.says(why)) << runner.output();
    EXPECT_EQ(owner.get(container_path(workshop.box())).json()["state"].string(), "offline") << why;
  }
  const RunnerProcess runner(server->runner_address(), workshop, with(identities, "cleat.example.com"));
  await_container(owner, workshop.box(), "idle");
}

TEST_F(Encrypted, ServesTheWorldAndSaysSoToBrowsers) {
  const auto server = serve();
  World world(*server);
  Client alex = world.as(world.alex);
  const auto bound = bind(alex, world.thread(world.support), {fresh_reference()});
  EXPECT_EQ(bound.status, 201) << bound.body;
  EXPECT_EQ(bound.header("strict-transport-security"), "max-age=31536000");
  const TemporaryIdentities others("others");
  auto elsewhere = server->endpoint();
  elsewhere.authority = others.file("ca.pem");
  EXPECT_FALSE(Client(elsewhere, world.alex.token).send("GET", "/v1/me")) << "another authority is not believed";
  auto plain = server->endpoint();
  plain.authority.clear();
  EXPECT_FALSE(Client(plain, world.alex.token).send("GET", "/v1/me")) << "nothing is said in the clear";
}

TEST_F(Encrypted, BadInputEndsAndHarmsNobody) {
  const auto server = serve({"--set", "http.read_timeout_s=1"});
  Client anybody = server->client("");
  for (const auto& bytes :
       {std::string(), std::string("\x16\x03\x01"), std::string("GET /healthz HTTP/1.1\r\n\r\n"),
        std::string(200'000, 'x'), std::string("\x16\x03\x01\xff\xff", 5) + std::string(70'000, '\0')}) {
    EXPECT_LT(exchange_bytes(server->endpoint(), bytes).size(), 20U) << "an alert at most";
    EXPECT_EQ(anybody.get("/healthz").status, 200);
  }
}

TEST_F(Encrypted, ARenewedCertificateIsShownWithoutARestart) {
  auto arguments = std::vector<std::string>{"--set", "runner.certificate=" + identities.file("chain.pem"), "--set",
                                            "runner.key=" + identities.file("key.pem")};
  const auto server = serve(arguments);
  const TemporaryIdentities renewed("renewed");
  auto afterwards = server->endpoint();
  afterwards.authority = renewed.file("ca.pem");
  Client old = server->client("");
  ASSERT_EQ(old.get("/healthz").status, 200);
  EXPECT_FALSE(Client(afterwards, "").send("GET", "/healthz"));

  identities.become(renewed);
  const auto reload = [&](const std::string& said) {
    const auto before = server->output().size();
    server->process().signal(SIGHUP);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (server->output().find(said, before) == std::string::npos)
      ASSERT_LT(std::chrono::steady_clock::now(), until) << server->output();
  };
  reload("runner.certificate and runner.key");
  EXPECT_EQ(old.get("/healthz").status, 200) << "the connection goes on as it began";
  EXPECT_EQ(Client(afterwards, "").get("/healthz").status, 200);
  const auto runners = shell("openssl s_client -brief -verify_return_error -CAfile " + renewed.file("ca.pem") +
                             " -connect " + server->runner_address() + " </dev/null");
  EXPECT_EQ(runners.status, 0) << runners.output;

  write_file(identities.file("chain.pem"), "no certificate");
  reload("runner.listen goes on with the certificate that it has");
  EXPECT_EQ(Client(afterwards, "").get("/healthz").status, 200) << "what cannot be used changes nothing";
}

TEST_F(Encrypted, TheDemosCurlLinesWorkWhenPasted) {
  const auto server = serve({"--demo"});
  const std::string text = server->output();
  std::size_t lines = 0;
  for (auto at = text.find("  curl "); at != std::string::npos; at = text.find("  curl ", at + 1), ++lines) {
    const auto answer = shell(text.substr(at, text.find('\n', at) - at));
    EXPECT_EQ(answer.status, 0) << answer.output;
    EXPECT_TRUE(answer.output.starts_with("{")) << answer.output;
  }
  EXPECT_EQ(lines, 4U) << text;
}

TEST(Exposure, WithoutTlsNothingListensBeyondLoopback) {
  const TemporaryFolder folder;
  const auto log = folder.path() / "output.log";
  const auto status_of = [&](const std::vector<std::string>& arguments) {
    Command command{CLEAT_CLEATD, {"--data", folder.path().string(), "--print-config"}, {}, log};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    return Child(command).wait(std::chrono::seconds{30}).value_or(-1);
  };
  EXPECT_EQ(status_of({"--http", "0.0.0.0:0"}), 2);
  const auto said = read_file(log);
  for (const auto* key : {"http.listen", "http.certificate", "http.key", "--insecure", "http.insecure"})
    EXPECT_NE(said.find(key), std::string::npos) << key << "\n" << said;
  EXPECT_EQ(status_of({"--http", "0.0.0.0:0", "--set", "http.certificate=chain.pem"}), 2);
  EXPECT_EQ(status_of({"--http", "[::]:0"}), 2);
  EXPECT_EQ(status_of({"--http", "0.0.0.0:0", "--insecure"}), 0);
  EXPECT_EQ(status_of({"--http", "0.0.0.0:0", "--set", "http.certificate=chain.pem", "--set", "http.key=key.pem"}), 0);
}

TEST(Exposure, ACertificateThatCannotBeUsedIsNamedAtTheStart) {
  const TemporaryIdentities ours("ours");
  const TemporaryIdentities theirs("theirs");
  for (const std::string listener : {"http", "runner"}) {
    const TemporaryFolder folder;
    const auto log = folder.path() / "output.log";
    Child child(
      {CLEAT_CLEATD,
       {"--data", folder.path().string(), "--database-url", shared_cluster().createdb(fresh_database_name()), "--http",
        "127.0.0.1:0", "--runner", "127.0.0.1:0", "--set", listener + ".certificate=" + ours.file("chain.pem"), "--set",
        listener + ".key=" + theirs.file("key.pem")},
       {},
       log});
    EXPECT_EQ(child.wait(std::chrono::seconds{60}).value_or(-1), 1) << "it neither hangs nor dies of it";
    EXPECT_NE(read_file(log).find(theirs.file("key.pem")), std::string::npos) << read_file(log);
  }
}

TEST(Exposure, AGuesserIsRefusedAndWhoIsLoggedInGoesOn) {
  Server server(
    ServerOptions{shared_cluster().createdb(fresh_database_name()),
                  {"--set", "auth.failures_per_minute=1", "--set", "auth.burst=3", "--set", "http.token_cache_ms=0"}});
  Client owner = server.client(server.owner_token());
  ASSERT_EQ(owner.get("/v1/me").status, 200);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(server.client("guess-" + std::to_string(i)).get("/v1/me").status, 401);
  const auto refused = server.client("guess-3").get("/v1/me");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.problem(), "rate_limited");
  EXPECT_GT(std::stoi(refused.header("retry-after")), 1);
  EXPECT_EQ(owner.get("/v1/me").status, 200) << "without a memory of who it is, its token is looked up all the same";
  Client nobody = server.client("");
  EXPECT_EQ(nobody.get("/v1/me").status, 401);
  const auto metrics = nobody.get("/metrics").body;
  EXPECT_NE(metrics.find("cleat_auth_failures_total 3"), std::string::npos);
  EXPECT_NE(metrics.find("cleat_auth_refused_total 1"), std::string::npos);
}

} // namespace
} // namespace cleat::test
