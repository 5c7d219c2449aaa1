import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../bench/memory/random.ts';
import { administer } from '../database.ts';
import { query } from '../one-query.ts';
import { freeze, takeDown } from '../outage.ts';
import type { OwnServer } from '../own-server.ts';
import type { RedisServer } from '../redis-server.ts';
import type { System, TestProcess } from '../system.ts';
import { untilDone } from '../until.ts';
import { type CountingProvider, FAILING } from './provider.ts';

const RECOVERED_WITHIN_MS = 120_000;

/** Faults of one target never overlap; those of several do. */
type Target = 'worker' | 'ingress' | 'PostgreSQL' | 'rows' | 'Redis' | 'provider';
type Fault = [name: string, target: Target, weight: number, run: (stage: Stage) => Promise<unknown>];

const FAULTS: Fault[] = [
  ['a worker is killed', 'worker', 4, (on) => on.replace('workers', 'SIGKILL')],
  ['a worker is stopped', 'worker', 2, (on) => on.replace('workers', 'SIGTERM')],
  ['a worker freezes', 'worker', 3, (on) => freeze(on.random.pick(on.system.workers), on.ms(300, 6500))],
  ['all workers freeze', 'worker', 1, (on) => on.freezeWorkers(on.ms(300, 4500))],
  ['an ingress is killed', 'ingress', 4, (on) => on.replace('webs', 'SIGKILL')],
  ['an ingress is stopped', 'ingress', 2, (on) => on.replace('webs', 'SIGTERM')],
  ['an ingress freezes', 'ingress', 3, (on) => on.freezeIngress(on.ms(300, 5300))],
  ['all connections of PostgreSQL end', 'PostgreSQL', 2, (on) => on.terminate(1)],
  ['half of its connections end', 'PostgreSQL', 3, (on) => on.terminate(0.5)],
  ['PostgreSQL crashes', 'PostgreSQL', 2, (on) => takeDown(on.server, on.ms(100, 3000), 'immediate')],
  ['PostgreSQL restarts', 'PostgreSQL', 1, (on) => takeDown(on.server, on.ms(100, 10_500), 'fast')],
  ['PostgreSQL freezes', 'PostgreSQL', 2, (on) => on.freezePostgres(on.ms(200, 2800))],
  ['PostgreSQL takes no writes', 'PostgreSQL', 1, (on) => on.takeNoWrites(on.ms(500, 2500))],
  ["an app's usage is locked", 'rows', 4, (on) => on.lockUsage(on.ms(200, 1200))],
  [
    'the provider fails',
    'provider',
    4,
    (on) => on.failProvider(0.2 + 0.8 * on.random.next(), on.ms(500, 5000)),
  ],
  ['Redis is killed', 'Redis', 2, (on) => on.killRedis(on.ms(100, 3000))],
  ['Redis is flushed', 'Redis', 2, (on) => on.redis.flush()],
  ['Redis freezes', 'Redis', 2, (on) => on.redis.pause(Math.ceil(on.ms(300, 4500)))],
  ['Redis is full', 'Redis', 2, (on) => on.fillRedis(on.ms(500, 3000))],
];

export interface StageParts {
  system: System<TestProcess>;
  server: OwnServer;
  provider: CountingProvider;
  apps: readonly { id: string }[];
  random: Random;
  /** Where the queues are, if they are not on PostgreSQL. */
  redis?: RedisServer;
}

/** An installation, and whatever goes wrong in it. */
export class Stage {
  readonly system: System<TestProcess>;
  readonly server: OwnServer;
  readonly random: Random;
  readonly counts = new Map<string, number>();
  readonly #parts: StageParts;
  readonly #faults: Fault[];
  readonly #busy = new Set<Target>();
  readonly #freezes: { at: string; from: number; to: number }[] = [];
  readonly #processes: TestProcess[] = [];
  /** Processes that nobody has stopped. */
  readonly #kept = new Set<TestProcess>();

  constructor(parts: StageParts) {
    const { system, server, random, redis } = parts;
    this.#parts = parts;
    this.system = system;
    this.server = server;
    this.random = random;
    this.#faults = FAULTS.filter(([, target]) => target !== 'Redis' || redis !== undefined);
  }

  /** Makes one fault after the other until it is over. */
  async run(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await sleep(this.ms(1000, 10_000));
      const possible = this.#faults.filter(([, target]) => !this.#busy.has(target));
      const [name, target, , run] = this.random.pick(
        possible.flatMap((one) => Array(one[2]).fill(one)) as Fault[],
      );
      this.#busy.add(target);
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
      const [at, since] = [new Date().toISOString(), performance.now()];
      await run(this);
      console.log(`${at} ${name}, ${Math.round(performance.now() - since)} ms`);
      this.#busy.delete(target);
    }
  }

  /** Chooses a length of time. */
  ms(least: number, most: number): number {
    return least + (most - least) * this.random.next();
  }

  get redis(): RedisServer {
    if (this.#parts.redis === undefined) throw new Error('the queues are not on Redis');
    return this.#parts.redis;
  }

  /** Returns for how long the ingress was frozen since then. */
  frozenMs(at: string, since: number): number {
    const now = performance.now();
    return this.#freezes
      .filter((one) => one.at === at)
      .reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, now) - Math.max(from, since)), 0);
  }

  /** Returns the last lines of each process that died by itself. */
  deaths(): string[] {
    const dead = [...this.#kept].filter(({ child }) => child.exitCode !== null || child.signalCode !== null);
    return dead.map(({ child, log }) => `${child.exitCode ?? child.signalCode} ${log.slice(-2000)}`);
  }

  /** Counts the errors that the processes logged, as far as their last lines tell. */
  loggedErrors(): Map<string, number> {
    const lines = this.#processes.flatMap(({ log }) => [...log.matchAll(/"level":[56]0,.*"msg":"([^"]*)"/g)]);
    const byMessage = Map.groupBy(lines, ([, message = '']) => `logged: ${message}`);
    return new Map([...byMessage].map(([message, all]) => [message, all.length]));
  }

  /** Ends a process, and starts another one in its place, as a supervisor does. */
  async replace(kind: 'webs' | 'workers', signal: NodeJS.Signals): Promise<void> {
    const all = this.system[kind];
    const old = this.random.pick(all);
    this.#kept.delete(old);
    all.splice(all.indexOf(old), 1);
    await old.stop(signal);
    await this.start(kind, kind === 'webs' ? { PORT: new URL(old.url).port } : {});
  }

  /** Starts a process, again and again if it dies at its start. */
  async start(kind: 'webs' | 'workers', env: Record<string, string> = {}): Promise<void> {
    const all = this.system[kind];
    await untilDone(async () => {
      const next = this.system.launch(kind === 'webs' ? 'web' : 'worker', env);
      try {
        await next.ready();
        this.#kept.add(next);
        this.#processes.push(next);
      } catch (error) {
        all.splice(all.indexOf(next), 1);
        throw error;
      }
    }, RECOVERED_WITHIN_MS);
  }

  freezeWorkers(ms: number): Promise<unknown> {
    return Promise.all(this.system.workers.map((one) => freeze(one, ms)));
  }

  async freezeIngress(ms: number): Promise<void> {
    const ingress = this.random.pick(this.system.webs);
    const frozen = { at: ingress.url, from: performance.now(), to: Number.POSITIVE_INFINITY };
    this.#freezes.push(frozen);
    await freeze(ingress, ms);
    frozen.to = performance.now();
  }

  async terminate(share: number): Promise<void> {
    const whose = `application_name like 'forecue %' and application_name <> 'forecue test'`;
    const statement = `select pg_terminate_backend(pid) from pg_stat_activity where ${whose} and random() < ${share}`;
    await query(this.server.url, statement);
  }

  async freezePostgres(ms: number): Promise<void> {
    const others = `backend_type = 'client backend' and pid <> pg_backend_pid()`;
    const backends = await query(this.server.url, `select pid from pg_stat_activity where ${others}`);
    const signal = (name: NodeJS.Signals) => {
      for (const { pid } of backends)
        try {
          process.kill(Number(pid), name);
        } catch {
          // The backend has ended.
        }
    };
    signal('SIGSTOP');
    await sleep(ms);
    signal('SIGCONT');
  }

  /** Makes the server read-only for a while, as after a failover. */
  async takeNoWrites(ms: number): Promise<void> {
    const { url } = this.server;
    for (const mode of ['on', 'off']) {
      await administer(url, `alter system set default_transaction_read_only = ${mode}`);
      await administer(url, 'select pg_reload_conf()');
      if (mode === 'on') await sleep(ms);
    }
  }

  async lockUsage(ms: number): Promise<void> {
    const lock = `select from usage where app_id = '${this.random.pick(this.#parts.apps).id}' for update`;
    const statements = `begin; ${lock}; select pg_sleep(${ms / 1000}); commit`;
    // Ends early when PostgreSQL goes down meanwhile.
    await query(this.system.database.url, statements).catch(() => {});
  }

  async failProvider(share: number, ms: number): Promise<void> {
    const { provider } = this.#parts;
    provider.failing = share;
    await sleep(ms);
    provider.failing = FAILING;
  }

  async killRedis(ms: number): Promise<void> {
    await this.redis.kill();
    await sleep(ms);
    await this.redis.start();
  }

  async fillRedis(ms: number): Promise<void> {
    await this.redis.fill(true);
    await sleep(ms);
    await this.redis.fill(false);
  }
}
