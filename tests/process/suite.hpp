#pragma once

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/process/check.hpp"
#include "tests/process/server.hpp"
#include "tests/process/world.hpp"
#include "tests/support/cluster.hpp"
#include "tests/support/sql.hpp"

namespace cleat::test {

/// Tests that share one server over one database of the shared cluster. Each builds its own `World` in it. The server
/// logs all it can, so that tests which look for secrets in its log look everywhere. What it leaves has to be sound.
class ServerSuite : public testing::Test {
protected:
  static void SetUpTestSuite() {
    url_ = std::make_unique<std::string>(shared_cluster().createdb(fresh_database_name()));
    server_ = std::make_unique<Server>(ServerOptions{*url_, {}, {{"CLEAT_LOG_LEVEL", "debug"}}});
  }

  static void TearDownTestSuite() {
    server_.reset();
    expect_sound(*url_);
    end_unchecked();
  }

  /// The end of a suite that has put rows there by hand.
  static void end_unchecked() {
    server_.reset();
    url_.reset();
  }

  static Server& server() { return *server_; }
  static const std::string& url() { return *url_; }

private:
  inline static std::unique_ptr<std::string> url_;
  inline static std::unique_ptr<Server> server_;
};

/// A suite whose every test has a world and a look into the database.
class WorldSuite : public ServerSuite {
protected:
  World world{server()};
  Sql database{url()};

  Client owner = world.as(world.owner);
  Client alex = world.as(world.alex);
  Client sam = world.as(world.sam);
  Client robin = world.as(world.robin);
};

} // namespace cleat::test
