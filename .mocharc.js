import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Assert how many milliseconds other parties wait: nothing else may take the machine meanwhile. */
const ALONE = files(`
  abuse/log-ins abuse/slow-texts faults/redis
  isolation/account-turns isolation/collapse isolation/late isolation/locked-app isolation/no-worker
  isolation/open-snapshot isolation/slots
  promises/overload`);
/**
 * Compare times of one run with each other, which other load on the machine changes: predictions beside slow reads of
 * memory, the last typed letter with the first, and predictions beside slow uploads. CI runs them a second time.
 */
const SENSITIVE = files('isolation/memory-reads isolation/typing isolation/uploads');
/** Need a browser, a build or another program, or are not what a change breaks first. The slowest begin first. */
const WIDE = files(`
  console/* promises/batch connect/browser local/* operators/* mcp/* client/examples client/package client/tabs
  deploy/* admin/* isolation/* abuse/* faults/* migrations/* ingress/pages client/adapters client/extension client/placement client/touch client/record
  promises/hand-back promises/shutdown promises/start-up promises/lost-ingress promises/promotion-crash promises/provider-policy
  promises/crash schedules/rounds
  api/accounts/erase api/accounts/export api/accounts/log-ins api/activity api/escalation-mail api/jobs api/webhooks api/memory-sync api/promotion-selection api/memory/phrases
  api/replies/batch api/replies/feedback api/replies/injections api/replies/limits api/replies/support`);
/** Long trials: minutes of load, statistics, failovers, programs of others. */
const NIGHTLY = files('nightly/*');
/** Use what a pooler in transaction mode may break: sessions, named statements, LISTEN, time limits, transactions. */
const POOLER = files(`
  promises/batch promises/cancel promises/crash promises/deadlines promises/delivery
  promises/idempotency promises/ledger promises/lost-caller promises/lost-ingress promises/main-job
  promises/promotion-crash promises/shutdown promises/start-up promises/superseding promises/units promises/waiting
  connections/* migrations/*
  api/accounts/erase api/memory/facts api/memory/rows api/promotion-facts api/recording/ingest`);
/** Use what the queues' store may break: jobs and wake-ups. Some fault tests start a Redis of their own. */
const REDIS = files(`
  promises/* faults/clock faults/lost-commit faults/outage faults/postgres
  api/memory-sync api/replies/batch isolation/late`);
/** What is promised, what one party can do to another, and what breaks: whole, with the queues on each store. */
const WHOLE = files(`
  promises/* isolation/* faults/*
  nightly/fairness nightly/memory-erasure nightly/shares`);

const SERIAL_SETS = {
  alone: ALONE,
  sensitive: SENSITIVE,
  'redis alone': REDIS.filter((file) => ALONE.includes(file)),
  nightly: without(NIGHTLY, WHOLE),
  whole: WHOLE,
};
/** A file in no list is in `quick`, which `npm test` runs. */
const SETS = {
  quick: without(files('**/*'), ALONE, SENSITIVE, WIDE, NIGHTLY),
  wide: without(WIDE, ALONE, SENSITIVE),
  pooler: without(POOLER, ALONE),
  redis: without(REDIS, ALONE),
  ...SERIAL_SETS,
};
const set = process.env.TEST_SET ?? 'quick';
/** Files that the command line names run instead of a set. */
const isNamed = process.argv.some((argument) => argument.endsWith('.test.ts'));

export default {
  spec: isNamed ? [] : SETS[set],
  require: ['./test/setup.ts'],
  parallel: !isNamed && !(set in SERIAL_SETS),
  // One more than cores, since tests often wait. More than eight would exceed the connections that the server allows.
  jobs: Math.min(Math.max(availableParallelism(), 2) + 1, 8),
  timeout: 120_000,
  exit: false,
};

/** Lists the test files of these names, each of which must exist. */
function files(names) {
  return names
    .trim()
    .split(/\s+/)
    .flatMap((name) => {
      const matches = globSync(`test/${name.replace(/\*$/, '**/*')}.test.ts`).sort();
      if (matches.length === 0) throw new Error(`.mocharc.js: there is no test ${name}`);
      return matches;
    });
}

function without(list, ...others) {
  return list.filter((file) => !others.flat().includes(file));
}
