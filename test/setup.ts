import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildConsole } from '../bin/console/build.ts';
import { type Postgres, startPostgres } from '../bin/start/postgres.ts';
import { migrate } from '../shared/process/migrate.ts';
import { takeUnpublished } from './support/client-contract.ts';
import { administer, databaseUrl } from './support/database.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { scratchFolder } from './support/scratch.ts';

let pooler: Pooler | undefined;
let embedded: { server: Postgres; directory: string } | undefined;

/**
 * Once for the whole run, in the parent process: a server (the embedded one, or that of `TEST_DATABASE_URL`) with a
 * migrated database that each test file copies, and a console. With `TEST_POOLER` the processes under test reach it through a
 * PgBouncer. The files' processes learn of all that by these variables.
 */
export async function mochaGlobalSetup(): Promise<void> {
  process.env['NODE_COMPILE_CACHE'] ??= join(tmpdir(), 'forecue-compile-cache');
  const server = process.env['TEST_DATABASE_URL'] || (await startEmbedded());
  const template = `forecue_template_${randomBytes(4).toString('hex')}`;
  process.env['FORECUE_TEST_SERVER'] = server;
  process.env['FORECUE_TEST_TEMPLATE'] = template;
  await administer(server, `create database ${template}`);
  if (process.env['TEST_POOLER']) {
    pooler = await startPgBouncer(server);
    process.env['FORECUE_TEST_POOLER'] = pooler.url;
  }
  await buildConsole();
  await migrate({ directUrl: databaseUrl(server, template), queuePrefix: 'forecue' });
}

export async function mochaGlobalTeardown(): Promise<void> {
  const { FORECUE_TEST_SERVER: server, FORECUE_TEST_TEMPLATE: template } = process.env;
  await pooler?.close();
  if (server && template) await administer(server, `drop database if exists ${template}`);
  await embedded?.server.stop();
  if (embedded) await rm(embedded.directory, { recursive: true, force: true });
}

/** Does the same for a program that mocha does not run. */
export async function setUp(): Promise<AsyncDisposable> {
  await mochaGlobalSetup();
  return { [Symbol.asyncDispose]: mochaGlobalTeardown };
}

/** An answer that is not as published fails its test, also when that expects the call to fail. */
export const mochaHooks = {
  afterEach(this: Mocha.Context): void {
    const unpublished = takeUnpublished();
    if (this.currentTest?.state === 'passed') assert.deepEqual(unpublished, []);
  },
};

async function startEmbedded(): Promise<string> {
  const directory = await scratchFolder('forecue-test-');
  embedded = { directory, server: await startPostgres({ directory, throwaway: true }) };
  return embedded.server.url;
}
