#include <ostream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/run_model.hpp"

/// What holds of runs and their sessions after any sequence of commands by anybody; the model notes what does not.
namespace cleat::unit {

/// One command of a random sequence.
struct RunStep {
  enum class Kind {
    trigger,
    enqueue,
    guest,
    start,
    wait,
    resume,
    heartbeat,
    finish,
    cancel,
    expire,
    report,
    fail,
    reset,
    bind,
    change_operator
  };

  Kind kind{};
  std::size_t actor = 0;
  std::size_t run = 0; ///< counted from the newest
  std::string reference;
  bool started = false;
  std::int64_t version = 1;
  std::int64_t pause_s = 0;
};

/// How RapidCheck shows a step of a sequence that fails.
void showValue(const RunStep& step, std::ostream& out) {
  const char* const kinds[] = {"trigger", "enqueue", "guest",  "start",  "wait",  "resume", "heartbeat",       "finish",
                               "cancel",  "expire",  "report", "failed", "reset", "bind",   "another operator"};
  out << kinds[static_cast<int>(step.kind)] << " by " << step.actor << " of run -" << step.run << " '" << step.reference
      << "' version " << step.version << " after " << step.pause_s << " s";
}

namespace {

using Kind = RunStep::Kind;

rc::Gen<RunStep> any_step() {
  using rc::gen::element;
  using rc::gen::set;
  return rc::gen::build<RunStep>(
    set(&RunStep::kind,
        element(Kind::trigger, Kind::trigger, Kind::trigger, Kind::enqueue, Kind::guest, Kind::start, Kind::start,
                Kind::start, Kind::wait, Kind::resume, Kind::heartbeat, Kind::finish, Kind::cancel, Kind::expire,
                Kind::report, Kind::report, Kind::report, Kind::fail, Kind::reset, Kind::bind, Kind::change_operator)),
    set(&RunStep::actor, element<std::size_t>(0, 0, 0, 1, 2, 3)),
    set(&RunStep::run, element<std::size_t>(0, 0, 0, 1, 2)),
    set(&RunStep::reference, element<std::string>("a", "b", "c")), set(&RunStep::started),
    set(&RunStep::version, element<std::int64_t>(1, 1, 2, 3)),
    set(&RunStep::pause_s, element<std::int64_t>(0, 0, 0, 30, 90, 5000)));
}

RunOperation operation_of(const RunStep& step) {
  switch (step.kind) {
    case Kind::wait:
      return run_op::Wait{};
    case Kind::resume:
      return run_op::Resume{};
    case Kind::heartbeat:
      return run_op::Heartbeat{};
    case Kind::finish:
      return run_op::Finish{FinishBody{step.started, {}, {}}};
    case Kind::cancel:
      return run_op::Cancel{};
    case Kind::expire:
      return run_op::Expire{};
    default:
      return run_op::Start{StartBody{step.started ? std::optional(step.reference) : std::nullopt, {}}};
  }
}

void operate(RunModel& model, const RunStep& step, const Principal& human) {
  if (step.run >= model.runs.size())
    return;
  const Run run = model.runs.at(model.runs.size() - 1 - step.run);
  const Principal& agent = run.agent_id == model.world.aide.id ? model.world.aide : model.world.lotse;
  static_cast<void>(model.operate(step.kind == Kind::cancel ? human : agent, run.id, operation_of(step)));
}

void report(RunModel& model, const RunStep& step) {
  ReportBody body{step.reference, {}, step.started, step.kind == Kind::fail};
  const bool first = !model.runs.empty() && !model.last_run().agent_session_id;
  const std::optional<std::int64_t> if_match = first ? std::nullopt : std::optional(step.version);
  static_cast<void>(model.report(*model.facts.operator_agent, body, if_match));
}

void play(RunModel& model, const RunStep& step) {
  model.pass(std::chrono::seconds(step.pause_s));
  const World& world = model.world;
  const Principal* const humans[] = {&world.alex, &world.owner, &world.sam, &world.robin};
  const Principal& human = *humans[step.actor];
  switch (step.kind) {
    case Kind::trigger:
      static_cast<void>(model.trigger(human));
      break;
    case Kind::enqueue:
      static_cast<void>(model.enqueue(human));
      break;
    case Kind::guest:
      static_cast<void>(model.trigger(human, {"Hello", world.aide.id, WhenActive::enqueue}));
      break;
    case Kind::report:
    case Kind::fail:
      report(model, step);
      break;
    case Kind::reset:
      static_cast<void>(model.reset(human));
      break;
    case Kind::bind:
      static_cast<void>(model.bind(human, step.reference));
      break;
    case Kind::change_operator:
      model.set_operator(model.facts.operator_agent->id == world.aide.id ? world.lotse : world.aide);
      break;
    default:
      operate(model, step, human);
  }
}

RC_GTEST_PROP(RunProperties, HoldAfterAnySequence, ()) {
  RunModel model;
  if (*rc::gen::arbitrary<bool>())
    model.import_row(model.world.lotse.id, "a", noon - std::chrono::hours{1});
  if (*rc::gen::arbitrary<bool>())
    model.current_elsewhere("b");
  for (const RunStep& step : *rc::gen::scale(3.0, rc::gen::container<std::vector<RunStep>>(any_step())))
    play(model, step);
  for (const std::string& what : model.broken)
    RC_FAIL(what);
  // Bindings of imports: once a thread, and each with its audit entry.
  std::int64_t imports = 0;
  for (const AuditEntry& entry : model.audit)
    imports += entry.details.find("import") == std::string::npos ? 0 : 1;
  RC_ASSERT(imports <= 1);
  // A failed binding is one line a run, whoever reports it how often.
  std::map<Id, int> lines;
  for (const Message& message : model.messages)
    if (message.system_code == SystemCode::resume_failed)
      RC_ASSERT(++lines[*message.run_id] == 1);
  // No reference is current here that is current elsewhere.
  for (const AgentSession& other : model.elsewhere) {
    const auto here = model.current();
    RC_ASSERT(!here || here->agent_id != other.agent_id || here->external_session_ref != other.external_session_ref);
  }
}

} // namespace
} // namespace cleat::unit
