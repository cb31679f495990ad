#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The project's own files as text, and just enough understanding of C++ to hold them against the house rules.
namespace cleat::tidy {

/// One text file of the project.
struct SourceFile {
  std::string path; ///< from the project's root, with `/`
  std::string text;

  /// The first part of the path; empty for files in the root.
  [[nodiscard]] std::string room() const;

  /// Whether the path starts with `folder`, which ends in `/`.
  [[nodiscard]] bool in(std::string_view folder) const { return path.starts_with(folder); }

  [[nodiscard]] bool ends_with(std::string_view end) const { return path.ends_with(end); }
};

/// An `#include` as it is written.
struct Include {
  std::string target;
  bool quoted = false;
  std::size_t line = 0;
};

/// A function's body, or what looks like one.
struct FunctionBody {
  std::string header;
  std::size_t first_line = 0;
  std::size_t lines = 0;
};

/// The root of the tree that is checked.
std::filesystem::path root();

/// Every text file below the root, apart from what `.gitignore` keeps out. Read once.
const std::vector<SourceFile>& files();

/// The files whose name ends so, for example `.hpp`.
std::vector<const SourceFile*> files_with(std::initializer_list<std::string_view> ends);

/// The file of that path, or nullptr.
const SourceFile* find(std::string_view path);

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);

/// Every `#include` of a file.
std::vector<Include> includes_of(const SourceFile& file);

/// C++ with comments, strings and preprocessor lines blanked out; line breaks stay where they are.
std::string code_of(std::string_view text);

/// The bodies of functions in a file, found by their braces.
std::vector<FunctionBody> functions_of(const SourceFile& file);

} // namespace cleat::tidy
