# What scripts/bench and scripts/bench-growth share. Sourced behind lib.sh, never run.

# A build folder whose programs are used as they are; empty builds this project's.
programs=
# Everything that is written lies here and is gone at the end.
folder=
# Processes of ours, to be ended at the end.
processes=()
# All the load is one principal's, so its rates are set beyond reach; they are counted all the same.
rates=(--set rate.read_per_s=1000000 --set rate.trigger_per_s=1000000 --set rate.agent_runtime_per_s=1000000
  --set rate.admin_per_s=1000000)

# Sees to packages and programs, and makes the folder.
prepare() {
  ensure_packages "$@"
  if [[ -z $programs ]]; then
    build cleatd cleat-load cleat-runner
    programs=$build_dir
  fi
  cleatd=$programs/apps/cleatd/cleatd
  cleat_load=$programs/apps/cleat-load/cleat-load
  folder=$(mktemp -d)
  # An embedded PostgreSQL of root runs as another user, who has to get to its folder.
  chmod 711 "$folder"
  trap finish EXIT
}

finish() {
  local result=$? process
  [[ $result -eq 0 ]] || tail -n 20 "$folder"/*.log >&2 || true
  for process in "${processes[@]}"; do
    kill "$process" 2>/dev/null || true
  done
  for process in "${processes[@]}"; do
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$folder"
}

# Starts a cleatd on the data folder $1, which may exist, with further arguments; its process is `server` afterwards.
launch() {
  local data=$1
  shift
  mkdir -p "$data"
  "$cleatd" --data "$data" --http 127.0.0.1:0 --runner 127.0.0.1:0 "${rates[@]}" "$@" >>"$data.log" 2>&1 &
  server=$!
  processes+=("$server")
}

# Ends the process $1 and waits for it.
end() {
  local process left=()
  kill "$1"
  wait "$1" || true
  for process in "${processes[@]}"; do
    [[ $process == "$1" ]] || left+=("$process")
  done
  processes=("${left[@]}")
}

# Waits until the cleatd on the data folder $1 answers, and warms it up with $2 requests.
await_server() {
  "$cleat_load" --data "$1" --wait-s 120 --scenario noop --count "$2" --connections 1 >"$folder/warmup.log" 2>&1
}

# SQL from standard input in the database $2 of the cleatd on the data folder $1. Further arguments go to psql.
sql_of() {
  local data=$1 database=$2
  shift 2
  psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 "$@" "host=$data/postgres-socket port=5432 user=cleat dbname=$database"
}
