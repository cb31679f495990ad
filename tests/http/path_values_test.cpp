#include "http/path_values.hpp"

#include <gtest/gtest.h>

namespace cleat::http {
namespace {

const std::string id_text = "0196f0a9-1b2c-7d10-9a55-6b1f0e2d3c44";
const std::string session(64, 'a');

TEST(PathValues, AreIdsUnlessTheirNameSaysOtherwise) {
  const auto read = read_path("/v1/x/{id}/y/{token_id}", {id_text, id_text});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ids, (std::vector<Id>{*Id::parse(id_text), *Id::parse(id_text)}));
  EXPECT_TRUE(read->texts.empty());
  EXPECT_FALSE(read_path("/v1/x/{id}/y/{token_id}", {id_text, "x"}));
  EXPECT_FALSE(read_path("/v1/x/{id}", {session}));
}

TEST(PathValues, NamesAndSessionsHaveTheirForm) {
  EXPECT_EQ(read_path("/v1/containers/{name}", {"box-1"})->texts, std::vector<std::string>{"box-1"});
  EXPECT_EQ(read_path("/v1/agent-sessions/{session_id}/stop", {session})->texts, std::vector<std::string>{session});
  for (const auto* text : {"", "Box", "a/b", "..", "a\xff"})
    EXPECT_FALSE(read_path("/v1/containers/{name}", {text})) << text;
  for (const auto& text : {std::string("box"), id_text, std::string(64, 'A'), "../" + session.substr(3)})
    EXPECT_FALSE(read_path("/v1/agent-sessions/{session_id}/stop", {text})) << text;
}

TEST(PathValues, ANameOfASecretIsTheRulesToJudge) {
  const auto read = read_path("/v1/accounts/{id}/secrets/{secret_name}", {id_text, "any thing"});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->ids, std::vector<Id>{*Id::parse(id_text)});
  EXPECT_EQ(read->texts, std::vector<std::string>{"any thing"});
  EXPECT_FALSE(read_path("/v1/accounts/{id}/secrets/{secret_name}", {"x", "API_KEY"}));
}

} // namespace
} // namespace cleat::http
