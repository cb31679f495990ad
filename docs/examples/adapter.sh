#!/usr/bin/env bash
# An adapter on one page: it stands between Cleat and an agent's runtime, polls for invocations, starts each run, tells
# Cleat about the session, works, posts and finishes. It needs bash, curl and jq.
#
#   docs/examples/adapter.sh SERVER TOKEN_FILE STATE_FOLDER
#
# SERVER is the address of a cleatd, or its data folder, whose endpoints.json has the address and is read again for every
# request. TOKEN_FILE holds the agent's token. STATE_FOLDER keeps what must outlive this process: the cursor and, because
# the runtime of this example is a folder of transcripts, its sessions.
#
# What to copy for an adapter of your own:
# - the cursor is saved after an invocation is done, so an invocation that was cut off comes again;
# - each step has an Idempotency-Key made of the run and the step, so doing it again changes nothing twice;
# - 429, 503 and a lost connection are tried again, and a 409 `run_state` means that the run is not yours any more;
# - a session that the runtime does not know is reported as `bind_failed`, and the work goes on in a new one.
set -euo pipefail

if [[ $# -ne 3 ]]; then
  echo "usage: ${0##*/} SERVER TOKEN_FILE STATE_FOLDER" >&2
  exit 2
fi
server=$1
state=$3
poll_s=30
heartbeat_s=15

umask 077
mkdir -p "$state/sessions"
scratch=$(mktemp -d)
heartbeats=
asking=
trap 'kill $heartbeats $asking 2>/dev/null || true; rm -rf "$scratch"' EXIT
trap 'exit 0' INT TERM
# In a file, because arguments of a command are shown to everybody on the machine.
printf 'Authorization: Bearer %s\n' "$(<"$2")" >"$scratch/token"

say() {
  printf 'adapter: %s\n' "$*"
}

address() {
  if [[ -d $server ]]; then
    jq -r .http "$server/endpoints.json" 2>/dev/null || true
  else
    printf '%s\n' "$server"
  fi
}

# call METHOD PATH BODY KEY [IF_MATCH]: asks until there is an answer. Sets `status`; the body is in $scratch/answer.
call() {
  local pause=0.2 to options=(-sS -X "$1" -H "@$scratch/token" -o "$scratch/answer" -w '%{http_code}'
    --max-time $((poll_s + 15)))
  [[ -z $3 ]] || options+=(-H 'Content-Type: application/json' -d "$3")
  [[ -z $4 ]] || options+=(-H "Idempotency-Key: $4")
  [[ -z ${5-} ]] || options+=(-H "If-Match: \"$5\"")
  while true; do
    to=$(address)
    status=000
    if [[ -n $to ]]; then
      # Beside this shell, which would hear of a signal only when a long poll is over.
      curl "${options[@]}" "$to$2" >"$scratch/status" 2>"$scratch/error" &
      asking=$!
      wait "$asking" || true
      asking=
      status=$(<"$scratch/status")
    fi
    case $status in
      000 | 429 | 503) ;;
      401) say "the token is not valid (any more)" && exit 1 ;;
      *) return 0 ;;
    esac
    sleep "$pause"
    pause=2
  done
}

answer() {
  jq -r "$1 // empty" "$scratch/answer"
}

# The runtime: a session is a file of what was said in it. References are any text, so files are named by their digest.
session_file() {
  printf '%s/sessions/%s\n' "$state" "$(printf %s "$1" | sha256sum | cut -d ' ' -f 1)"
}

# While the runtime works, the run's lease is renewed.
beat() {
  while sleep "$heartbeat_s"; do
    curl -sS -o /dev/null -X POST -H "@$scratch/token" "$(address)/v1/runs/$1/heartbeat" 2>/dev/null || true
  done
}

# report RUN THREAD BODY STEP [IF_MATCH]
report() {
  call POST "/v1/threads/$2/agent-sessions/report" "$3" "$1-$4" "${5-}"
  [[ $status == 200 ]] || say "report of run $1: $status $(answer .reason)"
}

# Makes sure that the runtime has the session of this run, and tells Cleat about it. Sets `reference`.
settle_session() {
  local run=$1 thread=$2 mode=$3 version=$4 attached=$5 body
  case $mode in
    new)
      : >>"$(session_file "$reference")"
      body=$(jq -n --arg ref "$reference" '{external_session_ref: $ref, started: true}')
      # Without a row the reference is current elsewhere; then this first report says so again and is refused.
      report "$run" "$thread" "$body" started "${attached:+$version}"
      ;;
    resume | bind)
      [[ ! -e $(session_file "$reference") ]] || return 0
      say "run $run: the runtime does not know $reference, beginning anew"
      reference=echo-$run
      : >>"$(session_file "$reference")"
      body=$(jq -n --arg ref "$reference" '{external_session_ref: $ref, started: true, bind_failed: "session_missing"}')
      report "$run" "$thread" "$body" bind-failed "$version"
      ;;
  esac
}

# The work itself: remember what was said, and say how much that is by now.
work() {
  local file count
  file=$(session_file "$reference")
  tr '\n' ' ' <<<"$1" >>"$file"
  echo >>"$file"
  count=$(wc -l <"$file")
  reply="You said: $1 (message $count of session $reference)"
}

handle() {
  local payload=$1 run thread mode version text body attached
  run=$(jq -r .run_id <<<"$payload")
  thread=$(jq -r .thread_id <<<"$payload")
  mode=$(jq -r '.session_mode // "guest"' <<<"$payload")
  reference=$(jq -r '.agent_session.external_session_ref // empty' <<<"$payload")
  version=$(jq -r '.agent_session.version // 1' <<<"$payload")
  text=$(jq -r .message.content_md <<<"$payload")
  [[ -n $reference ]] || reference=echo-$run

  body='{}'
  [[ $mode != new ]] || body=$(jq -n --arg ref "$reference" '{external_session_ref: $ref}')
  call POST "/v1/runs/$run/start" "$body" "$run-start"
  if [[ $status != 200 ]]; then
    say "run $run cannot be started: $status $(answer .reason)"
    return
  fi
  attached=$(answer .agent_session_id)
  say "run $run: session_mode=$mode reference=$reference"
  beat "$run" &
  heartbeats=$!
  settle_session "$run" "$thread" "$mode" "$version" "$attached"
  work "$text"
  call POST "/v1/runs/$run/messages" "$(jq -n --arg text "$reply" '{content_md: $text}')" "$run-message"
  call POST "/v1/runs/$run/finish" '{"outcome": "succeeded"}' "$run-finish"
  kill "$heartbeats" 2>/dev/null || true
  wait "$heartbeats" 2>/dev/null || true
  heartbeats=
  say "run $run: finish answered $status $(answer '.state // .reason')"
}

cursor=0
[[ ! -e $state/cursor ]] || cursor=$(<"$state/cursor")
say "polling from $cursor"
while true; do
  call GET "/v1/agent/events?after=$cursor&wait_s=$poll_s" '' ''
  if [[ $status != 200 ]]; then
    say "poll: $status $(answer .detail)"
    exit 1
  fi
  jq -c '.items[]' "$scratch/answer" >"$scratch/events"
  while read -r event <&3; do
    if [[ $(jq -r .type <<<"$event") == agent.invocation ]]; then
      handle "$(jq -c .payload <<<"$event")"
    fi
    cursor=$(jq -r .seq <<<"$event")
    printf '%s\n' "$cursor" >"$state/cursor.new"
    mv "$state/cursor.new" "$state/cursor"
  done 3<"$scratch/events"
done
