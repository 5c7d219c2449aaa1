/** The stores whose rows workers write: memory, replies, the ledger, schedules and calibration. */
export const WORKERS_PART =
  /^(workers\/|shared\/db\/(sql\/(sync|phrases)\.sql|stores\/(memory\/(?!delete|rows\.)|provider-calls|schedules|replies\/(basis|outcome))))/;

/** Files outside of the kernel that write by SQL text: the number of their statements, and the reason. */
export const SQL_WRITERS: Record<string, [statements: number, reason: string]> = {
  'bin/admin/archive/after-restore.ts': [29, 'compares whole tables with those of another database'],
  'bin/admin/archive/erasures.ts': [7, 'compares whole tables with a list'],
  'bin/admin/archive/read.ts': [1, 'restores tables whatever the entities of this version are'],
  'shared/db/functions.ts': [1, 'runs before any entity may be used'],
  'shared/db/place.ts': [1, 'marks a table that no entity describes'],
  'shared/db/processes.ts': [2, 'judges the series of heartbeats by the clock of the database'],
  'shared/db/stores/access-log.ts': [1, 'adds to counters'],
  'shared/db/stores/connections/attempts.ts': [
    2,
    'checks the app or locks the account in the same statement',
  ],
  'shared/db/stores/connections/exchange.ts': [2, 'computes grants from the locked row'],
  'shared/db/stores/end-account.ts': [1, 'takes over one erasure and skips locked ones'],
  'shared/db/stores/erasures.ts': [1, 'deletes the oldest entries beyond a limit'],
  'shared/db/stores/erasure/rows.ts': [4, 'deletes slices of any table by ctid'],
  'shared/db/stores/erasure/work.ts': [1, 'copies grants from connections'],
  'shared/db/stores/exported-events.ts': [4, 'compares rows with others of the same table'],
  'shared/db/stores/invites.ts': [1, 'checks for room, and takes equally long for any address'],
  'shared/db/stores/log-ins.ts': [3, 'locks the account, and deletes the oldest tokens beyond a limit'],
  'shared/db/stores/memory/delete.ts': [1, 'returns the size of a body without reading the body'],
  'shared/db/stores/memory/forget-derived.ts': [5, 'computes the ends of facts from other facts and links'],
  'shared/db/stores/memory/links.ts': [1, 'compares up to 50,000 links with the stored ones'],
  'shared/db/stores/memory/phrases.ts': [1, 'fills a partitioned table, which has no entity'],
  'shared/db/stores/prediction-events.ts': [1, 'checks the prediction and its events in the same statement'],
  'shared/db/stores/rate-limits.ts': [1, 'counts and reads windows at once'],
  'shared/db/stores/refusals.ts': [1, 'adds to counters'],
  'shared/db/stores/replies/redact.ts': [1, 'deletes answers, which have no entity, by their history'],
  'shared/db/stores/webhooks/outbox.ts': [1, 'claims webhooks and skips locked ones'],
  'shared/db/stores/schedules.ts': [2, 'judges stored times by the clock of the database'],
};

/** Rooms that may use the connection pool, each with the reason: the kernel, limits, processes, and exceptions. */
export const POOL_ROOMS: Record<string, string> = {
  'shared/db/stores/work/': 'the kernel',
  'shared/db/stores/rate-limits.ts': 'limits',
  'shared/db/stores/refusals.ts': 'limits',
  'shared/db/stores/rounds.ts': 'processes',
  'shared/db/stores/erasures.ts': 'processes wait for it before they open anything',
  'shared/db/stores/installation.ts': 'processes',
  'shared/db/living-processes.ts': 'processes',
  'shared/db/missing-migrations.ts': 'processes wait for migrations before they open anything else',
  'shared/db/stores/schedules.ts': 'processes',
  'shared/db/stores/memory/due.ts': 'processes',
  'shared/db/stores/board/': 'the board has a pool of its own, so that it never waits for requests',
  'shared/db/stores/access-log.ts': 'one function adds to counters',
  'shared/db/stores/accounts.ts': 'each request reads its credential, together with those of other requests',
  'shared/db/stores/apps.ts': 'the same',
  'shared/db/stores/grants.ts': 'the same',
  'shared/db/stores/app-report.ts': 'an operator reads it, and an owner in turn',
  'shared/db/stores/service-keys.ts': 'the same',
  'shared/db/stores/prediction-events.ts': 'each prediction reads them',
  'shared/db/stores/memory/phrases.ts': 'the same',
  'shared/db/stores/memory/sync.ts': 'one function stores a page of events',
  'shared/db/stores/recording/record.ts': 'one function stores a batch of events',
  'shared/queue/': 'the queue has connections of its own',
  'bin/': 'the commands copy and check databases of any version',
};
