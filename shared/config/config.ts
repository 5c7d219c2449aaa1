import { ConfigError, Env } from './env.ts';
import { readListeningSettings, readOperatorAddress, readToolServerUrl } from './listening.ts';
import { readMail } from './mail.ts';
import { modelsIn, readProviderAccess, readProviderSettings } from './provider.ts';
import { readQuotas, readTokenQuotas } from './quotas.ts';
import { readRecurrence } from './recurrence.ts';
import { parseRedisUrl, parseSigningKeys, type SigningKeys, STRONG_SECRET_BYTES } from './values.ts';

/** Each pool has its own slots, so that work in one takes no slot from work in another. */
export const POOLS = ['predict', 'batch', 'memory'] as const;
export type PoolName = (typeof POOLS)[number];

const DEFAULT_PORT = 8080;
const OPERATOR_PORTS = { web: 9460, worker: 9461 };
/**
 * Connections by default: one process of each kind, with the queues on PostgreSQL, fits the 97 of a PostgreSQL as
 * Debian ships it.
 */
const DATABASE_POOLS = { web: 10, predict: 10, other: 5, scheduler: 3, admin: 3 };

export type IngressConfig = ReturnType<typeof ingressConfig>;

export function ingressConfig(values: NodeJS.ProcessEnv) {
  const env = new Env(values);
  const base = baseConfig(env, OPERATOR_PORTS.web, DATABASE_POOLS.web);
  env.require('JWT_SECRET', 'ADMIN_TOKEN');
  if (base.production) env.require('PUBLIC_URL');
  const config = {
    ...base,
    ...readListeningSettings(env, base.production),
    port: env.integer('PORT', DEFAULT_PORT, { min: 0, max: 65535 }),
    /** Undefined means `localhost` with the port. */
    publicUrl: env.base('PUBLIC_URL'),
    mcpUrl: readToolServerUrl(env, base.production),
    /** Whether people may make apps: all, those to whom an operator gave one, or nobody. */
    apps: env.choice('APPS', base.production ? 'off' : 'open', ['open', 'invited', 'off']),
    clientDocuments: env.choice('CLIENT_DOCUMENTS', 'on', ['on', 'off']) === 'on',
    signingKeys: signingKeys(env, base.production),
    adminToken: adminToken(env, base.production),
    /** Undefined: no mail is sent. */
    mail: readMail(env),
    console: env.choice('CONSOLE', 'on', ['on', 'off']) === 'on',
    inviteOnly: env.choice('INVITE_ONLY', 'false', ['true', 'false']) === 'true',
    /** Average requests per second and maximum burst. Undefined: no limit. */
    rateLimit: rateLimit(env),
    ...readWorkTimeouts(env),
    supportedModels:
      modelsIn(env, 'SUPPORTED_MODELS') ??
      [readProviderAccess(env, base.production).defaultModel ?? []].flat(),
    /** Maximum number of candidates of a predicted reply. */
    maxK: env.integer('MAX_K', 5, { min: 1, max: 20 }),
    connectionAttemptTtlS: env.integer('CONNECTION_ATTEMPT_TTL_S', 600, { min: 1, max: 86_400 }),
    contextEnvelopeChars: env.integer('CONTEXT_ENVELOPE_CHARS', 120_000, { min: 1, max: 1_000_000 }),
    sandboxUnits: sandboxUnits(env),
    unitPriceMicrocents: env.integer('UNIT_PRICE_MICROCENTS', 200_000, { min: 0, max: 1_000_000_000 }),
    quotas: readQuotas(env),
  };
  return requireNoFaults(env, config);
}

export type WorkerConfig = ReturnType<typeof workerConfig>;

/** A worker without pools only schedules. It requires neither a model nor a provider's key. */
export function workerConfig(values: NodeJS.ProcessEnv, pools: readonly PoolName[] = POOLS) {
  const env = new Env(values);
  const asksModels = pools.length > 0;
  const connections = pools.includes('predict') ? 'predict' : asksModels ? 'other' : 'scheduler';
  const base = baseConfig(env, OPERATOR_PORTS.worker, DATABASE_POOLS[connections]);
  const { defaultModel, tabModel, openai } = readProviderAccess(env, base.production);
  if (asksModels && defaultModel === undefined) env.faults.push('DEFAULT_MODEL is required');
  const remote = [defaultModel, tabModel].find((model) => model !== undefined && model !== 'local');
  if (asksModels && base.production && openai === undefined && remote !== undefined)
    env.faults.push(`OPENAI_API_KEY is required by the model ${remote}`);
  const config = {
    ...base,
    asksModels,
    /** Number of slots of one process, by pool. */
    slots: {
      predict: env.integer('WORKER_CONCURRENCY', 256, { min: 1, max: 10_000 }),
      batch: env.integer('BATCH_CONCURRENCY', 16, { min: 1, max: 1000 }),
      memory: env.integer('MEMORY_CONCURRENCY', 4, { min: 1, max: 1000 }),
    },
    ...readWorkTimeouts(env),
    recurrence: readRecurrence(env),
    /** Mails about escalated predictions, and the address to which they lead. Undefined: this process sends none. */
    mail: readMail(env),
    publicUrl: env.base('PUBLIC_URL'),
    providerTimeoutMs: env.integer('PROVIDER_TIMEOUT_MS', 8000, { min: 100, max: 600_000 }),
    contextBudgetTokens: env.integer('CONTEXT_BUDGET_TOKENS', 6000, { min: 100, max: 1_000_000 }),
    defaultModel: defaultModel ?? '',
    /** Model of the kinds `predict` and `draft`. */
    tabModel: tabModel ?? '',
    openai,
    provider: readProviderSettings(env),
  };
  return requireNoFaults(env, config);
}

export type AdminConfig = ReturnType<typeof adminConfig>;

/** A missing model is not a fault, because the command `doctor` reports it. */
export function adminConfig(values: NodeJS.ProcessEnv) {
  const env = new Env(values);
  const provider = readProviderAccess(env, isProduction(env));
  const { defaultModel, tabModel } = provider;
  // A malformed list is a fault of the workers' settings, which must not stop a command.
  const fallbackModels = (env.text('FALLBACK_MODELS') ?? '').split(',').map((model) => model.trim());
  const config = {
    ...storeConfig(env, DATABASE_POOLS.admin),
    production: isProduction(env),
    // Not validated here: only some commands need this setting, and they validate it.
    publicUrl: env.text('PUBLIC_URL'),
    recoveryWindowS: recoveryWindowS(env),
    sandboxUnits: sandboxUnits(env),
    ...readWorkTimeouts(env),
    quotas: readQuotas(env),
    ...provider,
    /** Every model that a worker may ask. */
    models: [...new Set([defaultModel ?? '', tabModel ?? '', ...fallbackModels])].filter(Boolean),
  };
  return requireNoFaults(env, config);
}

export function migrateConfig(values: NodeJS.ProcessEnv) {
  const env = new Env(values);
  const { directUrl } = databaseConfig(env);
  return requireNoFaults(env, { directUrl, queuePrefix: queuePrefix(env), logLevel: logLevel(env) });
}

export type BaseConfig = ReturnType<typeof baseConfig>;

function baseConfig(env: Env, operatorPort: number, connections: number) {
  return {
    ...storeConfig(env, connections),
    production: isProduction(env),
    logLevel: logLevel(env),
    tracing: hasCollector(env),
    operator: readOperatorAddress(env, operatorPort),
    /** Time without a heartbeat after which a process counts as dead, in milliseconds. */
    leaseMs: env.integer('LEASE_MS', 5000, { min: 500, max: 60_000 }),
    recoveryWindowS: recoveryWindowS(env),
    tokenQuotas: readTokenQuotas(env),
    allowPrivateAddresses: env.choice('ALLOW_PRIVATE_ADDRESSES', 'false', ['true', 'false']) === 'true',
  };
}

export type StoreConfig = ReturnType<typeof storeConfig>;

function storeConfig(env: Env, connections: number) {
  return {
    database: {
      ...databaseConfig(env),
      poolSize: env.integer('DATABASE_POOL', connections, { min: 2, max: 200 }),
    },
    /** Server for queues and wake-ups. Undefined: PostgreSQL. */
    redis: env.parsed(
      'REDIS_URL',
      parseRedisUrl,
      'redis://, rediss://, redis+sentinel://h1,h2/name/0 or redis+cluster://h1,h2',
    ),
    queuePrefix: queuePrefix(env),
  };
}

function databaseConfig(env: Env) {
  env.require('DATABASE_URL');
  const url = env.url('DATABASE_URL', ['postgres:', 'postgresql:']) ?? '';
  return { url, directUrl: env.url('DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']) ?? url };
}

function queuePrefix(env: Env): string {
  const pattern = /^[a-z][a-z0-9_-]{0,39}$/;
  return env.pattern('QUEUE_PREFIX', 'forecue', pattern, 'a lower-case name of at most 40 characters');
}

export function logLevel(env: Env): string {
  return env.choice('LOG_LEVEL', 'info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);
}

/** The OpenTelemetry SDK reads the other standard variables itself. */
export function hasCollector(env: Env): boolean {
  const endpoints = [
    env.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
    env.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:']),
  ];
  const isDisabled = env.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return !isDisabled && endpoints.some((one) => one !== undefined);
}

function recoveryWindowS(env: Env): number {
  return env.integer('RECOVERY_WINDOW_S', 600, { min: 1, max: 86_400 });
}

function sandboxUnits(env: Env): number {
  return env.integer('SANDBOX_UNITS', 1000, { min: 0, max: 1_000_000_000 });
}

/** Requires strong secrets only in production, not in development and tests. */
function signingKeys(env: Env, production: boolean): SigningKeys {
  const keys = env.parsed(
    'JWT_SECRET',
    (value) => parseSigningKeys(value, { strong: production }),
    'a secret of at least 32 bytes, or a list kid:secret,… of such secrets with different kids',
  );
  return keys ?? [{ kid: '', secret: '' }];
}

function adminToken(env: Env, production: boolean): string {
  const isStrong = (value: string) => !production || Buffer.byteLength(value) >= STRONG_SECRET_BYTES;
  const parse = (value: string) => (isStrong(value) ? value : undefined);
  return env.parsed('ADMIN_TOKEN', parse, `a secret of at least ${STRONG_SECRET_BYTES} bytes`) ?? '';
}

function rateLimit(env: Env) {
  const rps = env.integer('RATE_LIMIT_RPS', 50, { min: 0, max: 1_000_000 });
  const burst = env.integer('RATE_LIMIT_BURST', 100, { min: 0, max: 1_000_000 });
  return rps === 0 || burst === 0 ? undefined : { rps, burst };
}

const TIMEOUT_RANGE = { min: 1000, max: 600_000 };

export type WorkTimeouts = ReturnType<typeof readWorkTimeouts>;

/** Reads the maximum durations of work, including the time in the queue, in milliseconds. */
export function readWorkTimeouts(env: Env) {
  return {
    predictionTimeoutMs: env.integer('PREDICTION_TIMEOUT_MS', 10_000, TIMEOUT_RANGE),
    replyTimeoutMs: env.integer('REPLY_TIMEOUT_MS', 30_000, TIMEOUT_RANGE),
    batchTimeoutMs: env.integer('BATCH_TIMEOUT_MS', 120_000, TIMEOUT_RANGE),
    syncTimeoutMs: env.integer('SYNC_TIMEOUT_MS', 60_000, TIMEOUT_RANGE),
    promoteTimeoutMs: env.integer('PROMOTE_TIMEOUT_MS', 120_000, TIMEOUT_RANGE),
  };
}

export function isProduction(env: Env): boolean {
  return env.choice('NODE_ENV', 'development', ['production', 'development', 'test']) === 'production';
}

/** Throws a `ConfigError` that names every fault found while reading the configuration. */
export function requireNoFaults<T>(env: Env, config: T): T {
  if (env.faults.length > 0) throw new ConfigError([...new Set(env.faults)]);
  return config;
}
