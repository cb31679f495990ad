// What cleatd says at the terminal when it is ready.
#include "apps/cleatd/announcement.hpp"

#include <gmock/gmock.h>

namespace cleat::cleatd {
namespace {

using testing::HasSubstr;
using testing::Not;

Announcement example() {
  return {"http://127.0.0.1:7480",  "127.0.0.1:7481", "cleat on db.example.com:5432",
          "/srv/cleat/owner.token", "/srv/cleat",     {}};
}

TEST(Announcement, SaysWhereEverythingIs) {
  const auto text = text_of(example());
  EXPECT_THAT(text, HasSubstr("http://127.0.0.1:7480"));
  EXPECT_THAT(text, HasSubstr("127.0.0.1:7481"));
  EXPECT_THAT(text, HasSubstr("cleat on db.example.com:5432"));
  EXPECT_THAT(text, HasSubstr("/srv/cleat/owner.token"));
  EXPECT_THAT(text, Not(HasSubstr("curl")));
}

TEST(Announcement, ADemoComesWithThreeLinesForAShell) {
  auto announcement = example();
  announcement.demo_thread_id = "01934f00-0000-7000-8000-000000000001";
  announcement.owner_token_file = "/srv/it's mine/owner.token";
  const auto text = text_of(announcement);
  const std::string sessions = "http://127.0.0.1:7480/v1/threads/01934f00-0000-7000-8000-000000000001/agent-sessions";
  const std::string token = R"line(-H "Authorization: Bearer $(cat '/srv/it'\''s mine/owner.token')" )line";
  EXPECT_THAT(text, HasSubstr("  curl -sS " + token + sessions + "\n"));
  EXPECT_THAT(text, HasSubstr(sessions + "/bind\n"));
  EXPECT_THAT(text, HasSubstr(sessions + "/reset\n"));
  EXPECT_THAT(text, HasSubstr("/srv/cleat/demo.tokens"));
}

TEST(Announcement, ThroughTlsTheLinesTrustTheServersCertificate) {
  auto announcement = example();
  announcement.url = "https://127.0.0.1:7480";
  announcement.demo_thread_id = "01934f00-0000-7000-8000-000000000001";
  announcement.certificate = "/etc/cleat/full chain.pem";
  const auto text = text_of(announcement);
  std::size_t lines = 0;
  for (auto at = text.find("curl"); at != std::string::npos; at = text.find("curl", at + 1), ++lines)
    EXPECT_EQ(text.find("curl -sS --cacert '/etc/cleat/full chain.pem' -H", at), at);
  EXPECT_EQ(lines, 4U);
}

TEST(Announcement, SaysThatTheOwnersTokenIsElsewhere) {
  auto announcement = example();
  announcement.owner_token_file.clear();
  EXPECT_THAT(text_of(announcement), HasSubstr("not in this data folder"));
}

TEST(ShellWord, IsReadBackUnchanged) {
  EXPECT_EQ(shell_word("/srv/cleat-1/owner.token"), "/srv/cleat-1/owner.token");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $HOME"), R"('it'\''s $HOME')");
  EXPECT_EQ(shell_word(""), "''");
}

} // namespace
} // namespace cleat::cleatd
