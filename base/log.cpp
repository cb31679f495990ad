#include "base/log.hpp"

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>

#include <spdlog/formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include "base/time.hpp"

namespace cleat::log {
namespace {

/// One JSON object a line. spdlog's pattern formatter cannot escape, so the message is escaped here.
class JsonFormatter final : public spdlog::formatter {
public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto time = std::chrono::floor<std::chrono::microseconds>(message.time);
    append(out, R"({"time":")");
    append(out, format_rfc3339(time));
    append(out, R"(","level":")");
    const auto level = spdlog::level::to_string_view(message.level);
    append(out, {level.data(), level.size()});
    append(out, R"(","message":")");
    append_escaped(out, {message.payload.data(), message.payload.size()});
    append(out, "\"}\n");
  }

  [[nodiscard]] std::unique_ptr<formatter> clone() const override { return std::make_unique<JsonFormatter>(); }

private:
  static void append(spdlog::memory_buf_t& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
  }

  /// Bytes outside ASCII are written as `\u00XX`: our own words have none, and foreign ones must neither break the
  /// line nor reorder it on a terminal.
  static void append_escaped(spdlog::memory_buf_t& out, std::string_view text) {
    constexpr char hex[] = "0123456789abcdef";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out.push_back('\\');
        out.push_back(c);
      } else if (byte < 0x20 || byte > 0x7e) {
        append(out, "\\u00");
        out.push_back(hex[byte >> 4]);
        out.push_back(hex[byte & 15]);
      } else {
        out.push_back(c);
      }
    }
  }
};

std::shared_ptr<spdlog::logger>& instance() {
  static std::shared_ptr<spdlog::logger> logger =
    std::make_shared<spdlog::logger>("cleat", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  return logger;
}

} // namespace

void init(Format format, const std::string& level) {
  const auto parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off")
    throw std::invalid_argument("log.level is '" + level + "'; use trace, debug, info, warn or error");
  if (format == Format::automatic)
    format = isatty(STDERR_FILENO) == 1 ? Format::text : Format::json;
  instance()->set_level(parsed);
  instance()->flush_on(spdlog::level::info);
  if (format == Format::json)
    instance()->set_formatter(std::make_unique<JsonFormatter>());
  else
    instance()->set_pattern("%H:%M:%S.%e %^%-5l%$ %v");
}

spdlog::logger& get() {
  return *instance();
}

} // namespace cleat::log
