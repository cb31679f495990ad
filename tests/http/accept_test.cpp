#include <gtest/gtest.h>

#include "http/accept.hpp"

namespace cleat::http {
namespace {

LogForm form(const char* accept) {
  return preferred_form({{"accept", accept}});
}

TEST(Accept, AbsentOrAnythingMeansTheStream) {
  EXPECT_EQ(preferred_form({}), LogForm::stream);
  EXPECT_EQ(form("*/*"), LogForm::stream);
  EXPECT_EQ(form("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"), LogForm::stream);
}

TEST(Accept, TheOtherDefaultIsForThoseWhoDoNotSay) {
  const auto of = [](const char* accept) { return preferred_form({{"accept", accept}}, LogForm::page); };
  EXPECT_EQ(preferred_form({}, LogForm::page), LogForm::page);
  EXPECT_EQ(of("*/*"), LogForm::page);
  EXPECT_EQ(of("application/json, text/event-stream"), LogForm::page);
  EXPECT_EQ(of("text/event-stream"), LogForm::stream);
  EXPECT_EQ(of("text/event-stream, */*"), LogForm::stream);
  EXPECT_EQ(of("text/html"), LogForm::page);
}

TEST(Accept, TheOneThatIsNamedIsMeant) {
  EXPECT_EQ(form("application/json"), LogForm::page);
  EXPECT_EQ(form("Application/JSON; charset=utf-8"), LogForm::page);
  EXPECT_EQ(form("application/*"), LogForm::page);
  EXPECT_EQ(form("text/event-stream"), LogForm::stream);
  EXPECT_EQ(form("TEXT/*"), LogForm::stream);
}

TEST(Accept, TheMoreExactNameWinsOverTheWildcard) {
  EXPECT_EQ(form("application/json, text/plain, */*"), LogForm::page);
  EXPECT_EQ(form("*/*, application/json"), LogForm::page);
  EXPECT_EQ(form("application/json, text/event-stream"), LogForm::stream);
}

TEST(Accept, TheGreaterWeightWins) {
  EXPECT_EQ(form("text/event-stream;q=0.5, application/json;q=0.6"), LogForm::page);
  EXPECT_EQ(form("text/event-stream ; q=0.6 , application/json ; q=0.599"), LogForm::stream);
  EXPECT_EQ(form("application/json;q=0.2, */*"), LogForm::stream);
  EXPECT_EQ(form("text/event-stream;q=0, */*"), LogForm::page);
  EXPECT_EQ(form("application/json;level=1;q=1.000"), LogForm::page);
}

TEST(Accept, FieldsAreOneList) {
  EXPECT_EQ(preferred_form({{"Accept", "text/event-stream;q=0.1"}, {"Accept", "application/json"}}), LogForm::page);
}

TEST(Accept, AWeightThatIsNoneSaysNothing) {
  for (const auto* weight : {"2", "-1", "x", "", "0.1234", "nan", "1e0"})
    EXPECT_EQ(form(("application/json;q=" + std::string(weight) + ", text/event-stream;q=0.1").c_str()),
              LogForm::stream)
      << weight;
}

TEST(Accept, WhoWantsNeitherGetsThePage) {
  EXPECT_EQ(form("text/html"), LogForm::page);
  EXPECT_EQ(form("*/*;q=0"), LogForm::page);
  EXPECT_EQ(form(""), LogForm::page);
}

} // namespace
} // namespace cleat::http
