#include "storage/connection_info.hpp"

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

namespace cleat::storage {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t comma = list.find(','); comma != std::string_view::npos; comma = list.find(',')) {
    parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(comma + 1);
  }
  parts.emplace_back(list);
  return parts;
}

/// `host:port, host:port`; libpq takes one port for all hosts or one for each, where an empty one is the default.
std::string servers(const std::string& hosts, const std::string& ports) {
  if (hosts.empty())
    return "the default server";
  const auto port_list = split(ports);
  std::string text;
  std::size_t i = 0;
  for (const auto& host : split(hosts)) {
    text += (i > 0 ? ", " : "") + host;
    if (const auto& port = port_list[port_list.size() == 1 ? 0 : i % port_list.size()]; !port.empty())
      text += ":" + port;
    ++i;
  }
  return text;
}

} // namespace

std::string describe_database(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(PQconninfoParse(url.c_str(), nullptr),
                                                                             &PQconninfoFree);
  if (!options)
    return "a database that cannot be named, because its URL is not one";
  std::map<std::string_view, std::string> values;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option)
    if (option->val != nullptr)
      values[option->keyword] = option->val;
  const auto& name = values["dbname"];
  const auto& host = values["host"].empty() ? values["hostaddr"] : values["host"];
  return (name.empty() ? "the default database" : name) + " on " + servers(host, values["port"]);
}

} // namespace cleat::storage
