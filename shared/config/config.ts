import { parseOrigins } from './browser-origins.ts';
import { type Deadlines, readDeadlines } from './deadlines.ts';
import { ConfigError, Env } from './env.ts';
import { modelsIn } from './models.ts';
import type { PoolName } from './pools.ts';
import { type ProviderAccess, readProviderAccess } from './provider-access.ts';
import { type ProviderSettings, readProviderSettings } from './provider-settings.ts';
import { type Quotas, readQuotas } from './quotas.ts';
import { type Recurrence, readRecurrence } from './recurrence.ts';
import { parseRedisUrl, type RedisTarget } from './redis-url.ts';
import { parseSigningKeys, type SigningKeys } from './signing-keys.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

/** Where the database and the queues are. */
export interface StoreConfig {
  database: { url: string; directUrl: string; poolSize: number };
  /** Of the queues and wake-ups; undefined: they are on PostgreSQL. */
  redis: RedisTarget | undefined;
  queuePrefix: string;
}

/** What the ingress and the workers have in common. */
export interface BaseConfig extends StoreConfig {
  production: boolean;
  logLevel: string;
  operator: { host: string; port: number };
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  leaseMs: number;
  recoveryWindowS: number;
}

export interface IngressConfig extends BaseConfig, Deadlines {
  host: string;
  port: number;
  /** Base of every URL that the service builds; undefined: `localhost` and the port. */
  publicUrl: string | undefined;
  signingKeys: SigningKeys;
  inviteOnly: boolean;
  /** Requests per second on average, and at once. Undefined: no limit. */
  rateLimit: { rps: number; burst: number } | undefined;
  /** Proxies whose `X-Forwarded-For` is believed: addresses, networks or names that `proxy-addr` knows. */
  trustProxy: readonly string[];
  /** Origins whose pages may use `/api`. */
  corsOrigins: readonly string[];
  /** Most connections of the process, and of one network. */
  connections: { atOnce: number; perNetwork: number };
  /** Milliseconds after which a client that takes nothing of its answer is cut off. */
  sendTimeoutMs: number;
  /** Models that a request may name. */
  supportedModels: readonly string[];
  /** Candidates of a prediction at most. */
  maxK: number;
  connectionAttemptTtlS: number;
  contextEnvelopeChars: number;
  sandboxUnits: number;
  unitPriceMicrocents: number;
  quotas: Quotas;
}

export interface WorkerConfig extends BaseConfig, Deadlines {
  /** Concurrency of one process, by pool. */
  slots: Readonly<Record<PoolName, number>>;
  recurrence: Recurrence;
  providerTimeoutMs: number;
  contextBudgetTokens: number;
  provider: ProviderSettings;
  defaultModel: string;
  openai: ProviderAccess['openai'];
}

/** What the operator's command line uses. A missing model does not stop it: `doctor` reports it. */
export type AdminConfig = StoreConfig &
  Deadlines &
  Pick<IngressConfig, 'production' | 'recoveryWindowS' | 'sandboxUnits' | 'quotas'> &
  ProviderAccess;

/** What the migration step uses. */
export type MigrateConfig = Pick<BaseConfig, 'logLevel' | 'queuePrefix'> & { directUrl: string };

const TRUST_PROXY =
  'addresses, networks (10.0.0.0/8) or the names loopback, linklocal and uniquelocal, comma separated';
const CORS_ORIGINS = 'origins as browsers send them (https://host or https://host:port), comma separated';

const OPERATOR_PORTS = { web: 9460, worker: 9461 };

/** Configuration of an ingress. Throws a `ConfigError` that names every fault at once. */
export function ingressConfig(values: NodeJS.ProcessEnv): IngressConfig {
  const env = new Env(values);
  const base = baseConfig(env, OPERATOR_PORTS.web);
  env.require('JWT_SECRET');
  if (base.production) env.require('PUBLIC_URL');
  const config = {
    ...base,
    host: env.text('HOST') ?? (base.production ? '0.0.0.0' : '127.0.0.1'),
    port: env.integer('PORT', 8080, { min: 0, max: 65535 }),
    publicUrl: env.url('PUBLIC_URL', ['http:', 'https:']),
    signingKeys: signingKeys(env, base.production),
    inviteOnly: env.choice('INVITE_ONLY', 'false', ['true', 'false']) === 'true',
    rateLimit: rateLimit(env),
    trustProxy: env.parsed('TRUST_PROXY', parseTrustedProxies, TRUST_PROXY) ?? [],
    corsOrigins: env.parsed('CORS_ORIGINS', parseOrigins, CORS_ORIGINS) ?? [],
    connections: {
      atOnce: env.integer('MAX_CONNECTIONS', 5000, { min: 1, max: 1_000_000 }),
      perNetwork: env.integer('MAX_CONNECTIONS_PER_ADDRESS', 500, { min: 1, max: 1_000_000 }),
    },
    sendTimeoutMs: env.integer('SEND_TIMEOUT_MS', 30_000, { min: 1000, max: 600_000 }),
    ...readDeadlines(env),
    supportedModels:
      modelsIn(env, 'SUPPORTED_MODELS') ??
      [readProviderAccess(env, base.production).defaultModel ?? []].flat(),
    maxK: env.integer('MAX_K', 5, { min: 1, max: 20 }),
    connectionAttemptTtlS: env.integer('CONNECTION_ATTEMPT_TTL_S', 600, { min: 1, max: 86_400 }),
    contextEnvelopeChars: env.integer('CONTEXT_ENVELOPE_CHARS', 120_000, { min: 1, max: 1_000_000 }),
    sandboxUnits: sandboxUnits(env),
    unitPriceMicrocents: env.integer('UNIT_PRICE_MICROCENTS', 200_000, { min: 0, max: 1_000_000_000 }),
    quotas: readQuotas(env),
  };
  return checked(env, config);
}

/** Configuration of a worker process. Throws a `ConfigError` that names every fault at once. */
export function workerConfig(values: NodeJS.ProcessEnv): WorkerConfig {
  const env = new Env(values);
  const base = baseConfig(env, OPERATOR_PORTS.worker);
  const { defaultModel, openai } = readProviderAccess(env, base.production);
  if (defaultModel === undefined) env.faults.push('DEFAULT_MODEL is required');
  const config = {
    ...base,
    slots: {
      predict: env.integer('WORKER_CONCURRENCY', 256, { min: 1, max: 10_000 }),
      batch: env.integer('BATCH_CONCURRENCY', 16, { min: 1, max: 1000 }),
      memory: env.integer('MEMORY_CONCURRENCY', 4, { min: 1, max: 1000 }),
    },
    ...readDeadlines(env),
    recurrence: readRecurrence(env),
    providerTimeoutMs: env.integer('PROVIDER_TIMEOUT_MS', 8000, { min: 100, max: 600_000 }),
    contextBudgetTokens: env.integer('CONTEXT_BUDGET_TOKENS', 6000, { min: 100, max: 1_000_000 }),
    defaultModel: defaultModel ?? '',
    openai,
    provider: readProviderSettings(env),
  };
  return checked(env, config);
}

/** Configuration of the command line. Throws a `ConfigError` that names every fault at once. */
export function adminConfig(values: NodeJS.ProcessEnv): AdminConfig {
  const env = new Env(values);
  const config = {
    ...storeConfig(env),
    production: isProduction(env),
    recoveryWindowS: recoveryWindowS(env),
    sandboxUnits: sandboxUnits(env),
    ...readDeadlines(env),
    quotas: readQuotas(env),
    ...readProviderAccess(env, isProduction(env)),
  };
  return checked(env, config);
}

/** Configuration of the migration step. Throws a `ConfigError` that names every fault at once. */
export function migrateConfig(values: NodeJS.ProcessEnv): MigrateConfig {
  const env = new Env(values);
  const { directUrl } = databaseConfig(env);
  return checked(env, { directUrl, queuePrefix: queuePrefix(env), logLevel: logLevel(env) });
}

function baseConfig(env: Env, operatorPort: number): BaseConfig {
  return {
    ...storeConfig(env),
    production: isProduction(env),
    logLevel: logLevel(env),
    operator: {
      host: env.text('OPERATOR_HOST') ?? '127.0.0.1',
      port: env.integer('OPERATOR_PORT', operatorPort, { min: 0, max: 65535 }),
    },
    leaseMs: env.integer('LEASE_MS', 5000, { min: 500, max: 60_000 }),
    recoveryWindowS: recoveryWindowS(env),
  };
}

function storeConfig(env: Env): StoreConfig {
  return {
    database: {
      ...databaseConfig(env),
      poolSize: env.integer('DATABASE_POOL', 10, { min: 2, max: 200 }),
    },
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

function logLevel(env: Env): string {
  return env.choice('LOG_LEVEL', 'info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);
}

function recoveryWindowS(env: Env): number {
  return env.integer('RECOVERY_WINDOW_S', 600, { min: 1, max: 86_400 });
}

function sandboxUnits(env: Env): number {
  return env.integer('SANDBOX_UNITS', 1000, { min: 0, max: 1_000_000_000 });
}

/** Only production insists on strong secrets: elsewhere they are a developer's or a test's. */
function signingKeys(env: Env, production: boolean): SigningKeys {
  const parsed = env.parsed(
    'JWT_SECRET',
    (value) => parseSigningKeys(value, { strong: production }),
    'a secret of at least 32 bytes, or a list kid:secret,… of such secrets',
  );
  return parsed ?? [{ kid: '', secret: '' }];
}

function rateLimit(env: Env): IngressConfig['rateLimit'] {
  const rps = env.integer('RATE_LIMIT_RPS', 50, { min: 0, max: 1_000_000 });
  const burst = env.integer('RATE_LIMIT_BURST', 100, { min: 0, max: 1_000_000 });
  return rps === 0 || burst === 0 ? undefined : { rps, burst };
}

function isProduction(env: Env): boolean {
  return env.text('NODE_ENV') === 'production';
}

function checked<T>(env: Env, config: T): T {
  if (env.faults.length > 0) throw new ConfigError([...new Set(env.faults)]);
  return config;
}
