#include "protocol/json_reader.hpp"

#include <algorithm>
#include <set>

#include <simdjson.h>

#include "base/limits.hpp"
#include "protocol/validate.hpp"

namespace cleat::json {
namespace {

/// Stands for bytes that are no UTF-8 while the rest of the body is read: a noncharacter that no text contains.
constexpr std::string_view broken_mark = "\xef\xb7\x90"; // U+FDD0

/// RFC 6901: `~` and `/` in a member's name.
std::string escape_pointer(std::string_view member) {
  std::string text;
  for (const char c : member) {
    if (c == '~')
      text += "~0";
    else if (c == '/')
      text += "~1";
    else
      text += c;
  }
  return text;
}

/// Shared by the readers of one body.
struct Findings {
  std::vector<FieldError> errors;
  /// Whether the body held bytes that are no UTF-8.
  bool broken = false;
  /// Whether the name of a member held some: it has no pointer then, so the body is no JSON.
  bool broken_name = false;

  /// Whether `text` holds what were bytes that are no UTF-8.
  [[nodiscard]] bool is_broken(std::string_view text) const {
    return broken && text.find(broken_mark) != std::string_view::npos;
  }
};

} // namespace

struct ObjectReader::Impl {
  simdjson::dom::object members;
  std::string prefix;
  Findings& findings;
  std::set<std::string, std::less<>> asked;

  [[nodiscard]] std::string pointer(std::string_view member) const { return prefix + "/" + escape_pointer(member); }

  void note(std::string_view member, FieldCode code) { note_at(pointer(member), code); }

  void note_at(std::string pointer, FieldCode code) {
    FieldError error{std::move(pointer), code};
    // One complaint a member is enough: the first names the cause.
    const bool known = std::any_of(findings.errors.begin(), findings.errors.end(),
                                   [&](const FieldError& other) { return other.pointer == error.pointer; });
    if (!known)
      findings.errors.push_back(std::move(error));
  }

  /// The member's value, when it is there once and not null.
  std::optional<simdjson::dom::element> find(std::string_view member) {
    asked.emplace(member);
    std::optional<simdjson::dom::element> found;
    for (const auto field : members) {
      if (field.key != member)
        continue;
      if (found) {
        note(member, FieldCode::duplicate_member);
        return std::nullopt;
      }
      found = field.value;
    }
    if (found && found->is_null()) {
      note(member, FieldCode::null_not_allowed);
      return std::nullopt;
    }
    return found;
  }

  /// What nobody asked for, and what stands twice without having been asked for.
  void finish() {
    for (const auto field : members) {
      if (findings.is_broken(field.key))
        findings.broken_name = true;
      else if (!asked.contains(field.key))
        note(field.key, FieldCode::unknown_member);
    }
  }

  static void read(simdjson::dom::object members, std::string prefix, Findings& findings, const Visit& visit) {
    Impl impl{members, std::move(prefix), findings, {}};
    ObjectReader reader(impl);
    visit(reader);
    impl.finish();
  }

  template <class T>
  std::optional<T> scalar(std::string_view member) {
    const auto element = find(member);
    if (!element)
      return std::nullopt;
    T value{};
    if (element->get(value) != simdjson::SUCCESS) {
      note(member, FieldCode::wrong_type);
      return std::nullopt;
    }
    return value;
  }
};

namespace {

std::optional<Refusal> read_parsed(std::string_view body, bool broken, const Visit& visit) {
  thread_local simdjson::dom::parser parser;
  if (parser.max_depth() != static_cast<std::size_t>(limits::json_max_depth) &&
      parser.allocate(0, static_cast<std::size_t>(limits::json_max_depth)) != simdjson::SUCCESS)
    return Refusal{Code::malformed_json};
  simdjson::dom::element root;
  const simdjson::error_code failure = parser.parse(body.data(), body.size()).get(root);
  if (failure == simdjson::UTF8_ERROR && !broken) {
    // simdjson refuses such a body as a whole; with the mark the reader can name the member that holds it.
    return read_parsed(validate::replace_invalid_utf8(body, broken_mark), true, visit);
  }
  if (failure != simdjson::SUCCESS)
    return Refusal{Code::malformed_json};
  simdjson::dom::object members;
  if (root.get(members) != simdjson::SUCCESS)
    return Refusal{Code::validation_failed, Reason::none, {{"", FieldCode::wrong_type}}, {}};
  Findings findings{{}, broken};
  ObjectReader::Impl::read(members, "", findings, visit);
  if (findings.broken_name)
    return Refusal{Code::malformed_json};
  if (!findings.errors.empty())
    return Refusal{Code::validation_failed, Reason::none, std::move(findings.errors), {}};
  // Broken bytes that no string of ours holds stand between the tokens: that is no JSON.
  if (broken)
    return Refusal{Code::malformed_json};
  return std::nullopt;
}

} // namespace

std::optional<Refusal> read_object(std::string_view body, bool empty_is_object, const Visit& visit) {
  if (body.empty() && empty_is_object)
    body = "{}";
  return read_parsed(body, false, visit);
}

std::optional<std::string> ObjectReader::string(std::string_view member) {
  const auto text = impl_->scalar<std::string_view>(member);
  if (!text)
    return std::nullopt;
  if (impl_->findings.is_broken(*text)) {
    impl_->note(member, FieldCode::invalid_utf8);
    return std::nullopt;
  }
  return std::string(*text);
}

std::optional<bool> ObjectReader::boolean(std::string_view member) {
  return impl_->scalar<bool>(member);
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view member) {
  return impl_->scalar<std::int64_t>(member);
}

std::optional<Id> ObjectReader::id(std::string_view member) {
  const auto text = string(member);
  if (!text)
    return std::nullopt;
  const auto id = Id::parse(*text);
  if (!id)
    impl_->note(member, FieldCode::invalid_format);
  return id;
}

std::optional<Timestamp> ObjectReader::time(std::string_view member) {
  const auto text = string(member);
  if (!text)
    return std::nullopt;
  const auto time = parse_rfc3339(*text);
  if (!time)
    impl_->note(member, FieldCode::invalid_format);
  return time;
}

bool ObjectReader::object(std::string_view member, const Visit& visit) {
  const auto members = impl_->scalar<simdjson::dom::object>(member);
  if (!members)
    return false;
  Impl::read(*members, impl_->pointer(member), impl_->findings, visit);
  return true;
}

std::optional<std::size_t> ObjectReader::objects(std::string_view member, std::size_t max, const Visit& visit) {
  const auto array = impl_->scalar<simdjson::dom::array>(member);
  if (!array)
    return std::nullopt;
  if (array->size() > max) {
    impl_->note(member, FieldCode::too_many);
    return array->size();
  }
  std::size_t index = 0;
  for (const auto element : *array) {
    const std::string pointer = impl_->pointer(member) + "/" + std::to_string(index++);
    simdjson::dom::object item;
    if (element.get(item) == simdjson::SUCCESS)
      Impl::read(item, pointer, impl_->findings, visit);
    else
      impl_->note_at(pointer, element.is_null() ? FieldCode::null_not_allowed : FieldCode::wrong_type);
  }
  return index;
}

bool ObjectReader::has(std::string_view member) const {
  return std::any_of(impl_->members.begin(), impl_->members.end(),
                     [&](const auto& field) { return field.key == member; });
}

void ObjectReader::error(std::string_view member, FieldCode code) {
  if (member.empty())
    impl_->note_at(impl_->prefix, code);
  else
    impl_->note(member, code);
}

void ObjectReader::require(std::string_view member) {
  if (!has(member))
    impl_->note(member, FieldCode::required);
}

} // namespace cleat::json
