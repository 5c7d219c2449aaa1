import assert from 'node:assert/strict';
import type { Reply } from './client.ts';
import { until } from './until.ts';

/** Asks until the ingress sheds calls because there is no worker: each call ends as 504 before, and as 503 after. */
export async function untilShed<Body>(
  ask: () => Promise<Reply<Body>>,
  deadline: string,
  withinMs?: number,
): Promise<void> {
  const first = await until(async () => {
    const reply = await ask();
    if (reply.code === 'overloaded') return reply;
    assert.deepEqual([reply.status, reply.code], [504, deadline]);
    return false;
  }, withinMs);
  for (const { status, code, headers } of [first, await ask(), await ask()]) {
    assert.deepEqual([status, code], [503, 'overloaded']);
    assert.ok(Number(headers.get('retry-after')) >= 1);
  }
}
