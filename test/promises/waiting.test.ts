import assert from 'node:assert/strict';
import { type AppClient, predictionBody } from '../support/client.ts';
import { delay, hang, ok, type Step } from '../support/fake-provider.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Answers with a suggestion that contains the draft. */
const echo: Step = (response, call) => ok({ continuation: `<${call.record.draft.trim()}>` })(response, call);

describe('waiting', () => {
  describe('when every wake-up is lost', () => {
    const system = useSystem({ withoutWakeUps: true });

    /** Returns the milliseconds since the row ended, by the database's clock. */
    const msSinceEnd = async (requestId: string): Promise<number> => {
      const rows = await system.sql<{ ms: number }>(
        `select (extract(epoch from clock_timestamp() - ended_at) * 1000)::float8 as ms
           from history where facts::json ->> 'requestId' = $1`,
        [requestId],
      );
      return rows[0]?.ms ?? Number.NaN;
    };

    const assertAnswered = async (app: AppClient, expected: number) => {
      const delays = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const body = predictionBody();
          const reply = await app.predict(body);
          const ms = await msSinceEnd(body.request_id);
          assert.equal(reply.status, expected, reply.text);
          return ms;
        }),
      );
      for (const ms of delays) assert.ok(ms < 1500, `answered ${ms} ms after the end`);
    };

    it('a successful prediction is answered within 1.5 s of its commit when every wake-up is lost #admitted #wake-ups-lost', async () => {
      const before = await system.queue.droppedWakeUps('ended');
      // Delays of up to 1.3 s, so that predictions end at every moment between two polls.
      system.provider.respond((response, call) => delay((call.index % 20) * 70)(response, call));
      await assertAnswered(await system.app(), 200);
      assert.ok((await system.queue.droppedWakeUps('ended')) > before, 'no wake-up was dropped');
    });
  });

  describe('with wake-ups', () => {
    const system = useSystem({ webs: 2 });
    beforeEach(() => system.provider.reset());

    it('an answer reaches its caller through a wake-up, before the next poll', async () => {
      const app = await system.app();
      const waits: number[] = [];
      let left = 300;
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          while (left-- > 0) {
            const reply = await app.predict(predictionBody());
            assert.equal(reply.status, 200, reply.text);
            waits.push(waitOf(reply.headers));
          }
        }),
      );
      waits.sort((a, b) => a - b);
      assert.equal(waits.length, 300);
      // Without wake-ups, the median would be half a second, and a tenth of the calls would take over 900 ms.
      const slow = waits.filter((ms) => ms > 900);
      assert.ok(slow.length <= 15, `${slow.length} of 300 waited more than 900 ms: ${slow}`);
      assert.ok((waits[150] ?? 0) < 300, `half of the calls waited more than ${waits[150]} ms`);
    });

    it('new work is claimed through its job, without waiting for the next look at the queue #bullmq', async () => {
      const app = await system.app();
      const queued: number[] = [];
      for (let n = 0; n < 20; n += 1) {
        const { status, headers } = await app.predict(predictionBody());
        assert.equal(status, 200);
        queued.push(timesOf(headers)('queue'));
      }
      queued.sort((a, b) => a - b);
      // Without jobs, calls would wait for half a second on average.
      assert.ok((queued[10] ?? 0) < 100, `half of the calls were queued for more than ${queued[10]} ms`);
    });

    it('each of 100 concurrent callers gets the answer to its own request, even if two apps use the same ids', async () => {
      system.provider.respond((response, call) => delay(Math.random() * 50, echo)(response, call));
      const [one, other] = [await system.app(), await system.app()];
      const assertOwn = async (app: AppClient, body: ReturnType<typeof predictionBody>, web: number) => {
        const reply = await app.predict(body, { at: { url: system.webs[web % 2]?.url ?? '' } });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.body.session_id, body.session_id);
        assert.equal(reply.body.completion, `<${body.draft.text.trim()}>`);
      };
      await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          const body = predictionBody();
          // Apps choose request ids themselves, so two apps may choose the same one.
          const namesake = predictionBody({ request_id: body.request_id });
          await Promise.all([assertOwn(one, body, n), assertOwn(other, namesake, n + 1)]);
        }),
      );
    });

    it('a caller gets 503 within 7 s, before its deadline, if the database has lost the row of its work', async () => {
      system.provider.respond(hang());
      const app = await system.app();
      const waiting = app.predict(predictionBody());
      await until(() => system.provider.running === 1);
      // The same happens after a failover to a replica that lacks the latest commits.
      await system.sql('delete from work where party = $1', [app.id]);
      const { code, tookMs } = await waiting;
      assert.equal(code, 'service_unavailable');
      assert.ok(tookMs < 7000, `told after ${tookMs} ms`);
    });
  });
});

/** Returns the milliseconds that a call spent outside queue and provider, according to its `Server-Timing`. */
function waitOf(headers: Headers): number {
  const of = timesOf(headers);
  return of('total') - of('queue') - of('provider');
}

function timesOf(headers: Headers): (name: string) => number {
  const times = new Map(
    [...(headers.get('server-timing') ?? '').matchAll(/(\w+);dur=([\d.]+)/g)].map(([, name, ms]) => [
      name,
      Number(ms),
    ]),
  );
  return (name) => times.get(name) ?? Number.NaN;
}
