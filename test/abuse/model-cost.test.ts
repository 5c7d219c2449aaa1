import assert from 'node:assert/strict';
import type { ActivityResponse } from '../../shared/schemas/activity.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { Operator, startBoard } from '../support/board.ts';
import { predictionBody } from '../support/client.ts';
import { delay, message, ok } from '../support/fake-provider.ts';
import { promote, say, writeEpisode } from '../support/promotion.ts';
import { inputsOf, predictBatch, predictReply, proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';
import { until } from '../support/until.ts';

/** Tokens that the fake provider reports for a call. */
const CALL_TOKENS = 17;
const ALL = ['workers/main.ts', 'all'];

describe('cost of the model', () => {
  describe('tokens a day', () => {
    const env = {
      QUOTA_TOKENS: `${2 * CALL_TOKENS}`,
      QUOTA_TOKENS_ALL: `${5 * CALL_TOKENS}`,
      BATCH_CONCURRENCY: '4',
    };
    const system = useSystem({ workerEntry: ALL, env });
    let ann: UserClient;
    beforeEach(async () => {
      // A call is booked after its answer: one of the test before may still be on its way.
      await until(async () => {
        const [row] = await system.sql('select count(*)::int as booked from provider_calls');
        return row?.['booked'] === system.provider.calls.length;
      });
      await system.sql('delete from provider_calls');
      system.provider.reset();
      system.provider.respond(proposeReplies([{ response: 'Blue' }]));
      await system.sql('delete from token_usage');
      ann = await signUp(system);
    });

    const tokensOf = async (person: UserClient) => {
      const { body } = await person.request<ActivityResponse>('GET', '/api/activity/?days=1');
      return [body.tokens_today, body.tokens_quota];
    };
    /** Predicts a reply, with the last of so many calls. */
    const use = async (person: UserClient, calls: number, headers = {}) => {
      assert.equal((await predictReply(person, {}, { headers })).status, 200);
      await until(async () => (await tokensOf(person))[0] === calls * CALL_TOKENS);
    };

    const assertUntilMidnight = (headers: Headers) => {
      const [retryAfterS, untilS] = [
        Number(headers.get('retry-after')),
        86_400 - ((Date.now() / 1000) % 86_400),
      ];
      assert.ok(Math.abs(retryAfterS - untilS) < 60, `${retryAfterS}`);
    };

    it('an account whose tokens of the day are used up gets 403 for all work that asks a model, until the next day, and can do all else #model-cost', async () => {
      await say(ann, ['Deploy the site']);
      assert.deepEqual(await tokensOf(ann), [0, 2 * CALL_TOKENS]);
      await use(ann, 1, { 'idempotency-key': 'once' });
      await use(ann, 2);
      const before = system.provider.calls.length;
      const refused = [
        await predictReply(ann),
        await predictBatch(ann, inputsOf(2)),
        await ann.request('POST', '/api/predictions/draft/', { draft: 'I w' }),
        await promote(ann, 'episodes'),
        await promote(ann, 'facts'),
      ];
      for (const { status, code, headers } of refused) {
        assert.deepEqual([status, code], [403, 'quota_exceeded']);
        assertUntilMidnight(headers);
      }
      assert.equal((await ann.request('POST', '/api/memory/sync/', {})).status, 200);
      assert.equal((await predictReply(ann, {}, { headers: { 'idempotency-key': 'once' } })).status, 200);
      assert.equal((await predictReply(await signUp(system))).status, 200);
      assert.equal(system.provider.calls.length, before + 1);

      await system.sql('update token_usage set day = day - 1');
      await use(ann, 1);
    });

    it('work admitted before the tokens of the day were used up asks no model after that #model-cost', async () => {
      system.provider.respond(delay(300, proposeReplies([{ response: 'Blue' }])));
      const { body } = await predictBatch(ann, inputsOf(20));
      const codes = body.results.flatMap((item) => ('error' in item ? item.error.code : []));
      assert.deepEqual([...new Set(codes)], ['quota_exceeded']);
      assert.ok(body.succeeded >= 2 && body.succeeded <= 12, `${body.succeeded}`);
      assert.equal(system.provider.calls.length, body.succeeded);

      const bob = await signUp(system);
      for (let n = 0; n < 8; n += 1) await say(bob, ['one', 'two'], { session_id: `s${n}` });
      system.provider.respond(delay(300, writeEpisode()));
      const { status, code, headers } = await promote(bob, 'episodes');
      assert.deepEqual([status, code], [403, 'quota_exceeded']);
      assertUntilMidnight(headers);
    });

    it('the tokens of all accounts together are limited, but apps go on, and the board shows them', async () => {
      const operator = new Operator(await startBoard(system));
      await operator.signIn(system.env['ADMIN_TOKEN'] ?? '');
      const bob = await signUp(system);
      await use(bob, 1);
      await use(bob, 2);
      await use(ann, 1);
      await use(ann, 2);
      const cem = await signUp(system);
      await use(cem, 1);
      assert.deepEqual(await tokensOf(cem), [CALL_TOKENS, 2 * CALL_TOKENS]);
      assert.equal((await predictReply(cem)).code, 'quota_exceeded');
      system.provider.respond(ok());
      assert.equal((await (await system.app()).predict(predictionBody())).status, 200);
      await until(async () =>
        /Tokens of all accounts today \(UTC\): 85\s+of 85/.test(await (await operator.get('')).text()),
      );
      await system.webs.at(-1)?.stop();
    });
  });

  describe('rate limits', () => {
    const system = useSystem({ workers: 0, env: { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '100' } });

    it('a batch costs as many points of the rate limit as it has prompts', async () => {
      const ann = await signUp(system);
      const start = (count: number, part = {}) =>
        predictBatch(ann, inputsOf(count), { part, headers: { prefer: 'respond-async' } });
      const left = ({ headers }: { headers: Headers }) => headers.get('ratelimit')?.match(/r=(\d+)/)?.[1];
      assert.equal(left(await start(40)), '60');
      assert.equal(left(await start(1)), '59');
      assert.deepEqual([(await start(60)).code, left(await start(1))], ['rate_limited', '0']);
    });
  });

  describe('unusable answers', () => {
    const system = useSystem({ workerEntry: ALL });

    it('a promotion ends after five pieces in a row for which the model gave no usable answer', async () => {
      const ann = await signUp(system);
      for (let n = 0; n < 12; n += 1) await say(ann, ['one', 'two'], { session_id: `s${n}` });
      system.provider.respond(message({ content: 'Here you are!' }));
      const { status, code } = await promote(ann, 'episodes');
      assert.deepEqual([status, code], [502, 'provider_failed']);
      // An unusable answer is asked for once more.
      assert.equal(system.provider.calls.length, 2 * 5);
    });
  });
});
