import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { bundleProcesses } from '../bin/bundle.ts';
import { buildConsole } from '../bin/console/build.ts';
import { type Postgres, startPostgres } from '../bin/start/postgres.ts';
import { takeUnpublished } from './support/client-contract.ts';
import { administer, databaseUrl, makeTemplate } from './support/database.ts';
import { type Pooler, startPgBouncer } from './support/pgbouncer.ts';
import { scratchFolder } from './support/scratch.ts';

let pooler: Pooler | undefined;
let embeddedServer: { server: Postgres; directory: string } | undefined;

/**
 * Provides, once for the whole run, a PostgreSQL server (embedded, or that of `TEST_DATABASE_URL`), a migrated database
 * that each test file copies, a built console, and the bundles of the processes that `npm start` runs. With `TEST_POOLER`, the processes under test reach the server
 * through a PgBouncer. The processes of the test files learn of these by environment variables.
 */
export async function mochaGlobalSetup(): Promise<void> {
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
  if (!process.env['NODE_V8_COVERAGE']) process.env['FORECUE_TEST_BUNDLES'] = await bundleProcesses();
  await makeTemplate(databaseUrl(server, template));
}

export async function mochaGlobalTeardown(): Promise<void> {
  const { FORECUE_TEST_SERVER: server, FORECUE_TEST_TEMPLATE: template } = process.env;
  await pooler?.close();
  if (server && template) await administer(server, `drop database if exists ${template}`);
  await embeddedServer?.server.stop();
  if (embeddedServer) await rm(embeddedServer.directory, { recursive: true, force: true });
}

/** Sets up as `mochaGlobalSetup` does, for a program that mocha does not run; disposing of the result tears down. */
export async function setUp(): Promise<AsyncDisposable> {
  await mochaGlobalSetup();
  return { [Symbol.asyncDispose]: mochaGlobalTeardown };
}

/** Fails a test that got an unpublished answer, even if the test expects the call to fail. */
export const mochaHooks = {
  afterEach(this: Mocha.Context): void {
    const unpublished = takeUnpublished();
    if (this.currentTest?.state === 'passed') assert.deepEqual(unpublished, []);
  },
};

async function startEmbedded(): Promise<string> {
  const directory = await scratchFolder('forecue-test-');
  embeddedServer = { directory, server: await startPostgres({ directory, throwaway: true }) };
  return embeddedServer.server.url;
}
