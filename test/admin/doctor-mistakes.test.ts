import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { adminConfig } from '../../shared/config/config.ts';
import { queueIdentity } from '../../shared/config/published-settings.ts';
import { runAdmin } from '../support/admin.ts';
import { useDatabase } from '../support/database.ts';
import { useServer } from '../support/listening.ts';

interface Mistake {
  env?: Record<string, string>;
  /** What runs; by default one of each. */
  running?: readonly (readonly string[])[];
  /** Name of the only check that finds a fault; undefined: the command refuses to start. */
  check?: string;
  says: RegExp;
}

const ONE_OF_EACH = [['web'], ['predict'], ['batch'], ['memory'], ['scheduler']];
const PROVIDER = { DEFAULT_MODEL: 'gpt-here', OPENAI_API_KEY: 'sk-hidden' };

describe('doctor and a mistake', () => {
  const database = useDatabase();
  /** The provider, whose answer the first part of the address names. */
  const provider = useServer(
    createServer((request, response) => {
      const [, status = '', page] = request.url?.split('/') ?? [];
      const list = '{"data": [{"id": "gpt-here"}, {"id": "models/gemini"}]}';
      response.writeHead(Number(status)).end(page === 'page' ? '<!doctype html>' : list);
    }),
  );
  /** A Redis that answers every command as one with another password. */
  const refusing = useServer(
    createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        for (const _ of data.toString().matchAll(/^\*\d+/gm)) socket.write('-WRONGPASS invalid password\r\n');
      });
    }),
  );
  const bookEnv = () => ({
    NODE_ENV: 'production',
    DATABASE_URL: database.url,
    PUBLIC_URL: 'https://forecue.example',
    DEFAULT_MODEL: 'local',
  });
  const providerEnv = (status: number, more = {}) => ({
    ...PROVIDER,
    OPENAI_BASE_URL: `${provider.url}/${status}`,
    ...more,
  });
  const elsewhere = (change: (url: URL) => void) => {
    const url = new URL(database.url);
    change(url);
    return url.href;
  };

  /** Stores what processes of these kinds would store of themselves. */
  async function run(kinds: Mistake['running'] = ONE_OF_EACH, env: Record<string, string> = {}) {
    await database.pool.query('delete from processes');
    const values = { ...bookEnv(), ...(env['REDIS_URL'] && { REDIS_URL: env['REDIS_URL'] }) };
    const settings = {
      version: '1',
      queue: queueIdentity(adminConfig(values)),
      connections: 0,
      clock_ahead_s: 0,
    };
    for (const [service = '', ...others] of kinds) {
      const pools = [service, ...others].filter((name) => name !== 'web' && name !== 'scheduler');
      await database.pool.query(
        `insert into processes (id, kind, alive_until, since, pools, settings)
         values (gen_random_uuid(), $1, now() + interval '2 minutes', now(), $2, $3)`,
        [service === 'web' ? 'web' : 'worker', Object.fromEntries(pools.map((pool) => [pool, {}])), settings],
      );
    }
  }

  async function examine(env: Record<string, string>) {
    const { code, stdout, stderr } = await runAdmin(['doctor', '--json'], { ...bookEnv(), ...env });
    assert.doesNotMatch(stdout + stderr, /hidden/);
    if (stdout === '') return { code, faults: [], refusal: stderr };
    const checks: { name: string; ok: boolean | null; found: string; to_do: string }[] =
      JSON.parse(stdout).checks;
    return { code, faults: checks.filter(({ ok }) => ok === false), refusal: '' };
  }

  for (const [what, mend] of Object.entries<() => Record<string, string>>({
    'an installation by the book': () => ({}),
    '`local` with a key that is any text': () => ({ OPENAI_API_KEY: 'any text' }),
    'a model that the provider lists': () => providerEnv(200),
    "a model that the provider lists with its publisher's path": () =>
      providerEnv(200, { DEFAULT_MODEL: 'gemini' }),
    'spaces around values': () =>
      providerEnv(200, {
        DEFAULT_MODEL: 'gpt-here ',
        OPENAI_API_KEY: ' sk-hidden\n',
        PUBLIC_URL: 'https://forecue.example/ ',
      }),
    'variables of other programs, and an address of this machine': () => ({
      HTTP_PROXY: 'http://proxy',
      HOSTNAME: 'a',
      OTEL_SERVICE_NAME: 'forecue',
      PUBLIC_URL: 'http://localhost:8080',
    }),
  }))
    it(`the doctor finds nothing wrong with ${what}`, async () => {
      await run();
      assert.deepEqual(await examine(mend()), { code: 0, faults: [], refusal: '' });
    });

  const MISTAKES: Record<string, () => Mistake> = {
    'no DATABASE_URL': () => ({
      env: { DATABASE_URL: '' },
      says: /^configuration: DATABASE_URL is required$/m,
    }),
    'a bad number': () => ({ env: { DATABASE_POOL: 'ten' }, says: /DATABASE_POOL must be a whole number/ }),
    'an unknown role': () => ({
      env: { DATABASE_URL: elsewhere((url) => Object.assign(url, { username: 'nobody' })) },
      check: 'database',
      says: /nobody.*check DATABASE_URL/,
    }),
    'a wrong port of PostgreSQL': () => ({
      env: { DATABASE_URL: elsewhere((url) => Object.assign(url, { port: '9' })) },
      check: 'database',
      says: /does not answer.*correct DATABASE_URL/,
    }),
    'an unknown database': () => ({
      env: { DATABASE_URL: elsewhere((url) => Object.assign(url, { pathname: '/nowhere' })) },
      check: 'database',
      says: /"nowhere" does not exist/,
    }),
    'TLS of a PostgreSQL that has none': () => ({
      env: { DATABASE_URL: elsewhere((url) => url.searchParams.set('sslmode', 'verify-full')) },
      check: 'database',
      says: /no TLS with the database.*correct sslmode, or sslrootcert, in DATABASE_URL/,
    }),
    'a wrong port past the pooler': () => ({
      env: { DATABASE_DIRECT_URL: elsewhere((url) => Object.assign(url, { port: '9' })) },
      check: 'pooler',
      says: /does not answer.*DATABASE_DIRECT_URL/,
    }),
    'a database past the pooler that is another one': () => ({
      env: { DATABASE_DIRECT_URL: elsewhere((url) => Object.assign(url, { pathname: '/postgres' })) },
      check: 'pooler',
      says: /DATABASE_DIRECT_URL leads to another database than DATABASE_URL: set it to the same one/,
    }),
    'a Redis that does not run': () => ({
      env: { REDIS_URL: 'redis://127.0.0.1:9' },
      check: 'queue',
      says: /Redis does not answer.*correct REDIS_URL/,
    }),
    'another QUEUE_PREFIX': () => ({
      env: { QUEUE_PREFIX: 'other' },
      check: 'queue',
      says: /correct QUEUE_PREFIX/,
    }),
    'a Redis that refuses its password': () => ({
      env: { REDIS_URL: `redis://:hidden@127.0.0.1:${refusing.port}` },
      check: 'queue',
      says: /Redis refused \(WRONGPASS.*correct REDIS_URL/,
    }),
    'a server as REDIS_URL that is no Redis': () => ({
      env: { REDIS_URL: `redis://127.0.0.1:${provider.port}` },
      check: 'queue',
      says: /Redis.*correct REDIS_URL/,
    }),
    'no process at all': () => ({ running: [], check: 'processes', says: /none is running.*Procfile/ }),
    'no worker for predictions': () => ({
      running: [['web'], ['batch'], ['memory'], ['scheduler']],
      check: 'processes',
      says: /nothing runs as predict: start/,
    }),
    'no ingress and no scheduler': () => ({
      running: [['predict', 'batch'], ['memory']],
      check: 'processes',
      says: /nothing runs as web, scheduler: start/,
    }),
    'no DEFAULT_MODEL': () => ({ env: { DEFAULT_MODEL: '' }, check: 'provider', says: /set DEFAULT_MODEL/ }),
    'a model without a key': () => ({
      env: { TAB_MODEL: 'gpt-here' },
      check: 'provider',
      says: /gpt-here, but no key.*OPENAI_API_KEY/,
    }),
    'a key that the provider refuses': () => ({
      env: providerEnv(401),
      check: 'provider',
      says: /the key is wrong: correct OPENAI_API_KEY/,
    }),
    'a provider that fails': () => ({ env: providerEnv(500), check: 'provider', says: /500.*status page/ }),
    'a provider out of reach': () => ({
      env: { ...PROVIDER, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
      check: 'provider',
      says: /no answer.*OPENAI_BASE_URL/,
    }),
    "a provider's address that leads to a page": () => ({
      env: { ...PROVIDER, OPENAI_BASE_URL: `${provider.url}/200/page` },
      check: 'provider',
      says: /answered with no list of models: correct OPENAI_BASE_URL: it usually ends in \/v1/,
    }),
    'a key with typographic quotes': () => ({
      env: providerEnv(200, { OPENAI_API_KEY: '“sk-hidden”' }),
      says: /^configuration: OPENAI_API_KEY must be of plain characters$/m,
    }),
    'a model in quotes': () => ({
      env: { DEFAULT_MODEL: '"local"' },
      says: /^configuration: DEFAULT_MODEL must be the id of a model, without quotes$/m,
    }),
    'a model that the provider does not list': () => ({
      env: providerEnv(200, { DEFAULT_MODEL: 'gpt-nope', TAB_MODEL: 'gpt-here' }),
      check: 'provider',
      says: /not among its 2 models: gpt-nope: correct DEFAULT_MODEL/,
    }),
    'a fallback that the provider does not list': () => ({
      env: providerEnv(200, { FALLBACK_MODELS: 'gpt-here,gpt-gone' }),
      check: 'provider',
      says: /not among its 2 models: gpt-gone: .*FALLBACK_MODELS/,
    }),
    'a plain http address in production': () => ({
      env: { PUBLIC_URL: 'http://forecue.example' },
      check: 'settings',
      says: /PUBLIC_URL is not https: .*reverse proxy/,
    }),
    'an address without a scheme': () => ({
      env: { PUBLIC_URL: 'forecue.example' },
      check: 'settings',
      says: /PUBLIC_URL must be a URL/,
    }),
    'an address with a query, which no path can follow': () => ({
      env: { PUBLIC_URL: 'https://forecue.example/?tenant=1' },
      check: 'settings',
      says: /PUBLIC_URL must be a URL .* without user, query or fragment/,
    }),
    'two addresses': () => ({
      env: { PUBLIC_URL: 'https://forecue.example,https://www.forecue.example' },
      check: 'settings',
      says: /PUBLIC_URL must be a URL/,
    }),
    'a misspelt environment': () => ({
      env: { NODE_ENV: 'prod' },
      says: /^configuration: NODE_ENV must be one of production, development, test, not "prod"$/m,
    }),
    'a misspelt name': () => ({
      env: { WORKER_CONCURENCY: '512' },
      check: 'settings',
      says: /there is no WORKER_CONCURENCY: rename WORKER_CONCURENCY, perhaps to WORKER_CONCURRENCY/,
    }),
    'a name without its unit, and one in lower case': () => ({
      env: { PREDICTION_TIMEOUT: '5', redis_url: 'redis://redis' },
      check: 'settings',
      says: /perhaps to PREDICTION_TIMEOUT_MS; rename redis_url, perhaps to REDIS_URL/,
    }),
    'a file for a setting that is no secret': () => ({
      env: { PUBLIC_URL_FILE: '/run/secrets/url' },
      check: 'settings',
      says: /there is no PUBLIC_URL_FILE: .*perhaps to PUBLIC_URL/,
    }),
    'malformed prices': () => ({
      env: { MODEL_PRICES: 'gpt-here=1,2' },
      check: 'settings',
      says: /MODEL_PRICES must be a list model=input:output/,
    }),
    'a mail server without a sender': () => ({
      env: { SMTP_URL: 'smtp://user:hidden@mail.example' },
      check: 'settings',
      says: /MAIL_FROM is required: correct it/,
    }),
    'a sender without a mail server': () => ({
      env: { MAIL_FROM: 'forecue@example.com' },
      check: 'settings',
      says: /no mail is sent: set SMTP_URL/,
    }),
    "a malformed setting of the tool server's": () => ({
      env: { MCP_UPSTREAM_URL: 'ingress:8080', MCP_PORT: 'tcp' },
      check: 'settings',
      says: /MCP_PORT must be a whole number.*; MCP_UPSTREAM_URL must be a URL/,
    }),
    'a weak token': () => ({
      env: { ADMIN_TOKEN: 'short' },
      check: 'settings',
      says: /ADMIN_TOKEN must be a secret of at least 32 bytes/,
    }),
    'a malformed time': () => ({
      env: { PROMOTE_EVERY: '30 minutes' },
      check: 'settings',
      says: /PROMOTE_EVERY must be/,
    }),
  };

  for (const [what, mistake] of Object.entries(MISTAKES))
    it(`the doctor finds ${what}, once, and exits with 1`, async () => {
      const { env = {}, running, check, says } = mistake();
      await run(running, env);
      const { code, faults, refusal } = await examine(env);
      assert.equal(code, 1);
      const named = faults.map(({ name }) => name);
      assert.deepEqual(named, check === undefined ? [] : [check]);
      assert.match(faults[0] ? `${faults[0].found}: ${faults[0].to_do}` : refusal, says);
    });
});
