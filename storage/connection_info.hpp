#pragma once

#include <string>

namespace cleat::storage {

/// Which database a libpq connection string or URL leads to, for people: hosts, ports and name, for example
/// `cleat on db1.example.com:5432, db2.example.com:5432`. User and password stay out. A text that is no connection
/// string is described as such and not shown.
std::string describe_database(const std::string& url);

} // namespace cleat::storage
