#!/usr/bin/env bash
# What scripts/run --demo shows: the example adapter works for the agent Lotse, and Alex talks to it in three threads, so
# that every session mode and a binding that fails open are seen once. Leaves the adapter running as long as the server.
#
# A Runner starts an agent in the container `workshop` as well: Alex talks to it, stops it, and resumes its session.
#
#   docs/examples/demo.sh DATA_FOLDER SERVER_PID PROGRAMS
#
# PROGRAMS is the folder of the built programs.
set -euo pipefail
data=$1
server_pid=$2
programs=$3
here=$(dirname "${BASH_SOURCE[0]}")

say() {
  printf 'demo: %s\n' "$*"
}

token_of() {
  awk -v name="$1" '$1 == name { print $2 }' "$data/demo.tokens"
}

thread_of() {
  awk -v title="$1" '$1 == title { print $2 }' "$data/demo.threads"
}

# ask METHOD PATH [BODY] [-H HEADER]: as Alex.
ask() {
  local method=$1 path=$2 options=(-sS -H "@$scratch/alex")
  shift 2
  if [[ $# -gt 0 && $1 != -* ]]; then
    options+=(-H 'Content-Type: application/json' -d "$1")
    shift
  fi
  curl -X "$method" "${options[@]}" "$@" "$(jq -r .http "$data/endpoints.json")$path"
}

server_runs() {
  kill -0 "$server_pid" 2>/dev/null
}

is_ready() {
  [[ -e $data/endpoints.json && -e $data/demo.threads ]] && [[ $(jq -r .pid "$data/endpoints.json") == "$server_pid" ]]
}

# say_to TITLE TEXT: a message of Alex, and the answer once the run is over.
say_to() {
  local thread run state=
  thread=$(thread_of "$1")
  say "Alex in $1: $2"
  run=$(ask POST "/v1/threads/$thread/runs" "$(jq -n --arg text "$2" '{content_md: $text}')" | jq -r '.id // empty')
  if [[ -z $run ]]; then
    say "the run was refused; an earlier one may still be active"
    return
  fi
  for _ in {1..100}; do
    state=$(ask GET "/v1/runs/$run" | jq -r .state)
    [[ $state == succeeded || $state == failed || $state == cancelled ]] && break
    sleep 0.1
  done
  ask GET "/v1/threads/$thread/messages?limit=200" |
    jq -r --arg run "$run" '.items[] | select(.run_id == $run) |
      "demo:   " + (if .kind == "system" then "[system line] " + .system_code else "Lotse: " + .content_md end)'
}

until is_ready; do
  server_runs || exit 0
  sleep 0.2
done
umask 077
scratch=$(mktemp -d)
adapter=
runner=
trap 'for program in $adapter $runner; do kill "$program" 2>/dev/null; done; rm -rf "$scratch"' EXIT
printf 'Authorization: Bearer %s\n' "$(token_of Alex)" >"$scratch/alex"
token_of Lotse >"$scratch/lotse"

# The runtime of the example knows the session that Alex has bound in Invoices, and no imported one.
mkdir -p "$data/demo.adapter/sessions"
known=$(printf %s lotse-invoices-1 | sha256sum | cut -d ' ' -f 1)
[[ -e $data/demo.adapter/sessions/$known ]] || : >"$data/demo.adapter/sessions/$known"
"$here/adapter.sh" "$data" "$scratch/lotse" "$data/demo.adapter" &
adapter=$!

say 'a thread without a session: mode new'
say_to Welcome 'Hello!'
say 'the same thread again: mode resume'
say_to Welcome 'Do you remember me?'
say 'a session that was bound by hand: mode bind'
say_to Invoices 'Go on, please.'
say 'an imported session that the runtime has lost: mode bind, then one line, and the work goes on'
say_to Archive 'Where were we?'
# A Runner with one container, whose agent answers line by line.
mkdir -p "$data/demo.runner/workshop"
cat >"$data/demo.runner/config.toml" <<CONFIG
[containers.workshop]
driver = "process"
command = ["$(realpath "$programs")/cleat-echo-agent/cleat-echo-agent"]
folder = "$(realpath "$data")/demo.runner/workshop"
CONFIG
"$programs/cleat-runner/cleat-runner" --server "$(jq -r .runner "$data/endpoints.json")" --token-file "$data/demo.runner.token" \
  --state "$data/demo.runner/state" --config "$data/demo.runner/config.toml" &
runner=$!

# transcript SESSION: what was told and said so far.
transcript() {
  ask GET "/v1/agent-sessions/$1/transcript?limit=200" -H 'Accept: application/json' |
    jq -r '.items[] | "demo:   " + (if .direction == "in" then "Alex: " else "agent: " end) + .line'
}

# start BODY: starts or resumes an agent; gives its session.
start() {
  local answer
  for _ in {1..50}; do
    answer=$(ask POST /v1/containers/workshop/agent-sessions "$1" -H 'Prefer: wait=10')
    [[ $(jq -r '.code // empty' <<<"$answer") == runner_unavailable ]] || break
    sleep 0.2
  done
  jq -r '.session_id // empty' <<<"$answer"
}

# tell SESSION LINE: says a line, and waits for the answer to it.
tell() {
  local before
  before=$(transcript "$1" | wc -l)
  ask POST "/v1/agent-sessions/$1/input" "$(jq -n --arg line "$2" '{line: $line}')" >/dev/null
  for _ in {1..50}; do
    [[ $(transcript "$1" | wc -l) -lt $((before + 2)) ]] || break
    sleep 0.1
  done
}

say 'an agent in the container workshop, under an id that the server has made'
session=$(start '{}')
if [[ -n $session ]]; then
  tell "$session" 'Hello!'
  transcript "$session"
  ask POST "/v1/agent-sessions/$session/stop" '{}' >/dev/null
  say 'stopped, and resumed: the same session, with its conversation'
  start "$(jq -n --arg id "$session" '{resume_session_id: $id}')" >/dev/null
  tell "$session" 'Do you remember me?'
  transcript "$session"
else
  say 'the container is busy; an agent may be running there already'
fi
say "that was it; the adapter and the Runner go on. Read along: $(jq -r .http "$data/endpoints.json")/v1/events"
while server_runs && kill -0 "$adapter" 2>/dev/null && kill -0 "$runner" 2>/dev/null; do
  sleep 1
done
