#pragma once

#include <string>

namespace cleat::storage {

/// The libpq connection string of the embedded server's database `cleat` on the socket in the folder `host`.
std::string connection_string(const std::string& host);

/// Whether anybody takes connections at `url` now.
bool takes_connections(const std::string& url);

/// Makes the database that `url` names where it is missing. Throws `std::runtime_error` with the server's words.
void make_database(const std::string& url);

} // namespace cleat::storage
