import { Agent, request } from 'node:http';
import { crc32 } from 'node:zlib';
import { newId } from '../../shared/ids.ts';
import { newAppKey, newServiceKey } from '../../shared/security/keys.ts';
import { hashPassword } from '../../shared/security/passwords.ts';
import { mochaGlobalSetup, mochaGlobalTeardown } from '../setup.ts';
import { signUp } from '../support/account.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { type System, startSystem } from '../support/system.ts';

/**
 * By hand: whether the time of a refusal tells an e-mail address that has an account from one that has none, or a key that
 * is nearly right from one that is nobody's. Pairs of calls in random order, so that other load on the machine affects
 * both sides; a paired permutation test on the trimmed mean of their differences.
 */
const LOGIN_PAIRS = Number(process.env['LOGIN_PAIRS'] ?? 1000);
const KEY_PAIRS = Number(process.env['KEY_PAIRS'] ?? 5000);
const ACCOUNTS = 500;
const WARM_UP = 50;
const PERMUTATIONS = 10_000;
/** Of each end: what the machine did meanwhile. */
const TRIMMED = 0.1;
/** A difference that chance makes less often counts as real. */
const SIGNIFICANCE = 0.01;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** Each call comes from a network of its own. */
let networks = 0;
let tried = 0;

/** One call; resolves when its answer has arrived. */
type Call = () => Promise<void>;

await mochaGlobalSetup();
const system = await startSystem({ workers: 0, env: { TRUST_PROXY: 'loopback', LOG_LEVEL: 'warn' } });
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
try {
  const results = {
    'log-in: wrong password, unknown e-mail': await compare(await logIns(system), LOGIN_PAIRS),
    '/api key: nearly right, unknown': await compare(await serviceKeys(system), KEY_PAIRS),
    '/v1 key: nearly right, unknown': await compare(await appKeys(system), KEY_PAIRS),
  };
  console.log(JSON.stringify(results, undefined, 2));
  process.exitCode = Object.values(results).every(({ p }) => p >= SIGNIFICANCE) ? 0 : 1;
} finally {
  agent.destroy();
  await system.stop();
  await mochaGlobalTeardown();
}

async function compare(sides: readonly [Call, Call], pairs: number) {
  for (let n = 0; n < WARM_UP; n += 1) for (const side of sides) await side();
  const took: [number[], number[]] = [[], []];
  for (let n = 0; n < pairs; n += 1) {
    const order = Math.random() < 0.5 ? ([0, 1] as const) : ([1, 0] as const);
    for (const side of order) {
      const since = performance.now();
      await sides[side]();
      took[side].push(performance.now() - since);
    }
  }
  const differences = took[0].map((ms, n) => ms - (took[1][n] ?? 0));
  return {
    pairs,
    medianMs: took.map((side) => percentile(side, 0.5)),
    p95Ms: took.map((side) => percentile(side, 0.95)),
    differenceMs: trimmedMean(differences),
    p: permutationTest(differences),
  };
}

/** If both sides are alike, the sign of each difference is chance: how often chance makes as large a mean. */
function permutationTest(differences: number[]): number {
  const observed = Math.abs(trimmedMean(differences));
  let asLarge = 0;
  for (let n = 0; n < PERMUTATIONS; n += 1) {
    const flipped = differences.map((one) => (Math.random() < 0.5 ? one : -one));
    if (Math.abs(trimmedMean(flipped)) >= observed) asLarge += 1;
  }
  return (asLarge + 1) / (PERMUTATIONS + 1);
}

function trimmedMean(values: number[]): number {
  const cut = Math.floor(values.length * TRIMMED);
  const kept = Float64Array.from(values)
    .sort()
    .subarray(cut, values.length - cut);
  return kept.reduce((sum, one) => sum + one, 0) / kept.length;
}

async function logIns({ database }: System): Promise<[Call, Call]> {
  const ids = Array.from({ length: ACCOUNTS }, newId);
  await database.pool.query(
    `insert into accounts (id, email, email_key, name, password_hash, active, created_at, updated_at)
     select id, id || '@example.com', id || '@example.com', '', $2, true, now(), now() from unnest($1::uuid[]) id`,
    [ids, await hashPassword('a horse with 9 staples')],
  );
  const logIn = (id: string) =>
    refused('POST', '/api/auth/login/', {}, { email: `${id}@example.com`, password: 'a wrong guess 123' });
  let next = 0;
  return [() => logIn(ids[next++ % ACCOUNTS] ?? ''), () => logIn(newId())];
}

async function serviceKeys(installation: System): Promise<[Call, Call]> {
  const person = await signUp(installation);
  const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'k' });
  const use = (key: string) => refused('GET', '/api/auth/me/', { 'x-service-api-key': key });
  return guesses(
    use,
    () => nearly(body.key),
    () => newServiceKey().key,
  );
}

/** Makes the keys in advance, so that their making is not measured. */
function guesses(
  use: (key: string) => Promise<void>,
  ...makers: readonly [() => string, () => string]
): [Call, Call] {
  const [nearlyRight, unknown] = makers.map((make) => Array.from({ length: KEY_PAIRS + WARM_UP }, make));
  return [() => use(nearlyRight?.pop() ?? ''), () => use(unknown?.pop() ?? '')];
}

async function appKeys(installation: System): Promise<[Call, Call]> {
  const { key } = await installation.app();
  const use = (wrong: string) => refused('GET', '/v1/usage', { authorization: `Bearer ${wrong}` });
  return guesses(
    use,
    () => nearly(key),
    () => newAppKey().key,
  );
}

/** The key with three other characters near its end, and the checksum of that; another one each time, as none is looked up twice. */
function nearly(key: string): string {
  const secret = key.slice(0, -CHECKSUM_LENGTH);
  tried += 1;
  const varied = (tried % 36 ** 3).toString(36).padStart(3, '0');
  const other = secret.slice(0, -4) + varied + secret.slice(-1);
  let rest = crc32(other);
  let checksum = '';
  for (let n = 0; n < CHECKSUM_LENGTH; n += 1) {
    checksum = BASE62.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return other + checksum;
}

/** A call from a network of its own, which must be refused with 401. */
function refused(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<void> {
  networks += 1;
  const address = `2001:db8:${(networks >> 16).toString(16)}:${(networks & 0xffff).toString(16)}::1`;
  const content = body === undefined ? '' : JSON.stringify(body);
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(`${system.webs[0]?.url}${path}`, {
      method,
      agent,
      headers: { ...headers, ...type, 'x-forwarded-for': address, 'content-length': content.length },
    });
    call.once('error', reject);
    call.once('response', (response) => {
      response.resume().once('end', () => {
        if (response.statusCode === 401) resolve();
        else reject(new Error(`${path} answered ${response.statusCode}`));
      });
    });
    call.end(content);
  });
}
