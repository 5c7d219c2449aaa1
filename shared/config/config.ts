import { parseOrigins } from './browser-origins.ts';
import { ConfigError, Env } from './env.ts';
import type { PoolName } from './pools.ts';
import { parseRedisUrl, type RedisTarget } from './redis-url.ts';
import { parseSigningKeys, type SigningKeys } from './signing-keys.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

/** What every process needs: where the truth and the queues are, and how long it may be silent. */
export interface BaseConfig {
  production: boolean;
  logLevel: string;
  operator: { host: string; port: number };
  database: { url: string; directUrl: string; poolSize: number };
  /** Where the queues and wake-ups are; on PostgreSQL where it is undefined. */
  redis: RedisTarget | undefined;
  queuePrefix: string;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  leaseMs: number;
  recoveryWindowS: number;
}

export interface IngressConfig extends BaseConfig {
  host: string;
  port: number;
  /** Base of every URL that we build; undefined: that of the port. */
  publicUrl: string | undefined;
  signingKeys: SigningKeys;
  inviteOnly: boolean;
  /** Undefined: no limit. Requests a second on average, and at once. */
  rateLimit: { rps: number; burst: number } | undefined;
  /** Proxies whose `X-Forwarded-For` counts: addresses, networks or the names of `proxy-addr`. */
  trustProxy: readonly string[];
  /** Origins whose pages may use `/api`. */
  corsOrigins: readonly string[];
  predictionTimeoutMs: number;
  connectionAttemptTtlS: number;
  contextEnvelopeChars: number;
  sandboxUnits: number;
  unitPriceMicrocents: number;
}

export interface WorkerConfig extends BaseConfig {
  /** Work at once in one process, by pool. */
  slots: Readonly<Record<PoolName, number>>;
  providerTimeoutMs: number;
  contextBudgetTokens: number;
  defaultModel: string;
  openai: { apiKey: string; baseUrl: string | undefined } | undefined;
}

/** What the operator's command line needs. A missing model does not stop it: `doctor` tells. */
export type AdminConfig = BaseConfig & Pick<IngressConfig, 'sandboxUnits'> & ProviderConfig;

interface ProviderConfig extends Pick<WorkerConfig, 'openai'> {
  /** Undefined when the operator has to say which model serves. */
  defaultModel: string | undefined;
}

const TRUST_PROXY =
  'addresses, networks (10.0.0.0/8) or the names loopback, linklocal and uniquelocal, comma separated';
const CORS_ORIGINS = 'origins as browsers send them (https://host or https://host:port), comma separated';

const OPERATOR_PORTS = { web: 9460, worker: 9461 };

/** Configuration of the ingress. Throws `ConfigError`, which names every fault at once. */
export function ingressConfig(values: NodeJS.ProcessEnv): IngressConfig {
  const env = new Env(values);
  const base = baseConfig(env, OPERATOR_PORTS.web);
  env.require('JWT_SECRET');
  if (base.production) env.require('PUBLIC_URL', 'ADMIN_TOKEN');
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
    predictionTimeoutMs: env.integer('PREDICTION_TIMEOUT_MS', 10_000, { min: 1000, max: 600_000 }),
    connectionAttemptTtlS: env.integer('CONNECTION_ATTEMPT_TTL_S', 600, { min: 1, max: 86_400 }),
    contextEnvelopeChars: env.integer('CONTEXT_ENVELOPE_CHARS', 120_000, { min: 1, max: 1_000_000 }),
    ...unitConfig(env),
  };
  return checked(env, config);
}

/** Configuration of a worker process. Throws `ConfigError`, which names every fault at once. */
export function workerConfig(values: NodeJS.ProcessEnv): WorkerConfig {
  const env = new Env(values);
  const base = baseConfig(env, OPERATOR_PORTS.worker);
  if (base.production) env.require('PUBLIC_URL', 'JWT_SECRET');
  const { defaultModel, openai } = providerConfig(env, base.production);
  if (defaultModel === undefined) env.faults.push('DEFAULT_MODEL is required');
  const config = {
    ...base,
    slots: {
      predict: env.integer('WORKER_CONCURRENCY', 64, { min: 1, max: 1000 }),
      batch: env.integer('BATCH_CONCURRENCY', 16, { min: 1, max: 1000 }),
      memory: env.integer('MEMORY_CONCURRENCY', 4, { min: 1, max: 1000 }),
    },
    providerTimeoutMs: env.integer('PROVIDER_TIMEOUT_MS', 8000, { min: 100, max: 600_000 }),
    contextBudgetTokens: env.integer('CONTEXT_BUDGET_TOKENS', 6000, { min: 100, max: 1_000_000 }),
    defaultModel: defaultModel ?? '',
    openai,
  };
  return checked(env, config);
}

/** Configuration of the command line. Throws `ConfigError`, which names every fault at once. */
export function adminConfig(values: NodeJS.ProcessEnv): AdminConfig {
  const env = new Env(values);
  const base = baseConfig(env, 0);
  return checked(env, { ...base, ...unitConfig(env), ...providerConfig(env, base.production) });
}

/** Configuration of the migration step. Throws `ConfigError`, which names every fault at once. */
export function migrateConfig(values: NodeJS.ProcessEnv): BaseConfig {
  const env = new Env(values);
  return checked(env, baseConfig(env, 0));
}

function baseConfig(env: Env, operatorPort: number): BaseConfig {
  env.require('DATABASE_URL');
  const url = env.url('DATABASE_URL', ['postgres:', 'postgresql:']) ?? '';
  return {
    production: isProduction(env),
    logLevel: env.choice('LOG_LEVEL', 'info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    operator: {
      host: env.text('OPERATOR_HOST') ?? '127.0.0.1',
      port: env.integer('OPERATOR_PORT', operatorPort, { min: 0, max: 65535 }),
    },
    database: {
      url,
      directUrl: env.url('DATABASE_DIRECT_URL', ['postgres:', 'postgresql:']) ?? url,
      poolSize: env.integer('DATABASE_POOL', 10, { min: 2, max: 200 }),
    },
    redis: env.parsed(
      'REDIS_URL',
      parseRedisUrl,
      'redis://, rediss://, redis+sentinel://h1,h2/name/0 or redis+cluster://h1,h2',
    ),
    queuePrefix: env.pattern(
      'QUEUE_PREFIX',
      'forecue',
      /^[a-z][a-z0-9_-]{0,39}$/,
      'a lower-case name of at most 40 characters',
    ),
    leaseMs: env.integer('LEASE_MS', 5000, { min: 500, max: 60_000 }),
    recoveryWindowS: env.integer('RECOVERY_WINDOW_S', 600, { min: 1, max: 86_400 }),
  };
}

/** Secrets of at least 32 bytes are asked for in production only: they are the operator's there, and ours elsewhere. */
function signingKeys(env: Env, production: boolean): SigningKeys {
  const parsed = env.parsed(
    'JWT_SECRET',
    (value) => parseSigningKeys(value, { strong: production }),
    'a secret of 32 bytes or more, or a list kid:secret,… of such',
  );
  return parsed ?? [{ kid: '', secret: '' }];
}

function rateLimit(env: Env): IngressConfig['rateLimit'] {
  const rps = env.integer('RATE_LIMIT_RPS', 50, { min: 0, max: 1_000_000 });
  const burst = env.integer('RATE_LIMIT_BURST', 100, { min: 0, max: 1_000_000 });
  return rps === 0 || burst === 0 ? undefined : { rps, burst };
}

function unitConfig(env: Env) {
  return {
    sandboxUnits: env.integer('SANDBOX_UNITS', 1000, { min: 0, max: 1_000_000_000 }),
    unitPriceMicrocents: env.integer('UNIT_PRICE_MICROCENTS', 200_000, { min: 0, max: 1_000_000_000 }),
  };
}

/** Without a key in development the built-in predictor serves; else the operator says which model does. */
function providerConfig(env: Env, production: boolean): ProviderConfig {
  const apiKey = env.text('OPENAI_API_KEY');
  const baseUrl = env.url('OPENAI_BASE_URL', ['http:', 'https:']);
  const builtIn = apiKey === undefined && !production ? 'local' : undefined;
  return {
    defaultModel: env.text('DEFAULT_MODEL') ?? builtIn,
    openai: apiKey === undefined ? undefined : { apiKey, baseUrl },
  };
}

function isProduction(env: Env): boolean {
  return env.text('NODE_ENV') === 'production';
}

function checked<T>(env: Env, config: T): T {
  if (env.faults.length > 0) throw new ConfigError([...new Set(env.faults)]);
  return config;
}
