// The embedded PostgreSQL: made, started, adopted, replaced and restarted for real, each test in a folder of its own.
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "storage/connection_info.hpp"
#include "storage/data_folder.hpp"
#include "storage/embedded.hpp"

namespace cleat::storage {
namespace {

using namespace std::chrono_literals;

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The sentence that an exception of `action` carries.
std::string refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// One connection; statements answer their first value or the error's text.
class Client {
public:
  explicit Client(const std::string& url) : connection_(PQconnectdb(url.c_str())) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { PQfinish(connection_); }

  [[nodiscard]] bool connected() const { return PQstatus(connection_) == CONNECTION_OK; }

  std::string operator()(const char* statement) {
    PGresult* result = PQexec(connection_, statement);
    std::string answer = PQresultErrorMessage(result);
    if (PQntuples(result) > 0)
      answer = PQgetvalue(result, 0, 0);
    PQclear(result);
    return answer;
  }

  /// Sends a statement and does not wait for its answer.
  void send(const char* statement) { PQsendQuery(connection_, statement); }

private:
  PGconn* connection_;
};

/// The answer of one statement on a connection of its own.
std::string ask(const std::string& url, const char* statement) {
  return Client(url)(statement);
}

class EmbeddedPostgresTest : public testing::Test {
protected:
  /// Makes one cluster; most tests start from a copy of it, because initdb is most of a start.
  static void SetUpTestSuite() {
    std::string name = (std::filesystem::temp_directory_path() / "cleat-embedded-XXXXXX").string();
    made_ = mkdtemp(name.data());
    const DataFolder data(made_);
    const EmbeddedPostgres postgres(data, {}, std::make_shared<Metrics>());
  }

  static void TearDownTestSuite() { std::filesystem::remove_all(made_); }

  /// Puts the cluster that was made into this test's data folder, owners and modes included.
  void use_made_cluster() {
    std::filesystem::create_directory(folder_);
    const auto copied = run({{"cp", "-a", (made_ / "postgres").string(), cluster().string()}}, 60s);
    ASSERT_EQ(copied.exit_code, 0) << copied.text;
  }

  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "cleat-embedded-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    // mkdtemp's mode is 0700, so as root this also shows that PostgreSQL's user need not reach the folder by its path.
    root_ = name;
    folder_ = root_ / "data";
  }

  void TearDown() override { std::filesystem::remove_all(root_); }

  [[nodiscard]] std::filesystem::path cluster() const { return folder_ / "postgres"; }

  /// Runs `use` as a cleatd that is then killed, so that nothing is stopped or removed by it.
  void as_killed_cleatd(const EmbeddedOptions& options, const std::function<void(EmbeddedPostgres&)>& use) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        const DataFolder data(folder_);
        EmbeddedPostgres postgres(data, options, std::make_shared<Metrics>());
        use(postgres);
        kill(getpid(), SIGKILL);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
      _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }

  /// Waits until PostgreSQL runs as another process than `before`.
  static void await_restart(const EmbeddedPostgres& postgres, pid_t before) {
    const auto deadline = std::chrono::steady_clock::now() + 30s;
    while (postgres.pid() == before || postgres.pid() == 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "PostgreSQL was not restarted";
      std::this_thread::sleep_for(5ms);
    }
  }

  static inline std::filesystem::path made_;
  std::filesystem::path root_;
  std::filesystem::path folder_;
  std::shared_ptr<Metrics> metrics_ = std::make_shared<Metrics>();
};

TEST_F(EmbeddedPostgresTest, KeepsWhatWasWrittenAcrossStops) {
  const DataFolder data(folder_);
  std::string url;
  {
    EmbeddedPostgres postgres(data, {}, metrics_);
    url = postgres.url();
    EXPECT_FALSE(postgres.adopted());
    EXPECT_EQ(ask(url, "CREATE TABLE kept AS SELECT 42 AS answer"), "");
    postgres.stop();
    postgres.stop(); // the second time does nothing
    EXPECT_FALSE(Client(url).connected());
  }
  EmbeddedPostgres again(data, {}, metrics_);
  EXPECT_EQ(again.url(), url);
  EXPECT_EQ(ask(url, "SELECT answer FROM kept"), "42");
  EXPECT_EQ(metrics_->database_restarts.Value(), 0);
}

TEST_F(EmbeddedPostgresTest, IsDurableAndPrivate) {
  use_made_cluster();
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  const auto& url = postgres.url();
  EXPECT_EQ(ask(url, "SHOW fsync"), "on");
  EXPECT_EQ(ask(url, "SHOW synchronous_commit"), "on");
  EXPECT_EQ(ask(url, "SHOW full_page_writes"), "on");
  EXPECT_EQ(ask(url, "SHOW data_checksums"), "on");
  EXPECT_EQ(ask(url, "SHOW listen_addresses"), "");
  EXPECT_EQ(ask(url, "SHOW server_encoding"), "UTF8");
  for (const auto* name : {"postgres", "postgres-socket"}) {
    struct stat info {};
    ASSERT_EQ(stat((folder_ / name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777U, 0700U) << name;
    EXPECT_NE(info.st_uid, 0U) << name;
  }
}

TEST_F(EmbeddedPostgresTest, LogsNoValues) {
  use_made_cluster();
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  Client client(postgres.url());
  EXPECT_EQ(client("CREATE TABLE refs (ref text PRIMARY KEY)"), "");
  EXPECT_EQ(client("INSERT INTO refs VALUES ('private-reference')"), "");
  EXPECT_NE(client("INSERT INTO refs VALUES ('private-reference')").find("duplicate key"), std::string::npos);
  EXPECT_NE(client("SELECT 'private-reference'::uuid").find("invalid input"), std::string::npos);
  EXPECT_EQ(slurp(folder_ / "postgres.log").find("private-reference"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "postgres.log").find("ready to accept connections"), std::string::npos);
}

TEST_F(EmbeddedPostgresTest, IsRestartedWhenKilled) {
  use_made_cluster();
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  EXPECT_EQ(ask(postgres.url(), "CREATE TABLE kept AS SELECT 42 AS answer"), "");
  for (int round = 1; round <= 2; ++round) {
    const auto before = postgres.pid();
    kill(before, SIGKILL);
    await_restart(postgres, before);
    EXPECT_EQ(ask(postgres.url(), "SELECT answer FROM kept"), "42");
  }
  EXPECT_EQ(metrics_->database_restarts.Value(), 2);
}

TEST_F(EmbeddedPostgresTest, IsRestartedWhenKilledWhileAServerProcessWorks) {
  use_made_cluster();
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  Client busy(postgres.url());
  // This server process does not notice that its postmaster is gone before it is done.
  busy.send("SELECT count(*) FROM generate_series(1, 6000000)");
  const auto before = postgres.pid();
  kill(before, SIGKILL);
  await_restart(postgres, before);
  EXPECT_EQ(ask(postgres.url(), "SELECT 1"), "1");
}

TEST_F(EmbeddedPostgresTest, IsAdoptedAfterCleatdWasKilled) {
  use_made_cluster();
  as_killed_cleatd({}, [](EmbeddedPostgres& postgres) { ask(postgres.url(), "CREATE TABLE kept AS SELECT 42 AS x"); });
  const auto left = find_postmaster(cluster());
  ASSERT_TRUE(left.has_value());
  const DataFolder data(folder_);
  EmbeddedPostgres postgres(data, {}, metrics_);
  EXPECT_TRUE(postgres.adopted());
  EXPECT_EQ(postgres.pid(), left->pid());
  EXPECT_EQ(ask(postgres.url(), "SELECT x FROM kept"), "42");
  // What was adopted is supervised and stopped like a child.
  kill(left->pid(), SIGKILL);
  await_restart(postgres, left->pid());
  EXPECT_EQ(ask(postgres.url(), "SELECT x FROM kept"), "42");
  postgres.stop();
  EXPECT_FALSE(find_postmaster(cluster()).has_value());
}

TEST_F(EmbeddedPostgresTest, IsReplacedWhenItsSettingsDiffer) {
  use_made_cluster();
  EmbeddedOptions options;
  options.max_connections = 21;
  as_killed_cleatd(options, [](EmbeddedPostgres&) {});
  const auto left = find_postmaster(cluster());
  ASSERT_TRUE(left.has_value());
  options.max_connections = 22;
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, options, metrics_);
  EXPECT_FALSE(postgres.adopted());
  EXPECT_NE(postgres.pid(), left->pid());
  EXPECT_EQ(ask(postgres.url(), "SHOW max_connections"), "22");
}

TEST_F(EmbeddedPostgresTest, IsStartedWhenBothWereKilled) {
  use_made_cluster();
  as_killed_cleatd({}, [](EmbeddedPostgres& postgres) {
    ask(postgres.url(), "CREATE TABLE kept AS SELECT 42 AS x");
    kill(postgres.pid(), SIGSTOP); // so that its supervisor does not see it end before the end of this process
  });
  const auto file = read_postmaster_file(cluster());
  ASSERT_TRUE(file.has_value());
  kill(file->pid, SIGKILL);
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  EXPECT_EQ(ask(postgres.url(), "SELECT x FROM kept"), "42");
}

TEST_F(EmbeddedPostgresTest, AStalePidFileIsNoObstacle) {
  use_made_cluster();
  const DataFolder data(folder_);
  { const EmbeddedPostgres postgres(data, {}, metrics_); }
  // After a reboot the number may belong to any process: to one that runs, like this one, or to none.
  const pid_t gone = fork();
  if (gone == 0)
    _exit(0);
  waitpid(gone, nullptr, 0);
  for (const auto pid : {getpid(), gone}) {
    std::ofstream(cluster() / "postmaster.pid") << pid << "\n" << cluster().string() << "\n1\n5432\n\n\n\nready\n";
    EmbeddedPostgres postgres(data, {}, metrics_);
    EXPECT_FALSE(postgres.adopted());
    EXPECT_EQ(ask(postgres.url(), "SELECT 1"), "1");
  }
}

TEST_F(EmbeddedPostgresTest, AHalfMadeClusterIsMadeAnew) {
  std::filesystem::create_directories(folder_ / "postgres.new" / "base");
  std::ofstream(folder_ / "postgres.new" / "PG_VERSION") << "15\n";
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  EXPECT_EQ(ask(postgres.url(), "SELECT 1"), "1");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "postgres.new"));
}

TEST_F(EmbeddedPostgresTest, ASocketPathMayBeLongerThanTheKernelTakes) {
  std::filesystem::create_directory(root_ / std::string(120, 'x'));
  folder_ = root_ / std::string(120, 'x') / "data with 'quotes' and \\";
  use_made_cluster();
  const DataFolder data(folder_);
  const EmbeddedPostgres postgres(data, {}, metrics_);
  EXPECT_EQ(ask(postgres.url(), "SELECT 1"), "1");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "postgres-socket" / ".s.PGSQL.5432"));
}

TEST_F(EmbeddedPostgresTest, StopsCleanlyInAProcessThatBlocksSignals) {
  use_made_cluster();
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const DataFolder data(folder_);
  EmbeddedPostgres postgres(data, {}, metrics_);
  postgres.stop();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_NE(slurp(folder_ / "postgres.log").find("received fast shutdown request"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "postgres.log").find("database system is shut down"), std::string::npos);
  EXPECT_EQ(slurp(folder_ / "postgres.log").find("immediate shutdown"), std::string::npos);
}

TEST_F(EmbeddedPostgresTest, StopsWhileRestartsFail) {
  use_made_cluster();
  const DataFolder data(folder_);
  EmbeddedPostgres postgres(data, {}, metrics_);
  const auto before = postgres.pid();
  std::filesystem::rename(cluster() / "postgresql.conf", root_ / "postgresql.conf");
  kill(before, SIGKILL);
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (slurp(folder_ / "postgres.log").find("could not access the server configuration file") == std::string::npos) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(5ms);
  }
  postgres.stop();
  EXPECT_EQ(postgres.pid(), 0);
  EXPECT_EQ(metrics_->database_restarts.Value(), 0);
}

TEST_F(EmbeddedPostgresTest, SaysWhyItCannotStart) {
  use_made_cluster();
  const DataFolder data(folder_);
  { const EmbeddedPostgres postgres(data, {}, metrics_); }
  std::ofstream(cluster() / "postgresql.conf", std::ios::app) << "no_such_setting = 1\n";
  const auto words = refusal_of([&] { const EmbeddedPostgres postgres(data, {}, metrics_); });
  EXPECT_NE(words.find("PostgreSQL did not start"), std::string::npos) << words;
  EXPECT_NE(words.find("no_such_setting"), std::string::npos) << words;
}

TEST_F(EmbeddedPostgresTest, NamesTheKeyOfAWrongProgramFolder) {
  const DataFolder data(folder_);
  EmbeddedOptions options;
  options.postgres_bin = root_;
  const auto words = refusal_of([&] { const EmbeddedPostgres postgres(data, options, metrics_); });
  EXPECT_NE(words.find("database.postgres_bin"), std::string::npos) << words;
}

TEST_F(EmbeddedPostgresTest, RefusesAClusterOfAnotherVersion) {
  const DataFolder data(folder_);
  std::filesystem::create_directories(cluster());
  std::ofstream(cluster() / "PG_VERSION") << "9\n";
  const auto words = refusal_of([&] { const EmbeddedPostgres postgres(data, {}, metrics_); });
  EXPECT_NE(words.find("was made by PostgreSQL 9"), std::string::npos) << words;
}

TEST_F(EmbeddedPostgresTest, TheUserIsChosenByRootAlone) {
  const DataFolder data(folder_);
  EmbeddedOptions options;
  for (const auto* user : {"no-such-user", "root"}) {
    options.user = user;
    if (geteuid() != 0) {
      // Everybody else runs PostgreSQL as themselves, whatever the key says.
      const EmbeddedPostgres postgres(data, options, metrics_);
      struct stat info {};
      ASSERT_EQ(stat(cluster().c_str(), &info), 0);
      EXPECT_EQ(info.st_uid, geteuid());
      continue;
    }
    const auto words = refusal_of([&] { const EmbeddedPostgres postgres(data, options, metrics_); });
    EXPECT_NE(words.find("database.embedded_user"), std::string::npos) << words;
    EXPECT_NE(words.find(user), std::string::npos) << words;
  }
}

TEST_F(EmbeddedPostgresTest, OneCleatdAFolder) {
  const DataFolder data(folder_);
  const auto words = refusal_of([&] { const DataFolder second(folder_); });
  EXPECT_NE(words.find("in use by another cleatd (process " + std::to_string(getpid()) + ")"), std::string::npos)
    << words;
}

TEST_F(EmbeddedPostgresTest, TheLockEndsWithItsHolder) {
  { const DataFolder data(folder_); }
  EXPECT_NO_THROW(DataFolder{folder_});
}

TEST_F(EmbeddedPostgresTest, FilesOfTheDataFolderAreWholeAndPrivate) {
  const DataFolder data(folder_);
  EXPECT_EQ(data.read("note"), std::nullopt);
  data.write("note", "first");
  std::ofstream(folder_ / "note.new") << "left by a crash";
  data.write("note", "second");
  EXPECT_EQ(data.read("note"), "second");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "note.new"));
  struct stat info {};
  ASSERT_EQ(stat((folder_ / "note").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  data.remove("note");
  data.remove("note"); // the second time does nothing
  EXPECT_EQ(data.read("note"), std::nullopt);
}

TEST_F(EmbeddedPostgresTest, AFolderThatExistedKeepsItsMode) {
  std::filesystem::create_directory(folder_);
  ASSERT_EQ(chmod(folder_.c_str(), 0755), 0);
  const DataFolder data(folder_);
  struct stat info {};
  ASSERT_EQ(stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0755U);
}

TEST(DescribeDatabase, NamesServersAndDatabaseAndNoSecret) {
  EXPECT_EQ(describe_database("postgresql://cleat:secret@db1.example.com:5433,db2.example.com/cleat?"
                              "target_session_attrs=read-write"),
            "cleat on db1.example.com:5433, db2.example.com");
  EXPECT_EQ(describe_database("host=db.example.com port=5432 user=cleat password=secret dbname=cleat"),
            "cleat on db.example.com:5432");
  EXPECT_EQ(describe_database("dbname=cleat"), "cleat on the default server");
  EXPECT_EQ(describe_database("hostaddr=192.0.2.1"), "the default database on 192.0.2.1");
  EXPECT_EQ(describe_database("secret").find("secret"), std::string::npos);
}

} // namespace
} // namespace cleat::storage
