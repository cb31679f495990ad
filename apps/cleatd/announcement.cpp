#include "apps/cleatd/announcement.hpp"

#include <algorithm>
#include <cctype>

#include "apps/cleatd/version.hpp"

namespace cleat::cleatd {
namespace {

std::string curl_lines(const Announcement& announcement) {
  // Right for certificates of any authority: curl takes the server's own certificate in place of its authority's.
  const auto trust = announcement.certificate.empty()
                       ? std::string()
                       : "--cacert " + shell_word(announcement.certificate.string()) + " ";
  const auto sessions = announcement.url + "/v1/threads/" + *announcement.demo_thread_id + "/agent-sessions";
  const auto token = "-H \"Authorization: Bearer $(cat " + shell_word(announcement.owner_token_file.string()) + ")\"";
  const std::string json = " -H 'Content-Type: application/json' -d ";
  const auto runs = announcement.url + "/v1/threads/" + *announcement.demo_thread_id + "/runs";
  const auto call = "  curl -sS " + trust + token;
  return "\nTry it on a demo thread: its sessions, bind one, end it, say something to its agent.\n\n" + call + " " +
         sessions + "\n" + call + json + "'{\"external_session_ref\": \"my-first-session\"}' " + sessions + "/bind\n" +
         call + json + "'{}' " + sessions + "/reset\n" + call + json + "'{\"content_md\": \"Hello!\"}' " + runs + "\n";
}

} // namespace

std::string text_of(const Announcement& announcement) {
  std::string text = std::string("Cleat ") + version + " is ready.\n\n";
  text += "  address      " + announcement.url + "\n";
  text += "  API          " + announcement.url + "/docs\n";
  text += "  Runners      " + announcement.runner + "\n";
  text += "  database     " + announcement.database + "\n";
  text += "  owner token  ";
  text += announcement.owner_token_file.empty() ? "not in this data folder" : announcement.owner_token_file.string();
  text += "\n";
  if (announcement.demo_thread_id) {
    text +=
      "  demo tokens  " + (announcement.data / "demo.tokens").string() + " (Alex, Sam, Robin and the agent Lotse)\n";
    text += curl_lines(announcement);
  }
  return text + "\nCtrl-C stops it.\n";
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
  });
  if (plain)
    return text;
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + "'";
}

} // namespace cleat::cleatd
