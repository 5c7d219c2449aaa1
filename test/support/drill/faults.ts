import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { predictionBody } from '../client.ts';
import { administer, databaseUrl } from '../database.ts';
import { delay, ok, type Step, status } from '../fake-provider.ts';
import { KeepAliveClient } from '../keep-alive-client.ts';
import { callSteadily } from '../steadily.ts';
import { versionWithReleases } from '../version.ts';
import type { Installation } from './installation.ts';

export interface Fault {
  name: string;
  alert: string;
  /** Matches what `doctor` must find; null if `doctor` cannot see the fault. */
  doctor: RegExp | null;
  inject(installation: Installation): Promise<unknown>;
}

/** The only key that the provider accepts during the fault `the provider answers 401`. */
export const NEW_KEY = 'sk-rotated';
const SLOW_MS = 20_000;
const FLOOD = { perSecond: 100, forMs: 300_000 };
const TOO_MANY_CONNECTIONS = '53300';

export const FAULTS: readonly Fault[] = [
  {
    name: 'the provider answers 401',
    alert: 'ForecueProviderRefusesKey',
    doctor: null,
    inject: async ({ system }) =>
      system.provider.respond((response, call) =>
        (call.headers.authorization === `Bearer ${NEW_KEY}` ? ok() : status(401))(response, call),
      ),
  },
  {
    name: 'the provider is slow',
    alert: 'ForecueTimeouts',
    doctor: null,
    inject: async ({ system }) => system.provider.respond(slowFor('fake-model')),
  },
  {
    name: 'Redis is down',
    alert: 'ForecueNotReady',
    doctor: /Redis does not answer/,
    inject: ({ redis }) => redis.kill(),
  },
  {
    name: 'Redis is read-only',
    alert: 'ForecueNotReady',
    doctor: /read-only replica/,
    inject: ({ redis }) => redis.follow(redis),
  },
  {
    name: 'PostgreSQL is out of connections',
    alert: 'ForecueConnectionsRunOut',
    doctor: /no connection left|are in use/,
    inject: ({ server }) => takeConnections(server.url),
  },
  {
    name: 'the disk is nearly full',
    alert: 'ForecueDiskFull',
    doctor: /are free where PostgreSQL keeps its data/,
    inject: ({ disk }) => promisify(execFile)('fallocate', ['-l', '1600M', join(disk, 'core.12345')]),
  },
  {
    name: 'a worker is stuck',
    alert: 'ForecueProcessDown',
    doctor: null,
    inject: async (installation) => installation.process('worker-2').freeze(true),
  },
  {
    name: 'an app floods',
    alert: 'ForecueFlood',
    doctor: null,
    inject: flood,
  },
  {
    name: 'a migration fails',
    alert: 'ForecueMigrationsMissing',
    // It is the doctor of the release before.
    doctor: null,
    inject: blockMigration,
  },
  {
    name: 'a clock is off',
    alert: 'ForecueClockOff',
    doctor: /clocks are off from the database's: worker 60 s ahead/,
    inject: (installation) =>
      installation.restart('worker-1', {
        CLOCK_AHEAD_MS: '60000',
        NODE_OPTIONS: `--import ${new URL('../clock-ahead.ts', import.meta.url).href}`,
      }),
  },
];

function slowFor(model: string): Step {
  return (response, call) => (call.body.model === model ? delay(SLOW_MS) : ok())(response, call);
}

async function takeConnections(server: string): Promise<void> {
  await administer(server, `create role report login password 'report'`);
  const url = new URL(databaseUrl(server, 'postgres'));
  [url.username, url.password] = ['report', 'report'];
  for (;;) {
    const client = new pg.Client({ connectionString: url.href, application_name: 'a report' });
    // The drill's operator ends the session.
    client.on('error', () => {});
    try {
      await client.connect();
    } catch (error) {
      if ((error as { code?: string }).code !== TOO_MANY_CONNECTIONS) throw error;
      return;
    }
  }
}

async function flood({ system, app: { url } }: Installation): Promise<void> {
  const app = await system.app({ name: 'Flood' });
  const client = new KeepAliveClient(app.key);
  let isRefused = false;
  const call = () => {
    if (isRefused) return;
    client.predict(url, predictionBody()).then(
      (answer) => {
        isRefused ||= answer.status === 401;
      },
      () => {},
    );
  };
  void callSteadily(FLOOD.perSecond, FLOOD.forMs, call);
}

/** Deploys a release whose migration fails because somebody has made its table by hand. */
async function blockMigration({ system, upgrade }: Installation): Promise<void> {
  await system.sql('create table trials (note text)');
  await upgrade(
    'web-2',
    await versionWithReleases([{ up: ['create table trials (id int)'], functions: '' }]),
  );
}
