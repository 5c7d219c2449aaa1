import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { newId } from '../../shared/ids.ts';
import { newAppKey, newServiceKey } from '../../shared/security/keys.ts';
import { hashPassword } from '../../shared/security/passwords.ts';
import { signUp } from '../support/account.ts';
import { percentile } from '../support/keep-alive-client.ts';
import { type Comparison, compareTimes, type Difference, type Round } from '../support/same-times.ts';
import { SCALE } from '../support/scale.ts';
import { type System, type TestProcess, useProcesses } from '../support/system.ts';

/**
 * Does the time of a refusal reveal that an e-mail address has an account, or that a key is nearly right; does the time
 * of an answer reveal who is on the waitlist? Each round makes two calls of each of two classes, in random order, over
 * one socket, with bytes of equal length. Halves that each have one call of each class show the noise (`control`). A
 * second comparison of log-ins hashes in no time, since the noise of the hash hides other differences.
 *
 * Differences of 15 to 100 us have been measured over the Internet with thousands of calls (Crosby, Wallach and Riedi,
 * 2009); here, an e-mail address may be tried 50 times an hour. The margin, above which noise must hide nothing on an
 * idle machine, is wider with the real hash, and for the waitlist, where an address can be asked about only once.
 */
const MARGIN_MS = 0.02;
const HASH_MARGIN_MS = 1;
const WAITLIST_MARGIN_MS = 0.05;
const HASH_ROUNDS = 100 * SCALE;
const ROUNDS = 1000 * SCALE;
const WARM_UP = 100;
const COMPARISONS = 5;
/** Level of each test, so that all tests of a run together have 0.01 (Bonferroni); a comparison has two. */
const SIGNIFICANCE = 0.01 / (2 * COMPARISONS);

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

type MakeCall = () => Buffer;

type Verdict = 'alike' | 'different' | 'too noisy' | 'noisy control';

/** Number of networks used so far: each call comes from a network of its own. */
let networks = 0;
let nearMisses = 0;

describe('times of answers', function () {
  this.timeout(180_000 * SCALE);
  // Uses production's limits, which count wrong credentials, and its log lines.
  const system = useProcesses({
    workers: 0,
    env: { TRUST_PROXY: 'loopback', RATE_LIMIT_RPS: '50', RATE_LIMIT_BURST: '100' },
  });

  it('the time of a log-in does not reveal whether the e-mail address has an account', async () => {
    const calls = await logIns(system, HASH_ROUNDS);
    assertAlike(await compare(calls, { at: system.webs[0], rounds: HASH_ROUNDS, marginMs: HASH_MARGIN_MS }));
    const at = await system.startWeb({
      NODE_OPTIONS: `--import=${new URL('../support/instant-hash.ts', import.meta.url)}`,
    });
    assertAlike(await compare(await logIns(system, ROUNDS), { at }));
  });

  it('the time in which a key is refused does not reveal whether a key is nearly right', async () => {
    for (const calls of [await serviceKeys(system), await appKeys(system)])
      assertAlike(await compare(calls, { at: system.webs[0] }));
  });

  it('the time in which the waitlist answers does not reveal whether an e-mail address is on it', async () => {
    assertAlike(await compare(await waitlist(system), { at: system.webs[0], marginMs: WAITLIST_MARGIN_MS }));
  });
});

/** Asserts that the classes do not differ. Where noise allows no conclusion, only a run by hand fails. */
function assertAlike(result: { verdict: Verdict }): void {
  if (SCALE > 1) assert.equal(result.verdict, 'alike', JSON.stringify(result));
  else assert.notEqual(result.verdict, 'different', JSON.stringify(result));
}

interface ComparisonOptions {
  at: TestProcess | undefined;
  rounds?: number;
  marginMs?: number;
}

async function compare(
  [one, other]: readonly [MakeCall, MakeCall],
  { at, rounds = ROUNDS, marginMs = MARGIN_MS }: ComparisonOptions,
) {
  const calls = Array.from({ length: WARM_UP + rounds }, () => [one(), one(), other(), other()] as const);
  const line = await openLine(at?.url ?? '');
  const times: Round[] = [];
  for (const round of calls) {
    const ms = new Map<Buffer, number>();
    for (const call of inRandomOrder(round)) ms.set(call, await line.ask(call));
    const [a = 0, b = 0, c = 0, d = 0] = round.map((call) => ms.get(call));
    times.push([
      [a, b],
      [c, d],
    ]);
  }
  line.close();
  const measured = times.slice(WARM_UP);
  const medianMs = [0, 1].map((side) =>
    percentile(
      measured.flatMap((round) => round[side] ?? []),
      0.5,
    ),
  );
  const compared = compareTimes(measured);
  return { verdict: verdictOn(compared, marginMs), marginMs, rounds, medianMs, ...compared };
}

function verdictOn({ classes, control }: Comparison, marginMs: number): Verdict {
  if (isReal(control)) return 'noisy control';
  if (isReal(classes)) return 'different';
  return Math.abs(classes.ms) + classes.plusMinusMs < marginMs ? 'alike' : 'too noisy';
}

function isReal({ p, pOfAdvantage }: Difference): boolean {
  return Math.min(p, pOfAdvantage) < SIGNIFICANCE;
}

function inRandomOrder<T>(values: readonly T[]): T[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

/**
 * Makes log-ins for known and for unknown addresses, which are random, so that neither class lies together in an index.
 * Each known account has a random hash with its own salt.
 */
async function logIns({ database }: System<TestProcess>, rounds: number): Promise<[MakeCall, MakeCall]> {
  const [, ...cost] = (await hashPassword('a horse with 9 staples')).split('$').slice(0, -2);
  const known = Array.from({ length: 2 * (WARM_UP + rounds) }, () => ({
    id: newId(),
    email: newEmail(),
    hash: ['', ...cost, randomBase64(16), randomBase64(32)].join('$'),
  }));
  await database.pool.query(
    `insert into accounts (id, email, email_key, name, password_hash, active, created_at, updated_at)
     select id, email, email, '', hash, true, now(), now()
       from unnest($1::uuid[], $2::text[], $3::text[]) as a (id, email, hash)`,
    [known.map(({ id }) => id), known.map(({ email }) => email), known.map(({ hash }) => hash)],
  );
  // Vacuums, because the first read of a new row also marks the row, which takes time, and the rows of attacked
  // accounts are not new.
  await database.pool.query('vacuum (analyze) accounts');
  const logIn = (email: string) =>
    bytesOf('POST', '/api/auth/login/', {}, { email, password: 'a wrong guess 123' });
  return [() => logIn(known.pop()?.email ?? ''), () => logIn(newEmail())];
}

function randomBase64(bytes: number): string {
  return randomBytes(bytes).toString('base64').replace(/=+$/, '');
}

function newEmail(): string {
  return `${randomBytes(16).toString('hex')}@example.com`;
}

async function serviceKeys(installation: System<TestProcess>): Promise<[MakeCall, MakeCall]> {
  const person = await signUp(installation);
  const { body } = await person.request<{ key: string }>('POST', '/api/auth/keys/', { label: 'k' });
  const use = (key: string) => bytesOf('GET', '/api/auth/me/', { 'x-service-api-key': key });
  return [() => use(nearMissOf(body.key)), () => use(newServiceKey().key)];
}

async function appKeys(installation: System<TestProcess>): Promise<[MakeCall, MakeCall]> {
  const { key } = await installation.app();
  const use = (wrong: string) => bytesOf('GET', '/v1/usage', { authorization: `Bearer ${wrong}` });
  return [() => use(nearMissOf(key)), () => use(newAppKey().key)];
}

/** Changes three characters near the key's end, different each time since look-ups are cached; fits the checksum. */
function nearMissOf(key: string): string {
  const secret = key.slice(0, -CHECKSUM_LENGTH);
  nearMisses += 1;
  const varied = (nearMisses % 36 ** 3).toString(36).padStart(3, '0');
  const other = secret.slice(0, -4) + varied + secret.slice(-1);
  // An unchanged key would be accepted.
  if (other === secret) return nearMissOf(key);
  let rest = crc32(other);
  let checksum = '';
  for (let n = 0; n < CHECKSUM_LENGTH; n += 1) {
    checksum = BASE62.charAt(rest % 62) + checksum;
    rest = Math.floor(rest / 62);
  }
  return other + checksum;
}

async function waitlist({ database }: System<TestProcess>): Promise<[MakeCall, MakeCall]> {
  const listed = Array.from({ length: 2 * (WARM_UP + ROUNDS) }, newEmail);
  await database.pool.query(
    `insert into waitlist (email_key, email, created_at) select email, email, now() from unnest($1::text[]) email`,
    [listed],
  );
  const join = (email: string) => bytesOf('POST', '/api/auth/waitlist/', {}, { email });
  return [() => join(listed.pop() ?? ''), () => join(newEmail())];
}

/** Builds a request that comes from a network of its own. */
function bytesOf(method: string, path: string, headers: Record<string, string>, body?: object): Buffer {
  networks += 1;
  const [high, low] = [networks >> 16, networks & 0xffff].map((part) => part.toString(16).padStart(4, '0'));
  const content = body === undefined ? '' : JSON.stringify(body);
  const fields = {
    host: 'localhost',
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    'x-forwarded-for': `2001:db8:${high}:${low}::1`,
    'content-length': content.length,
  };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n${content}`);
}

async function openLine(url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay();
  await once(socket, 'connect');
  return {
    async ask(bytes: Buffer): Promise<number> {
      const since = performance.now();
      socket.write(bytes);
      const answer = await answerFrom(socket);
      const took = performance.now() - since;
      if (!/^HTTP\/1.1 (401|200 .*"added")/s.test(answer)) throw new Error(`answered ${answer}`);
      return took;
    },
    close: () => socket.destroy(),
  };
}

async function answerFrom(socket: Socket): Promise<string> {
  let answer = '';
  while (!isWhole(answer)) {
    const [chunk] = await once(socket, 'data');
    answer += chunk;
  }
  return answer;
}

function isWhole(answer: string): boolean {
  const [head = '', body] = answer.split('\r\n\r\n');
  return body !== undefined && body.length === Number(/content-length: (\d+)/i.exec(head)?.[1]);
}
