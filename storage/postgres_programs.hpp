#pragma once

#include <filesystem>
#include <optional>

namespace cleat::storage {

/// Where the programs of one PostgreSQL installation are, and which major version it is.
struct PostgresPrograms {
  /// The folder that holds `initdb` and `postgres`.
  std::filesystem::path folder;
  int major = 0;
};

/// The oldest PostgreSQL that Cleat runs on.
inline constexpr int oldest_postgres_major = 15;

/// The major version that made the cluster in `cluster`; `nullopt` when there is no cluster.
std::optional<int> cluster_major(const std::filesystem::path& cluster);

/// Finds the programs for a cluster of version `wanted` (any version when it is `nullopt`): in `configured`
/// (database.postgres_bin) and nowhere else when that is not empty, else where Debian has that version, where
/// `pg_config` points, or the newest that Debian has. Throws `std::runtime_error` that says what to install when
/// there are none, they are older than 15, or their version is not `wanted`.
PostgresPrograms find_postgres(const std::filesystem::path& configured, std::optional<int> wanted);

} // namespace cleat::storage
