#include "storage/pg/fleet_loading.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "storage/pg/fleet_records.hpp"
#include "storage/pg/records.hpp"

namespace cleat::storage::pg {
namespace {

/// Where rows with these numbers go.
template <class Row>
using Targets = std::vector<std::optional<Row>*>;

/// Statements number their questions from 1.
std::size_t place(RowReader& in) {
  return static_cast<std::size_t>(in.next<std::int64_t>() - 1);
}

/// A handler that reads each row into the target of its number.
template <class Row, class Read>
Pipeline::Handler into(Targets<Row> targets, Read read) {
  return [targets = std::move(targets), read](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      std::optional<Row>& target = *targets[place(in)];
      target = read(in);
    }
  };
}

std::optional<std::string_view> text_of(const std::optional<std::string>& text) {
  return text ? std::optional<std::string_view>(*text) : std::nullopt;
}

/// Operations that are named by a handle or an id.
void add_named_operations(Pipeline& pipeline, const std::vector<LoadContainer>& questions,
                          std::vector<ContainerLoaded>& answers) {
  using Name = std::pair<std::optional<Digest>, std::optional<Id>>;
  std::vector<Name> names;
  Targets<Operation> targets;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].handle || questions[i].operation_id) {
      names.emplace_back(questions[i].handle, questions[i].operation_id);
      targets.push_back(&answers[i].facts.operation);
    }
    if (questions[i].reroute_of) {
      names.emplace_back(questions[i].reroute_of, std::nullopt);
      targets.push_back(&answers[i].facts.reroute_of);
    }
  }
  if (names.empty())
    return;
  Params params;
  params.array(names, [](const Name& name) { return name.first; });
  params.array(names, [](const Name& name) { return name.second; });
  pipeline.add(statements::load_named_operations, params, into(std::move(targets), read_operation));
}

void add_named_bindings(Pipeline& pipeline, const std::vector<LoadContainer>& questions,
                        std::vector<ContainerLoaded>& answers) {
  std::vector<const LoadContainer*> asked;
  std::vector<ContainerFacts*> targets;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (questions[i].session_id) {
      asked.push_back(&questions[i]);
      targets.push_back(&answers[i].facts);
    }
  if (asked.empty())
    return;
  Params params;
  params.array(asked, [](const auto* question) { return std::string_view(*question->session_id); });
  params.array(asked, [](const auto* question) { return text_of(question->secret_name); });
  pipeline.add(statements::load_named_bindings, params, [targets](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      ContainerFacts& facts = *targets[place(in)];
      facts.binding = read_binding(in);
      facts.secret = read_optional(in, account_secret_columns, read_account_secret);
    }
  });
}

void add_named_orphans(Pipeline& pipeline, const std::vector<LoadContainer>& questions,
                       std::vector<ContainerLoaded>& answers) {
  std::vector<Id> ids;
  Targets<Orphan> targets;
  for (std::size_t i = 0; i < questions.size(); ++i)
    if (questions[i].orphan_id) {
      ids.push_back(*questions[i].orphan_id);
      targets.push_back(&answers[i].facts.orphan);
    }
  if (!ids.empty())
    pipeline.add(statements::load_named_orphans, Params().array(ids, std::identity{}),
                 into(std::move(targets), read_orphan));
}

} // namespace

void add_containers(Pipeline& pipeline, const std::vector<LoadContainer>& questions,
                    std::vector<ContainerLoaded>& answers) {
  answers.resize(questions.size());
  if (questions.empty())
    return;
  const auto names = Params().array(questions, [](const auto& question) { return std::string_view(question.name); });
  Params containers = names;
  containers.array(questions, [](const auto& question) { return question.node_timeout_s; });
  const auto for_each_row = [&answers](auto take) {
    return [&answers, take](const Result& result) {
      for (int i = 0; i < result.rows(); ++i) {
        RowReader in(result, i);
        ContainerFacts& facts = answers[place(in)].facts;
        take(in, facts);
      }
    };
  };
  pipeline.add(statements::load_containers, containers, for_each_row(read_container_facts));
  pipeline.add(statements::load_open_operations, names,
               for_each_row([](RowReader& in, ContainerFacts& facts) { facts.open.push_back(read_operation(in)); }));
  pipeline.add(statements::load_open_orphans, names,
               for_each_row([](RowReader& in, ContainerFacts& facts) { facts.orphans.push_back(read_orphan(in)); }));
  add_named_operations(pipeline, questions, answers);
  add_named_bindings(pipeline, questions, answers);
  add_named_orphans(pipeline, questions, answers);
}

void add_locations(Pipeline& pipeline, const std::vector<LocateContainer>& questions,
                   std::vector<ContainerLocated>& answers) {
  answers.resize(questions.size());
  if (questions.empty())
    return;
  Params params;
  params.array(questions, [](const auto& question) { return question.handle; });
  params.array(questions, [](const auto& question) { return question.operation_id; });
  params.array(questions, [](const auto& question) { return text_of(question.session_id); });
  params.array(questions, [](const auto& question) { return question.orphan_id; });
  pipeline.add(statements::locate_containers, params, [&answers](const Result& result) {
    for (int i = 0; i < result.rows(); ++i) {
      RowReader in(result, i);
      ContainerLocated& answer = answers[place(in)];
      answer.name = in.next<std::optional<std::string>>();
    }
  });
}

EnrolmentFacts load_enrolment(Connection& connection, const LoadEnrolment& question) {
  EnrolmentFacts facts;
  Pipeline pipeline(connection);
  const Params runner = Params().add(question.token).add(question.runner_id);
  pipeline.add(statements::begin_snapshot);
  pipeline.add(statements::find_enrolment, runner, [&facts](const Result& result) {
    RowReader in(result, 0);
    facts.token = read_optional(in, runner_token_columns, read_runner_token);
    facts.runner = read_optional(in, runner_columns, read_runner);
    facts.node = read_optional(in, node_columns, read_node);
  });
  pipeline.add(statements::enrolment_containers, runner,
               [&facts](const Result& result) { facts.containers = read_all(result, read_container); });
  pipeline.add(statements::commit);
  pipeline.run();
  return facts;
}

std::vector<HeldRunner> beat(Connection& connection, const BeatNode& question) {
  std::vector<HeldRunner> held;
  Pipeline pipeline(connection);
  pipeline.add(statements::beat_node, Params().add(question.node.id).add(question.node.address));
  pipeline.add(statements::held_runners, Params().add(question.node.id), [&held](const Result& result) {
    held = read_all(result, [](RowReader& in) {
      const Id runner = in.next<Id>();
      return HeldRunner{runner, in.next<std::int64_t>()};
    });
  });
  pipeline.run();
  return held;
}

void add_fleet_facts(Pipeline& pipeline, const LoadDirectory& question, DirectoryFacts& facts) {
  if (question.container_name) {
    const std::array names{std::string_view(*question.container_name)};
    const std::array timeouts{question.node_timeout_s};
    const Params name = Params().array(names, std::identity{});
    Params container = name;
    container.array(timeouts, std::identity{});
    pipeline.add(statements::load_containers, container, [&facts](const Result& result) {
      RowReader in(result, 0);
      in.skip(1);
      ContainerFacts found;
      read_container_facts(in, found);
      if (!found.container)
        return;
      facts.container = std::move(found.container);
      facts.account = std::move(found.account);
      facts.runner = std::move(found.runner);
      facts.live = std::move(found.live);
      facts.connected = found.node.has_value();
    });
    pipeline.add(statements::load_open_operations, name, [&facts](const Result& result) {
      for (int i = 0; i < result.rows(); ++i) {
        RowReader in(result, i);
        in.skip(1);
        auto operation = read_operation(in);
        if (facts.container && operation.in_flight())
          facts.open.push_back(std::move(operation));
      }
    });
  }
  // What is named by its own id counts more than what a container brings.
  if (question.account_id) {
    pipeline.add(statements::find_account, Params().add(*question.account_id), [&facts](const Result& result) {
      facts.account.reset();
      one_row(facts.account, read_account)(result);
    });
  }
  if (question.runner_id) {
    pipeline.add(statements::find_runner, Params().add(*question.runner_id).add(question.node_timeout_s),
                 [&facts](const Result& result) {
                   std::optional<RunnerRow> row;
                   one_row(row, read_runner_row)(result);
                   facts.connected = row && row->connected;
                   facts.runner = row ? std::optional(std::move(row->runner)) : std::nullopt;
                 });
  }
  if (question.account_id && question.secret_name)
    pipeline.add(statements::find_secret, Params().add(*question.account_id).add(*question.secret_name),
                 one_row(facts.secret, read_account_secret));
  if (question.runner_token_id)
    pipeline.add(statements::find_runner_token, Params().add(*question.runner_token_id),
                 one_row(facts.runner_token, read_runner_token));
  if (question.orphan_id) {
    const std::array orphans{*question.orphan_id};
    pipeline.add(statements::load_named_orphans, Params().array(orphans, std::identity{}),
                 into(Targets<Orphan>{&facts.orphan}, read_orphan));
  }
}

} // namespace cleat::storage::pg
