/// The release gate with real programs (spec 04 section 9): files on disk, a real Runner, and what the database holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "tests/process/fleet.hpp"
#include "tests/process/suite.hpp"

namespace cleat::test {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto patience = std::chrono::seconds{30};

/// Manifests in a folder of their own, made by `cleat-release` as a release engineer makes them.
class Release {
public:
  Release() {
    run({"keygen", "--key", path("key"), "--public", path("root.pub")});
    run({"keygen", "--key", path("other.key"), "--public", path("other.pub")});
    make();
  }

  /// A matching pair.
  void make() {
    sign("cleatd", CLEAT_CLEATD, "server.json");
    sign("cleat-runner", CLEAT_RUNNER, "runner.json");
  }

  void sign(const std::string& artifact, const std::string& program, const std::string& manifest,
            const std::string& revision = "runner-session-id-v1", const std::string& key = "key") const {
    ASSERT_EQ(run({"sign", "--key", path(key), "--artifact", artifact, "--version", "1.2.3", "--binary", program,
                   "--manifest", path(manifest), "--revision", revision}),
              0)
      << output();
  }

  /// `cleat-release`; answers its exit status.
  int run(std::vector<std::string> arguments) const {
    Child child({CLEAT_RELEASE, std::move(arguments), {}, path("output.log")});
    return child.wait(patience).value_or(-1);
  }

  [[nodiscard]] std::string output() const { return read_file(path("output.log")); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void remove(const std::string& name) const { fs::remove(path(name)); }
  void exchange(const std::string& one, const std::string& other) const {
    fs::rename(path(one), path("exchanged"));
    fs::rename(path(other), path(one));
    fs::rename(path("exchanged"), path(other));
  }
  /// Replaces text in a file.
  void alter(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_file(path(name));
    ASSERT_NE(text.find(from), std::string::npos);
    write_file(path(name), text.replace(text.find(from), from.size(), to));
  }

private:
  TemporaryFolder folder_;
};

class ReleaseGate : public testing::Test {
protected:
  std::string url = shared_cluster().createdb(fresh_database_name());
  Release release;
  Server server{{url,
                 {"--set", "release.manifest=" + release.path("server.json"), "--set",
                  "release.runner_manifest=" + release.path("runner.json"), "--set",
                  "release.trust_root=" + release.path("root.pub")},
                 {}}};
  World world{server};
  Sql database{url};
  Client owner = world.as(world.owner);
  Client alex = world.as(world.alex);

  Json readiness() { return server.client("").get("/readyz").json(); }

  /// Sends SIGHUP and waits until the gate says so.
  bool reloads_to(const std::function<bool(const Json&)>& wanted) {
    server.process().signal(SIGHUP);
    const auto until = Clock::now() + patience;
    while (!wanted(readiness())) {
      if (Clock::now() > until)
        return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5)); // a reload is announced in the log alone
    }
    return true;
  }

  void expect_nothing_starts(const Workshop& workshop, const std::string& why) {
    const auto before = database.number("SELECT count(*) FROM session_operations");
    const auto answer = start_agent(alex, workshop.box(), 5);
    EXPECT_EQ(answer.status, 503) << why;
    EXPECT_EQ(answer.problem(), "not_ready/release_gate") << why;
    EXPECT_EQ(database.number("SELECT count(*) FROM session_operations"), before) << why;
    EXPECT_EQ(database.number("SELECT count(*) FROM session_bindings WHERE state = 'live'"), 0) << why;
    EXPECT_EQ(server.client("").get("/readyz").status, 503) << why;
  }
};

TEST_F(ReleaseGate, TestDeploymentGateUsesImmutableManifestRevision) {
  const Workshop workshop(owner, world.alex);
  RunnerProcess runner(server.runner_address(), workshop);
  await_container(alex, workshop.box(), "idle");
  EXPECT_EQ(server.client("").get("/readyz").status, 200);

  struct Case {
    std::string artifact;
    std::string state;
    std::function<void()> spoil;
  };
  const std::vector<Case> cases{
    {"server", "manifest_missing", [&] { release.remove("server.json"); }},
    {"runner", "manifest_missing", [&] { release.remove("runner.json"); }},
    {"server", "signature_missing", [&] { release.remove("server.json.sig"); }},
    {"runner", "signature_missing", [&] { release.remove("runner.json.sig"); }},
    {"server", "trust_root_missing", [&] { release.exchange("root.pub", "key"); }},
    {"server", "signature_wrong",
     [&] { release.sign("cleatd", CLEAT_CLEATD, "server.json", "runner-session-id-v1", "other.key"); }},
    {"runner", "signature_wrong",
     [&] { release.sign("cleat-runner", CLEAT_RUNNER, "runner.json", "runner-session-id-v1", "other.key"); }},
    {"runner", "signature_wrong",
     [&] {
       release.sign("cleat-runner", CLEAT_RUNNER, "runner.json", "runner-session-id-v0");
       release.alter("runner.json", "-v0", "-v1");
     }},
    {"server", "other_program", [&] { release.sign("cleatd", CLEAT_RUNNER, "server.json"); }},
    {"server", "other_revision", [&] { release.sign("cleatd", CLEAT_CLEATD, "server.json", "runner-session-id-v0"); }},
    {"runner", "other_revision",
     [&] { release.sign("cleat-runner", CLEAT_RUNNER, "runner.json", "runner-session-id-v0"); }},
    {"server", "other_artifact",
     [&] {
       release.exchange("server.json", "runner.json");
       release.exchange("server.json.sig", "runner.json.sig");
     }},
  };
  for (const auto& [artifact, state, spoil] : cases) {
    spoil();
    ASSERT_TRUE(reloads_to([&](const Json& now) { return now["release_gate"][artifact]["state"].string() == state; }))
      << artifact << " " << state << " " << server.client("").get("/readyz").body;
    expect_nothing_starts(workshop, artifact + " " + state);
    if (state == "trust_root_missing")
      release.exchange("root.pub", "key");
    release.make();
    ASSERT_TRUE(reloads_to([](const Json& now) { return now["ready"].boolean(); }));
  }
  EXPECT_EQ(runner.agents(), 0) << "no Runner was ever asked";
  EXPECT_EQ(runner.output().find("operation"), std::string::npos) << runner.output();

  const std::string session = live_session(alex, workshop.box());
  // What runs goes on and can be ended when the gate has closed, and threads are not concerned at all.
  release.remove("runner.json");
  ASSERT_TRUE(reloads_to([](const Json& now) { return !now["ready"].boolean(); }));
  EXPECT_EQ(say_to_agent(alex, session, "hello").status / 100, 2);
  await_line(alex, session, "out: said: hello");
  EXPECT_EQ(stop_agent(alex, session).status, 200);
  EXPECT_EQ(resume_agent(alex, workshop.box(), session, 5).problem(), "not_ready/release_gate");
  EXPECT_EQ(bind(alex, world.thread(world.support), {"reference"}).status, 201);
}

TEST_F(ReleaseGate, ReadinessAndLogNameRevisionsAndDigests) {
  release.sign("cleat-runner", CLEAT_RUNNER, "runner.json", "runner-session-id-v0");
  ASSERT_TRUE(reloads_to([](const Json& now) { return !now["ready"].boolean(); }));
  const Json gate = readiness()["release_gate"];
  EXPECT_EQ(gate["expected_revision"].string(), "runner-session-id-v1");
  EXPECT_EQ(gate["server"]["state"].string(), "passes");
  EXPECT_EQ(gate["server"]["running_sha256"].string(), gate["server"]["artifact_sha256"].string());
  EXPECT_EQ(gate["runner"]["manifest_revision"].string(), "runner-session-id-v0");
  EXPECT_EQ(gate["runner"]["manifest_sha256"].string().size(), 64U);
  EXPECT_FALSE(gate["runner"].has("running_sha256")) << "what runs elsewhere cannot be known here";
  const auto log = server.output();
  EXPECT_NE(log.find("manifest revision runner-session-id-v0"), std::string::npos) << log;
  EXPECT_NE(log.find(gate["runner"]["manifest_sha256"].string()), std::string::npos) << log;
  EXPECT_NE(server.client("").get("/metrics").body.find("cleat_release_gate_open 0"), std::string::npos);
}

TEST_F(ReleaseGate, ARunnerThatIsNotItsReleaseDoesNotEnrol) {
  const Workshop workshop(owner, world.alex);
  const auto toml = [&](const std::string& manifest) {
    return "[release]\nmanifest = \"" + release.path(manifest) + "\"\ntrust_root = \"" + release.path("root.pub") +
           "\"\n";
  };
  const auto is_refused = [&](const std::string& manifest, const std::string& why) {
    RunnerOptions options;
    options.toml = toml(manifest);
    RunnerProcess runner(server.runner_address(), workshop, options);
    EXPECT_NE(runner.wait(), 0) << why;
    EXPECT_NE(runner.output().find(why), std::string::npos) << runner.output();
    EXPECT_EQ(alex.get(container_path(workshop.box())).json()["state"].string(), "offline") << why;
  };
  is_refused("absent.json", "there is no manifest");
  is_refused("server.json", "another artifact");
  release.sign("cleat-runner", CLEAT_CLEATD, "altered.json");
  is_refused("altered.json", "not the one of its manifest");
  release.sign("cleat-runner", CLEAT_RUNNER, "old.json", "runner-session-id-v0");
  is_refused("old.json", "another revision");
  release.sign("cleat-runner", CLEAT_RUNNER, "forged.json", "runner-session-id-v1", "other.key");
  is_refused("forged.json", "not signed by the trust root");
  RunnerOptions options;
  options.toml = toml("runner.json");
  const RunnerProcess runner(server.runner_address(), workshop, options);
  await_container(alex, workshop.box(), "idle");
  EXPECT_NE(server.output().find(", runner-session-id-v1'"), std::string::npos)
    << "what it says of itself is logged, and nothing more";
}

TEST(ReleaseTool, KeysAreSecretAndNeverReplaced) {
  const Release release;
  struct stat about {};
  ASSERT_EQ(::stat(release.path("key").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
  const auto before = read_file(release.path("key"));
  EXPECT_NE(release.run({"keygen", "--key", release.path("key"), "--public", release.path("new.pub")}), 0);
  EXPECT_EQ(read_file(release.path("key")), before);
  ASSERT_EQ(::chmod(release.path("key").c_str(), 0640), 0);
  EXPECT_NE(release.run({"sign", "--key", release.path("key"), "--artifact", "cleatd", "--version", "1", "--binary",
                         CLEAT_RUNNER, "--manifest", release.path("new.json")}),
            0);
  EXPECT_NE(release.output().find("chmod 600"), std::string::npos) << release.output();
  EXPECT_FALSE(fs::exists(release.path("new.json")));
}

TEST(ReleaseTool, VerifiesAsTheGateDoesAndSoDoesOpenssl) {
  const Release release;
  const auto verify = [&](const std::string& manifest, const std::string& program) {
    return release.run({"verify", "--trust-root", release.path("root.pub"), "--manifest", release.path(manifest),
                        "--binary", program, "--artifact", "cleatd"});
  };
  EXPECT_EQ(verify("server.json", CLEAT_CLEATD), 0) << release.output();
  EXPECT_NE(verify("server.json", CLEAT_RUNNER), 0);
  EXPECT_NE(verify("runner.json", CLEAT_RUNNER), 0);
  EXPECT_NE(verify("absent.json", CLEAT_CLEATD), 0);
  Child openssl({"/usr/bin/openssl",
                 {"pkeyutl", "-verify", "-pubin", "-inkey", release.path("root.pub"), "-rawin", "-in",
                  release.path("server.json"), "-sigfile", release.path("server.json.sig")},
                 {},
                 release.path("output.log")});
  EXPECT_EQ(openssl.wait(patience), 0) << release.output();
  EXPECT_EQ(release.run({"show", "--manifest", release.path("server.json")}), 0);
  EXPECT_NE(release.output().find("revision    runner-session-id-v1"), std::string::npos) << release.output();
}

} // namespace
} // namespace cleat::test
