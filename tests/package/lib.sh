# What the scripts share that run in the copy of a machine. Sourced, never run; callers have set strict mode.
export DEBIAN_FRONTEND=noninteractive
packages=/shared
patience=120

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  local log
  for log in /tmp/*.log; do
    if [[ -e $log ]]; then
      printf -- '--- %s\n' "$log" >&2
      tail -n 40 "$log" >&2
    fi
  done
  exit 1
}

quietly() {
  "$@" >/tmp/command.log 2>&1 || fail "this failed: $*"
  rm -f /tmp/command.log
}

expect() {
  [[ $2 == "$3" ]] || fail "$1 is '$2' and should be '$3'"
}

# One value of a unit of the packages.
in_unit() {
  sed -n "s/^$2=//p" "/lib/systemd/system/$1.service" | head -n 1
}

# Asks the server as the owner: METHOD PATH [BODY]. Prints the answer's body.
ask() {
  local method=$1 path=$2 body=${3-}
  curl --silent --show-error --fail-with-body --max-time "$patience" --request "$method" \
    --header "Authorization: Bearer $(cat /var/lib/cleat/owner.token)" --header 'Content-Type: application/json' \
    ${body:+--data "$body"} ${prefer:+--header "Prefer: $prefer"} "http://127.0.0.1:7480$path" ||
    fail "$method $path was refused"
}

# Makes a Runner with the container `box`: its token and its configuration are where the service looks for them.
make_runner() {
  local agent=$1 me account runner
  me=$(ask GET /v1/me | jq -r .id)
  account=$(ask POST /v1/accounts '{"name": "account"}' | jq -r .id)
  ask PUT "/v1/accounts/$account/subscriber" "{\"principal_id\": \"$me\"}" >/dev/null
  runner=$(ask POST /v1/runners '{"name": "runner"}' | jq -r .id)
  ask POST "/v1/runners/$runner/tokens" '{"label": "test"}' | jq -r .token |
    install -m 0640 -o root -g cleat-runner /dev/stdin "$(in_unit cleat-runner ConditionPathExists)"
  ask POST /v1/containers "{\"name\": \"box\", \"account_id\": \"$account\", \"runner_id\": \"$runner\"}" >/dev/null
  install -d -o cleat-runner -g cleat-runner /srv/agents/box
  printf '[containers.box]\nfolder = "/srv/agents/box"\n%s\n' "$agent" >>/etc/cleat/runner.toml
}

# Starts an agent in a container and prints the session's id.
start_agent() {
  local prefer=wait=60
  ask POST "/v1/containers/$1/agent-sessions" '{}' | jq -r .session_id
}
