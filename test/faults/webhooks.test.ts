import assert from 'node:assert/strict';
import { signUp, type UserClient } from '../support/account.ts';
import { freeze, takeDown } from '../support/outage.ts';
import { useOwnServer } from '../support/own-server.ts';
import { predictReply, proposeReplies } from '../support/replies.ts';
import { useProcesses } from '../support/system.ts';
import { until, untilDone } from '../support/until.ts';
import { makeWebhook, useReceiver } from '../support/webhooks.ts';

const CALLERS = 8;
const REPORTED_WITHIN_MS = 60_000;

describe('webhooks during outages', () => {
  const server = useOwnServer();
  const system = useProcesses({
    workers: 2,
    workerEntry: ['workers/main.ts', 'all'],
    env: { ALLOW_PRIVATE_ADDRESSES: 'true', LEASE_MS: '2000' },
  });
  const { received, receiver } = useReceiver();

  async function assertReported(fail: () => Promise<void>): Promise<void> {
    system.provider.respond(proposeReplies([{ response: 'Blue' }]));
    const person = await untilDone(() => signUp(system));
    await makeWebhook(person, { url: receiver.url, events: ['prediction.escalated'] });
    let isOver = false;
    const callers = Array.from({ length: CALLERS }, () => askUntil(person, () => isOver));
    await until(() => received.idsByPrediction.size >= CALLERS);
    await fail();
    await until(async () => (await predictReply(person)).status === 200, 20_000);
    isOver = true;
    await Promise.all(callers);
    const escalated = await system.sql<{ id: string }>(
      `select id from replies where account_id = '${person.id}' and status = 'escalated'`,
    );
    const idsOf = () => escalated.map(({ id }) => received.idsByPrediction.get(id)?.size ?? 0);
    await until(() => !idsOf().includes(0), REPORTED_WITHIN_MS);
    assert.deepEqual(new Set(idsOf()), new Set([1]));
    assert.ok(escalated.length > CALLERS);
  }

  /** Ignores the answers: other tests are about what calls get during a fault. */
  async function askUntil(person: UserClient, isOver: () => boolean): Promise<void> {
    while (!isOver()) await predictReply(person);
  }

  it('each prediction that is escalated around a crash of PostgreSQL is reported, by one id #postgres-crash', () =>
    assertReported(() => takeDown(server, 3000, 'immediate')));

  it('each prediction that is escalated while a worker is frozen is reported, by one id #freeze', () =>
    assertReported(() => freeze(system.workers[0], 4000)));
});
