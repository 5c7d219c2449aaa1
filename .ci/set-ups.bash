# Sourced by `.ci/run` and `.ci/nightly`, from the checkout's folder: the programs that the tests start, and the set-ups
# on which they run. TEST_DATABASE_URL and TEST_REDIS_URL name the servers for the second and the third; without them,
# servers at the usual local addresses are used, or else ones that this run starts. The tests use databases and key
# prefixes of their own.
postgres="${TEST_DATABASE_URL:-}"
redis="${TEST_REDIS_URL:-}"
unset TEST_DATABASE_URL TEST_REDIS_URL
tools="$(mktemp -d)"
own_redis=''
trap '[ -z "$own_redis" ] || kill "$own_redis"; rm -rf "$tools"' EXIT
export PATH="$PATH:/usr/sbin:$tools" OPENAPI_TOOLS="$tools/openapi" MCP_TOOLS="$tools/mcp"
export AGENTS="$tools/agents" EDITORS="$tools/editors"
# Makes a skipped test fail the run.
export MOCHA_OPTIONS='--forbid-pending'

say() {
  printf '== %d:%02d %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"
}
# Fetches the programs that the machine lacks: .ci/get-tools.
get_tools() {
  say 'programs that the tests start'
  .ci/get-tools "$tools" "$@"
  export CHROMIUM_PATH="${CHROMIUM_PATH:-$(command -v chromium)}"
}
# Runs sets of tests of .mocharc.js.
tests() {
  for set in "$@"; do
    say "tests: $set"
    TEST_SET="$set" bin/node node_modules/.bin/mocha
  done
}
is_up() {
  bin/node .ci/answers.ts "$1"
}
use_postgres() {
  local usual='postgres://postgres@127.0.0.1:5432/postgres'
  if [ -z "$postgres" ] && is_up "$usual"; then postgres="$usual"; fi
  export TEST_DATABASE_URL="$postgres"
}
through_pooler() {
  use_postgres
  say "set-up 2: ${postgres:-the embedded PostgreSQL}, through PgBouncer in transaction mode"
  export TEST_POOLER=1
}
on_redis() {
  use_postgres
  unset TEST_POOLER
  export TEST_REDIS_URL="${redis:-redis://127.0.0.1:6379}"
  say "set-up 3: ${postgres:-the embedded PostgreSQL}, and the queues on Redis"
  if [ -z "$redis" ] && ! is_up "$TEST_REDIS_URL"; then
    redis-server --port 6379 --bind 127.0.0.1 --save '' --appendonly no >/dev/null &
    own_redis=$!
    until is_up "$TEST_REDIS_URL"; do kill -0 "$own_redis"; done
  fi
}
