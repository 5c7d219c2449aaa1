import { setTimeout as sleep } from 'node:timers/promises';
import { setUp } from '../setup.ts';
import { signUp } from '../support/account.ts';
import { predictionBody } from '../support/client.ts';
import { delay } from '../support/fake-provider.ts';
import { p95, tally } from '../support/flood.ts';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { callUntil } from '../support/paced-until.ts';
import { type System, startProcesses, type TestProcess } from '../support/system.ts';
import { prepareUploads } from '../support/uploads.ts';

/** By hand, on an idle machine: three people each post 90 batches of 1,000 events at once, during predictions. */
const PEOPLE = 3;
const BATCHES = 90;
const ROWS = 1000;
const SERVICE_MS = 100;
const PER_SECOND = 20;

await using _ = await setUp();
await using system = await startProcesses({ env: { RATE_LIMIT_RPS: '50', RATE_LIMIT_BURST: '100' } });
system.provider.respond(delay(SERVICE_MS));
const result = await measureUploads(system);
console.log(JSON.stringify(result, undefined, 2));
const isKept = result.p95Ms.beside < 1.5 * result.p95Ms.before && !result.uploads['503 service_unavailable'];
process.exitCode = isKept ? 0 : 1;

async function measureUploads(at: System<TestProcess>) {
  const app = await at.app();
  const client = new KeepAliveClient(app.key);
  const ask = () => client.predict(app.url, predictionBody());
  const people = await Promise.all(Array.from({ length: PEOPLE }, () => signUp(at)));
  const ready = await prepareUploads({ people, batches: BATCHES, rows: ROWS });
  await callUntil(PER_SECOND, ask, sleep(1000));
  const before = await callUntil(PER_SECOND, ask, sleep(5000));
  const uploads = ready.post();
  const beside = await callUntil(PER_SECOND, ask, uploads);
  client.close();
  return {
    p95Ms: { before: Math.round(p95(before)), beside: Math.round(p95(beside)) },
    predictions: tally(beside),
    uploads: await uploads,
  };
}
