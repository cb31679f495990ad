#!/usr/bin/env bash
# What scripts/run --demo shows: the example adapter works for the agent Lotse, and Alex talks to it in three threads, so
# that every session mode and a binding that fails open are seen once. Leaves the adapter running as long as the server.
#
#   docs/examples/demo.sh DATA_FOLDER SERVER_PID
set -euo pipefail
data=$1
server_pid=$2
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

# ask METHOD PATH [BODY]: as Alex.
ask() {
  local options=(-sS -X "$1" -H "@$scratch/alex")
  [[ $# -lt 3 ]] || options+=(-H 'Content-Type: application/json' -d "$3")
  curl "${options[@]}" "$(jq -r .http "$data/endpoints.json")$2"
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
trap '[[ -z $adapter ]] || kill "$adapter" 2>/dev/null; rm -rf "$scratch"' EXIT
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
say "that was it; the adapter goes on. Read along: $(jq -r .http "$data/endpoints.json")/v1/events"
while server_runs && kill -0 "$adapter" 2>/dev/null; do
  sleep 1
done
