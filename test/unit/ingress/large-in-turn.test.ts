import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { paceLargeBodies } from '../../../ingress/guards/bodies.ts';

const LARGE_BODY_HEADERS = { 'content-length': '100000' };
const ONE_NETWORK = '192.0.2.1';
const OTHER_NETWORK = '192.0.2.2';

interface FakeRequest {
  headers?: IncomingHttpHeaders;
  from?: string;
  signal?: AbortSignal;
}

/** Sends all requests at once; returns the indexes of those that began in each turn of the event loop. */
async function begunByTurn(requests: FakeRequest[]): Promise<number[][]> {
  const handle = paceLargeBodies();
  const turns: number[][] = [[]];
  const never = new AbortController().signal;
  const handled = requests.map(
    ({ headers = LARGE_BODY_HEADERS, from = ONE_NETWORK, signal = never }, place) =>
      handle({ headers, state: { address: from, signal } }, async () => void turns.at(-1)?.push(place)),
  );
  const all = Promise.allSettled(handled);
  let isDone = false;
  void all.then(() => {
    isDone = true;
  });
  while (!isDone) {
    await nextTurn();
    turns.push([]);
  }
  return turns.filter((begun) => begun.length > 0);
}

describe('requests with large bodies', () => {
  it('requests with large bodies begin one per turn of the event loop', async () => {
    assert.deepEqual(await begunByTurn([{}, {}, {}]), [[0], [1], [2]]);
  });

  it('requests with bodies above 16 KiB or of unknown size count as large; the others begin at once', async () => {
    const sizes = ['0', '200', '16384', '16385'].map((length) => ({ headers: { 'content-length': length } }));
    const chunked = { headers: { 'transfer-encoding': 'chunked' } };
    assert.deepEqual(await begunByTurn([...sizes, { headers: {} }, chunked]), [[0, 1, 2, 4], [3], [5]]);
  });

  it('requests with large bodies from two networks begin alternately', async () => {
    const requests = [{}, {}, {}, { from: OTHER_NETWORK }, { from: OTHER_NETWORK }];
    assert.deepEqual(await begunByTurn(requests), [[0], [3], [1], [4], [2]]);
  });

  it('requests with large bodies never begin if their senders have left', async () => {
    assert.deepEqual(await begunByTurn([{}, { signal: AbortSignal.abort() }, {}]), [[0], [2]]);
  });
});
