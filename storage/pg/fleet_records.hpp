#pragma once

#include "protocol/facts.hpp"
#include "protocol/pages.hpp"
#include "storage/messages.hpp"
#include "storage/pg/result.hpp"

/// Rows of the tables around Runners as the resources that they are; see `records.hpp`.
namespace cleat::storage::pg {

inline constexpr int account_columns = 5;
inline constexpr int account_secret_columns = 4;
inline constexpr int runner_columns = 11;
inline constexpr int runner_token_columns = 7;
inline constexpr int container_columns = 7;
inline constexpr int operation_columns = 27;
inline constexpr int binding_columns = 14;
inline constexpr int transcript_line_columns = 6;
inline constexpr int node_columns = 3;

/// Each reads one record, column after column, in the order in which the statements name them.
Account read_account(RowReader& in);
AccountSecret read_account_secret(RowReader& in);
Runner read_runner(RowReader& in);
RunnerToken read_runner_token(RowReader& in);
Container read_container(RowReader& in);
Operation read_operation(RowReader& in);
Binding read_binding(RowReader& in);
TranscriptLine read_transcript_line(RowReader& in);
Orphan read_orphan(RowReader& in);
Node read_node(RowReader& in);

/// A Runner and whether it is connected.
RunnerRow read_runner_row(RowReader& in);

/// What load_containers tells behind the number; operations and orphans come by themselves.
void read_container_facts(RowReader& in, ContainerFacts& facts);

/// The containers of page_containers, which has a row an operation.
std::vector<ContainerRow> read_container_rows(const Result& result);

} // namespace cleat::storage::pg
