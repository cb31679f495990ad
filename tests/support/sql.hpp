#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

struct pg_conn;

namespace cleat::test {

/// An error that PostgreSQL reported, or the loss of the connection (an empty `sqlstate`).
struct SqlError : std::runtime_error {
  SqlError(const std::string& message, std::string state, std::string constraint_name)
    : std::runtime_error(message), sqlstate(std::move(state)), constraint(std::move(constraint_name)) {}

  std::string sqlstate;
  /// The name of the violated constraint or unique index, if one was.
  std::string constraint;
};

/// A connection of a test's own, to look at rows and to put some there behind the product's back.
class Sql {
public:
  using Value = std::optional<std::string>;
  using Row = std::vector<Value>;

  /// Connects; throws `SqlError`.
  explicit Sql(const std::string& url);
  ~Sql();

  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;

  /// Runs one statement with text parameters ($1, $2, ...) and answers its rows as text. Throws `SqlError`.
  std::vector<Row> run(const std::string& statement, const std::vector<Value>& parameters = {});

  /// The single value of a statement's single row; throws `std::runtime_error` when there is another number of rows.
  std::string value(const std::string& statement, const std::vector<Value>& parameters = {});

  /// The same as a number.
  std::int64_t number(const std::string& statement, const std::vector<Value>& parameters = {});

  /// Runs statements without parameters, separated by semicolons.
  void script(const std::string& statements);

private:
  struct Close {
    void operator()(pg_conn* connection) const;
  };
  std::unique_ptr<pg_conn, Close> connection_;
};

} // namespace cleat::test
