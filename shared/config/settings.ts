/** Meaning of a variable. In a pair, the first element says what applies while the variable is unset. */
type Setting = string | readonly [unset: string, meaning: string];

/**
 * Every environment variable, by subject. `npm run configuration` generates docs/configuration.md from it, and adds the
 * defaults and ranges that the code has.
 */
export const SETTINGS = {
  HTTP: {
    PORT: 'The public port; 0: any free one',
    HOST: ['127.0.0.1, in production 0.0.0.0', 'The address of the public port'],
    PUBLIC_URL: [
      '`http://localhost:$PORT`',
      'Base of every URL that the service builds, and the issuer of its tokens',
    ],
    OPERATOR_PORT:
      'Health and metrics of the process, and the board of the ingress. A second process of a kind on one machine needs its own; `npm start` takes any free one',
    OPERATOR_HOST: ['127.0.0.1', 'The address of the operator port'],
    TRUST_PROXY:
      'Proxies whose `X-Forwarded-For` is trusted: addresses, networks (`10.0.0.0/8`), or `loopback`, `linklocal`, `uniquelocal`; comma separated',
    CORS_ORIGINS:
      'Origins whose pages may use `/api` and the tool server, comma separated; `/v1` never answers CORS',
    MAX_CONNECTIONS: 'Open connections of the process; one more is closed without an answer',
    MAX_CONNECTIONS_PER_ADDRESS:
      'Open connections from one IPv4 address or IPv6 /64. Proxies in `TRUST_PROXY` are exempt: they limit their own clients',
    SEND_TIMEOUT_MS:
      'A client that reads nothing of its answer for this long, or less than 128 KiB of a large one, is disconnected',
    RATE_LIMIT_RPS:
      'Requests a second on average: per app, per account, per address without a credential. 0 turns it off, and the limits on sign-ups and wrong credentials too',
    RATE_LIMIT_BURST: 'Requests at once; 0 turns it off as well',
  },
  'Tool server': {
    MCP_PORT: 'The port of `/mcp`; 0: any free one',
    MCP_PUBLIC_URL: [
      '`PUBLIC_URL/mcp`; in development any loopback address',
      'The address at which clients reach the tool server, for which its tokens are issued',
    ],
    MCP_UPSTREAM_URL: [
      '`PUBLIC_URL`',
      'The address at which the tool server reaches `/api`, if another is nearer',
    ],
    FORECUE_URL: ['`http://localhost:8080`', 'The address at which `bin/mcp` reaches `/api`'],
    FORECUE_KEY: ['required by `bin/mcp`', 'The key of an account, `service_…`, or an access token'],
  },
  'Database and queue': {
    DATABASE_URL: ['required; `npm start` has a database of its own', 'PostgreSQL 15 to 18'],
    DATABASE_DIRECT_URL: [
      '`DATABASE_URL`',
      'PostgreSQL itself, where `DATABASE_URL` is a pooler: for LISTEN, migrations and the queue',
    ],
    DATABASE_POOL: [
      '10; 5 in a worker without `predict`, 3 in a scheduler and the command line',
      'Connections of the process for its own statements. A worker has as many again for its handlers, an ingress for `/api` and the consent page, and 3 for uploads',
    ],
    REDIS_URL: [
      'the queues are on PostgreSQL',
      'Redis or Valkey: `redis://`, `rediss://`, `redis+sentinel://h1,h2/name/0`, `redis+cluster://h1,h2`; its `maxmemory-policy` must be `noeviction`',
    ],
    QUEUE_PREFIX: "Prefix of the queue's schema, keys and channels, so that installations can share a server",
    LEASE_MS: 'Time without a heartbeat after which a process counts as dead',
  },
  'Models and provider': {
    OPENAI_API_KEY:
      'Key of the provider; any text for a server without keys. In production, workers need it for any model except `local`',
    OPENAI_BASE_URL: ['`https://api.openai.com/v1`', 'Any OpenAI-compatible server'],
    HTTPS_PROXY: 'The proxy to a provider at an `https` address: `http://host:port`',
    NO_PROXY: 'Hosts that are reached without the proxy, comma separated',
    DEFAULT_MODEL: [
      '`local` in development without a key, else required',
      'The model; `local` is the built-in predictor',
    ],
    TAB_MODEL: ['`DEFAULT_MODEL`', 'The model of `/v1` predictions: a small and quick one'],
    SUPPORTED_MODELS: ['`DEFAULT_MODEL`', 'Models that a request of `/api` may name, comma separated'],
    FALLBACK_MODELS:
      "Models asked in this order during an outage of another model's provider, comma separated",
    MODEL_PRICES: '`model=input:output,…` in US dollars per million tokens, for the cost ledger',
    PROVIDER_TIMEOUT_MS: 'One attempt at the provider, clipped to the time left',
    PROVIDER_CONCURRENCY: 'Calls to the provider at once, of each worker process; 0: no limit',
    PROVIDER_PROBE_EVERY_MS: 'Interval at which a worker probes a model that failed 20 times in a row',
  },
  Predictions: {
    PREDICTION_TIMEOUT_MS: 'How long a `/v1` prediction may take, queue included, before 504',
    REPLY_TIMEOUT_MS: 'The same for a predicted reply',
    BATCH_TIMEOUT_MS: 'The same for a batch of replies; only its unfinished items fail then',
    RECOVERY_WINDOW_S: 'How long a finished prediction can be requested again; then its answer is erased',
    CONTEXT_ENVELOPE_CHARS: 'Code points in all texts of a request; more is 413',
    CONTEXT_BUDGET_TOKENS: 'Budget of the prompt; the oldest messages are left out first',
    MAX_K: 'Maximum number of candidates of a predicted reply',
    SANDBOX_UNITS: 'Units per app and month on the sandbox plan',
    UNIT_PRICE_MICROCENTS: 'Price of a paid unit, in millionths of a cent',
  },
  Accounts: {
    JWT_SECRET: [
      'in development made once and kept under `.data/`, else required',
      'Signs access tokens: one secret, or `kid:secret,…`, where the first signs and all verify; at least 32 bytes each in production',
    ],
    CONSOLE: 'Whether people have a console, at `/console/`',
    INVITE_ONLY: 'Whether signing up needs an invite code',
    SMTP_URL: [
      'no mails are sent; an operator gives out links',
      'The mail server that sends links to a new password and the daily note on what was decided, and from a worker the questions that wait: `smtp://user:password@host:587`, or `smtps://`',
    ],
    MAIL_FROM: [
      'required with `SMTP_URL`',
      'Sender of those mails: `name@example.com`, or `Name <name@example.com>`',
    ],
    APPS: [
      '`open` in development, in production `off`',
      'Who may make apps at `/api/apps/`: everybody, `invited` those to whom an operator gave one (`app create --owner`), or nobody',
    ],
    CLIENT_DOCUMENTS:
      'Whether programs that log in may describe themselves in a document, which the ingress fetches. `off` where it cannot reach the internet: then they register',
    ALLOW_PRIVATE_ADDRESSES:
      'Whether addresses that strangers name may be in private networks and plain http: webhooks, and documents in which programs describe themselves',
    CONNECTION_ATTEMPT_TTL_S: 'How long an attempt to connect waits for approval',
    QUOTA_SESSIONS: 'Maximum number of recorded sessions of an account; 0: no limit',
    QUOTA_EVENTS: 'Maximum number of its recorded events; 0: no limit',
    QUOTA_BYTES: 'Maximum number of bytes of its recorded events; 0: no limit',
    QUOTA_TOKENS: 'Tokens that models may use for an account in a day (UTC); 0: no limit',
    QUOTA_TOKENS_ALL: 'The same for all accounts together; 0: no limit',
  },
  Work: {
    WORKER_CONCURRENCY: 'Slots of the pool `predict` in the process',
    BATCH_CONCURRENCY: 'Slots of the pool `batch`',
    MEMORY_CONCURRENCY: 'Slots of the pool `memory`',
    SYNC_EVERY: [
      '`*/5 * * * *`',
      'When recorded events are taken into memory: a cron pattern in UTC of five fields, or six with seconds first, or `off`',
    ],
    PROMOTE_EVERY: ['`*/30 * * * *`', 'When memory is promoted, in the same format'],
    SYNC_TIMEOUT_MS: 'How long a sync may take, queue included, before 504',
    PROMOTE_TIMEOUT_MS: 'The same for a promotion',
  },
  Process: {
    ADMIN_TOKEN: [
      'in development made once and kept under `.data/`, else required',
      'Opens the [board](monitoring.md#the-board) at `/admin/` on the operator port of the ingress; at least 32 bytes in production',
    ],
    NODE_ENV: '`production`: nothing is generated, and a missing setting or weak secret stops the start',
    LOG_LEVEL: 'JSON lines on standard output',
    OTEL_EXPORTER_OTLP_ENDPOINT: [
      'no traces',
      'A collector of OpenTelemetry (OTLP over HTTP). The [standard variables](monitoring.md#traces) set the rest',
    ],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: [
      '`OTEL_EXPORTER_OTLP_ENDPOINT/v1/traces`',
      'The full address for traces, if it is another',
    ],
    OTEL_SDK_DISABLED: ['false', '`true`: no traces, regardless of the other settings'],
  },
} as const satisfies Record<string, Record<string, Setting>>;

export const SETTING_NAMES: ReadonlySet<string> = new Set(Object.values(SETTINGS).flatMap(Object.keys));

type Subjects = typeof SETTINGS;
export type SettingName = { [Subject in keyof Subjects]: keyof Subjects[Subject] }[keyof Subjects];

/** Variables whose value may also come from a file, named by the variable `<name>_FILE`. */
export const SECRETS: ReadonlySet<SettingName> = new Set([
  'ADMIN_TOKEN',
  'DATABASE_DIRECT_URL',
  'DATABASE_URL',
  'FORECUE_KEY',
  'JWT_SECRET',
  'OPENAI_API_KEY',
  'REDIS_URL',
  'SMTP_URL',
] as const);
