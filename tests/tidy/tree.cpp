#include "tests/tidy/tree.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace cleat::tidy {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The folders in the root that `.gitignore` names as `/name/`, and git's own.
std::set<std::string> ignored_folders() {
  std::set<std::string> ignored{".git"};
  const std::string text = read(root() / ".gitignore");
  for (const auto line : lines_of(text))
    if (line.size() > 2 && line.front() == '/' && line.back() == '/')
      ignored.emplace(line.substr(1, line.size() - 2));
  return ignored;
}

std::vector<SourceFile> read_tree() {
  const std::set<std::string> ignored = ignored_folders();
  std::vector<SourceFile> found;
  for (auto it = fs::recursive_directory_iterator(root()); it != fs::recursive_directory_iterator(); ++it) {
    const std::string path = it->path().lexically_relative(root()).generic_string();
    if (it->is_directory() && it.depth() == 0 && ignored.contains(path))
      it.disable_recursion_pending();
    if (!it->is_regular_file())
      continue;
    std::string text = read(it->path());
    // Pictures and their like are no text.
    if (text.find('\0') == std::string::npos)
      found.push_back({path, std::move(text)});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return found;
}

/// Blanks C++ out token by token.
class Blanker {
public:
  explicit Blanker(std::string_view text) : in_(text), out_(text) {}

  std::string run() && {
    while (at_ < in_.size())
      step();
    return std::move(out_);
  }

private:
  void step() {
    if (starts("//") || (in_[at_] == '#' && first_on_line()))
      return blank_to(end_of_line());
    if (starts("/*"))
      return blank_to(after("*/", at_ + 2));
    if (starts("R\"") && !in_word())
      return raw_string();
    // An apostrophe inside a number separates its digits.
    if (in_[at_] == '"' || (in_[at_] == '\'' && !in_word()))
      return blank_to(after_literal(in_[at_]));
    ++at_;
  }

  void raw_string() {
    const std::size_t open = std::min(in_.find('(', at_), in_.size() - 1);
    const std::string close = ")" + std::string(in_.substr(at_ + 2, open - at_ - 2)) + "\"";
    blank_to(after(close, open));
  }

  [[nodiscard]] bool starts(std::string_view token) const { return in_.substr(at_).starts_with(token); }

  [[nodiscard]] bool in_word() const { return at_ > 0 && std::isalnum(static_cast<unsigned char>(in_[at_ - 1])) != 0; }

  [[nodiscard]] bool first_on_line() const {
    const std::size_t last = in_.substr(0, at_).find_last_not_of(" \t");
    return last == std::string_view::npos || in_[last] == '\n';
  }

  [[nodiscard]] std::size_t end_of_line() const {
    std::size_t end = in_.find('\n', at_);
    // A preprocessor line goes on after a backslash.
    while (end != std::string_view::npos && end > 0 && in_[end - 1] == '\\')
      end = in_.find('\n', end + 1);
    return std::min(end, in_.size());
  }

  [[nodiscard]] std::size_t after(std::string_view token, std::size_t from) const {
    const std::size_t found = in_.find(token, from);
    return found == std::string_view::npos ? in_.size() : found + token.size();
  }

  [[nodiscard]] std::size_t after_literal(char quote) const {
    std::size_t end = at_ + 1;
    while (end < in_.size() && in_[end] != quote)
      end += in_[end] == '\\' ? 2 : 1;
    return std::min(end + 1, in_.size());
  }

  void blank_to(std::size_t end) {
    for (; at_ < end; ++at_)
      if (out_[at_] != '\n')
        out_[at_] = ' ';
  }

  std::string_view in_;
  std::string out_;
  std::size_t at_ = 0;
};

/// Whether the text between the last statement and a brace opens a scope that holds declarations.
bool opens_scope(const std::string& header) {
  static const std::regex scope(R"(^\s*(template\s*<.*>\s*)?(inline\s+)?(namespace|class|struct|enum|union|extern)\b)");
  return std::regex_search(header, scope);
}

/// Whether it opens a function: it has parameters and is no initializer.
bool opens_function(const std::string& header) {
  const std::size_t parenthesis = header.find('(');
  const std::size_t equals = header.find('=');
  return parenthesis != std::string::npos && (equals == std::string::npos || equals > parenthesis);
}

/// Walks over blanked-out code and remembers where functions begin and end.
class FunctionFinder {
public:
  std::vector<FunctionBody> run(std::string_view code) && {
    for (const char c : code)
      step(c);
    return std::move(found_);
  }

private:
  void step(char c) {
    if (c == '\n')
      ++line_;
    if (c == '{')
      return open();
    if (c == '}')
      return close();
    if (inside_function_ > 0)
      return;
    if (c == ';' || (after_body_ && c != ',' && c != ' ' && c != '\n'))
      header_.clear();
    after_body_ = after_body_ && (c == ' ' || c == '\n');
    if (c != ';')
      header_ += c;
  }

  void open() {
    after_body_ = false;
    if (inside_function_ > 0) {
      ++inside_function_;
    } else if (!opens_scope(header_) && opens_function(header_)) {
      inside_function_ = 1;
      first_line_ = line_;
    } else {
      header_.clear();
    }
  }

  void close() {
    if (inside_function_ == 0)
      return header_.clear();
    if (--inside_function_ > 0)
      return;
    found_.push_back({header_, first_line_, line_ - first_line_ + 1});
    // The header stays for a moment: after `: member{value}` another initializer or the constructor's body follows.
    after_body_ = true;
  }

  std::vector<FunctionBody> found_;
  std::string header_;
  std::size_t line_ = 1;
  std::size_t first_line_ = 0;
  int inside_function_ = 0;
  bool after_body_ = false;
};

} // namespace

std::string SourceFile::room() const {
  const std::size_t slash = path.find('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

fs::path root() {
  return CLEAT_SOURCE_ROOT;
}

const std::vector<SourceFile>& files() {
  static const std::vector<SourceFile> tree = read_tree();
  return tree;
}

std::vector<const SourceFile*> files_with(std::initializer_list<std::string_view> ends) {
  std::vector<const SourceFile*> found;
  for (const auto& file : files())
    if (std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return file.ends_with(end); }))
      found.push_back(&file);
  return found;
}

const SourceFile* find(std::string_view path) {
  const auto& all = files();
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& file) { return file.path == path; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<Include> includes_of(const SourceFile& file) {
  static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])");
  std::vector<Include> found;
  std::size_t number = 0;
  for (const auto line : lines_of(file.text)) {
    ++number;
    std::cmatch match;
    if (std::regex_search(line.begin(), line.end(), match, pattern))
      found.push_back({match[2].str(), match[1].str() == "\"", number});
  }
  return found;
}

std::string code_of(std::string_view text) {
  return Blanker(text).run();
}

std::vector<FunctionBody> functions_of(const SourceFile& file) {
  return FunctionFinder().run(code_of(file.text));
}

} // namespace cleat::tidy
