import assert from 'node:assert/strict';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import type { UsageResponse } from '../../shared/schemas/usage.ts';
import { type AppClient, predictionBody, type Reply } from '../support/client.ts';
import { delay, hang, ok, refusal, type Step, status, when } from '../support/fake-provider.ts';
import { rowOf } from '../support/rows.ts';
import { type Part, useSystem } from '../support/system.ts';
import { alterApp, alterRow, whileFrozen } from '../support/time-travel.ts';
import { until } from '../support/until.ts';

type Body = ReturnType<typeof predictionBody>;
type Answer = Reply<PredictionResponse>;
type Refusal = [status: number, code: string | undefined];

const SANDBOX_UNITS = 50;
/** A fifth of a cent, so a cap of 10 cents allows 50 units. */
const PRICE_MICROCENTS = 200_000;
const OTHER_PRICE_MICROCENTS = 300_000;
const THIS_MONTH = 'month_of(now())';
const LAST_MONTH = `month_of(date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '1 day')`;

describe('units', () => {
  const system = useSystem({
    env: {
      SANDBOX_UNITS: `${SANDBOX_UNITS}`,
      UNIT_PRICE_MICROCENTS: `${PRICE_MICROCENTS}`,
      // Enough slots for all calls that the units allow, so that none is refused as overload.
      WORKER_CONCURRENCY: '64',
      PREDICTION_TIMEOUT_MS: '60000',
    },
  });
  /** An ingress that was started with another unit price. */
  let elsewhere: Part;
  before(async () => {
    elsewhere = await system.startWeb({ UNIT_PRICE_MICROCENTS: `${OTHER_PRICE_MICROCENTS}` });
  });
  beforeEach(() => system.provider.reset());

  describe('limits', () => {
    for (const [what, plan, capCents, code] of [
      ['a monthly cap', 'paid', 10, 'monthly_cap_reached'],
      ['a sandbox', 'sandbox', null, 'sandbox_exhausted'],
    ] as const) {
      it(`an app with ${what} and 50 units left runs 50 of 200 concurrent requests, and the others are 402 ${code} #units`, async () => {
        const app = await system.app({ plan, capCents });
        const gate = Promise.withResolvers<void>();
        system.provider.respond(when(gate.promise));
        const answered: Answer[] = [];
        const asked = Array.from({ length: 200 }, async (_, i) => {
          // Only the sandbox plan, which has no price, can use both ingresses, whose prices differ.
          const options = plan === 'sandbox' && i % 2 === 0 ? { at: elsewhere } : {};
          answered.push(await app.predict(predictionBody(), options));
        });
        // No prediction has ended yet, so the refusals come from reserved units alone.
        await until(() => answered.length >= 150, 15_000);
        const refused = answered.slice(0, 150).map((reply) => `${reply.status} ${reply.code}`);
        assert.deepEqual([...new Set(refused)], [`402 ${code}`]);
        assert.deepEqual(pick((await app.usage()).body), { prediction_units: 0, reserved_units: 50 });
        gate.resolve();
        await Promise.all(asked);
        assert.deepEqual(new Set(answered.slice(150).map(({ status }) => status)), new Set([200]));
        assert.equal(system.provider.calls.length, 50);
        await expectUnits(app, 50);
        assert.equal((await app.predict(predictionBody())).code, code);
      });
    }

    it('paid units never exceed the cap, even when half of the provider calls fail and refund their units #units', async () => {
      const app = await system.app({ plan: 'paid', capCents: 1 });
      system.provider.respond((response, call) =>
        delay(5, call.index % 2 === 0 ? status(500) : ok())(response, call),
      );
      const replies = await Promise.all(
        Array.from({ length: 60 }, (_, i) =>
          app.predict(predictionBody(), i % 2 === 0 ? {} : { at: elsewhere }),
        ),
      );
      const settled = replies.filter((reply) => reply.status === 200).length;
      await expectUnits(app, settled);
      const rows = await system.sql<{ cents: number }>(
        'select (paid_settled_microcents / 1e6)::float8 as cents from usage where app_id = $1',
        [app.id],
      );
      assert.ok(settled > 0 && Number(rows[0]?.cents) <= 1, `${settled} units for ${rows[0]?.cents} cents`);
    });
  });

  describe('monthly cap', () => {
    it('a monthly cap of 0 refuses every prediction', async () => {
      const app = await system.app({ plan: 'paid', capCents: 0 });
      const { status, code } = await app.predict(predictionBody());
      assert.deepEqual([status, code], [402, 'monthly_cap_reached']);
      assert.equal(system.provider.calls.length, 0);
    });

    it('a monthly cap of null refuses nothing', async () => {
      const app = await system.app({ plan: 'paid', capCents: null });
      await bookUnits(app, 'paid', 10_000_000);
      assert.equal((await app.predict(predictionBody())).status, 200);
      await expectUnits(app, 10_000_001);
    });

    it('a monthly cap counts fractions of a cent: three units of 0.3 cents fit into one cent, a fourth does not', async () => {
      const app = await system.app({ plan: 'paid', capCents: 1 });
      const statuses: number[] = [];
      for (let i = 0; i < 4; i += 1)
        statuses.push((await app.predict(predictionBody(), { at: elsewhere })).status);
      assert.deepEqual(statuses, [200, 200, 200, 402]);
      assert.equal((await app.usage()).body.invoice_cents, 0);
    });

    it('a monthly cap applies to paid units only, not to sandbox units', async () => {
      const app = await system.app({ plan: 'sandbox', capCents: 0 });
      assert.equal((await app.predict(predictionBody())).status, 200);
      await alterApp(system, app, `plan = 'paid', cap_cents = 1`);
      await bookUnits(app, 'sandbox', 40);
      assert.equal((await app.predict(predictionBody())).status, 200);
    });

    it('a monthly cap ignores the cost of last month', async () => {
      const app = await system.app({ plan: 'paid', capCents: 1 });
      await bookUnits(app, 'paid', 5, LAST_MONTH);
      assert.equal((await app.predict(predictionBody())).status, 200);
    });
  });

  describe('refunds', () => {
    const ends: Record<string, (app: AppClient) => Promise<Refusal>> = {
      'when a prediction abstains': (app) => predictUntilEnd(app, refusal()),
      'when the provider fails': (app) => predictUntilEnd(app, status(500)),
      'when a prediction is cancelled': (app) =>
        predictUntilEnd(app, hang(), async (body) => {
          const { body: cancelled } = await app.cancel(body.request_id, body.user_id);
          assert.deepEqual(cancelled, { status: 'cancelled', prediction_units: 0 });
        }),
      'when a prediction reaches its deadline': (app) =>
        predictUntilEnd(app, hang(), (body) => alterRow(system, app, body, 'deadline_at = now()')),
    };
    const expected = [
      [200, undefined],
      [502, 'provider_failed'],
      [499, 'prediction_cancelled'],
      [504, 'prediction_timeout'],
    ];
    for (const [when, end] of Object.entries(ends)) {
      it(`units are refunded ${when} #units`, async () => {
        const app = await system.app();
        const last = await system.app({ plan: 'paid', capCents: 1 });
        await bookUnits(last, 'paid', 4);
        const answer = expected[Object.keys(ends).indexOf(when)];
        assert.deepEqual([await end(app), await end(last)], [answer, answer]);
        await expectUnits(app, 0);
        assert.equal((await app.usage()).body.sandbox_remaining, SANDBOX_UNITS);
        assert.equal((await last.predict(predictionBody())).status, 200, 'the last unit is free again');
        await expectUnits(last, 5);
      });
    }

    for (const [plan, before] of [
      ['sandbox', SANDBOX_UNITS - 1],
      ['paid', 4],
    ] as const) {
      it(`a superseded draft frees its unit for the newer draft, even the last unit of the ${plan} plan #supersede`, async () => {
        const app = await system.app({ plan, capCents: 1 });
        await bookUnits(app, plan, before);
        const body = predictionBody();
        system.provider.next(hang());
        const first = app.predict(body);
        await system.provider.called(1);
        const stranger = await app.predict(predictionBody());
        assert.equal(stranger.status, 402, 'the last unit is reserved');
        const second = await app.predict(
          predictionBody({ session_id: body.session_id, draft: { text: 'Please', revision: 2 } }),
        );
        assert.deepEqual([second.status, (await first).code], [200, 'prediction_superseded'], second.text);
        await expectUnits(app, before + 1);
        // One more cent allows five more units, unless the superseded draft still has a reserved unit.
        await alterApp(system, app, `plan = 'paid', cap_cents = ${plan === 'paid' ? 2 : 1}`);
        for (let i = 0; i < 5; i += 1) assert.equal((await app.predict(predictionBody())).status, 200);
      });
    }
  });

  describe('usage reports', () => {
    it('usage reports have exactly the published fields, and zero units for an unused month', async () => {
      const app = await system.app({ plan: 'paid', capCents: 7 });
      for (let i = 0; i < 9; i += 1) await app.predict(predictionBody());
      const terms = { plan: 'paid', monthly_cap_cents: 7, currency: 'USD', billing_model: 'manual' };
      const common = { app_id: app.id, ...terms, sandbox_remaining: SANDBOX_UNITS, cap_scope: 'app' };
      for (const [asked, units, invoice_cents] of [
        [undefined, 9, 1],
        ['2020-02', 0, 0],
      ] as const) {
        const { status, body } = await app.usage(asked);
        const used = { prediction_units: units, paid_prediction_units: units, reserved_units: 0 };
        const of = asked ?? (await month(THIS_MONTH));
        assert.deepEqual([status, body], [200, { ...common, month: of, ...used, invoice_cents }]);
      }
    });

    it('usage reports round the invoice down: 4 units of 0.2 cents make 0 cents, and 5 units make 1 cent', async () => {
      const app = await system.app({ plan: 'paid', capCents: null });
      const invoices: number[] = [];
      for (let i = 0; i < 6; i += 1) {
        await app.predict(predictionBody());
        invoices.push((await app.usage()).body.invoice_cents);
      }
      assert.deepEqual(invoices, [0, 0, 0, 0, 1, 1]);
    });

    it('usage reports are the same with and without the current month as a parameter', async () => {
      const app = await system.app();
      await app.predict(predictionBody());
      assert.equal((await app.usage(await month(THIS_MONTH))).text, (await app.usage()).text);
    });

    it('usage reports of a malformed month are 400 invalid_month, never 422', async () => {
      const app = await system.app();
      for (const malformed of MALFORMED_MONTHS) {
        const { status, code } = await app.usage(malformed);
        assert.deepEqual([malformed, status, code], [malformed, 400, 'invalid_month']);
      }
    });

    it('usage reports never show a negative sandbox remainder', async () => {
      const app = await system.app();
      await bookUnits(app, 'sandbox', SANDBOX_UNITS + 7);
      assert.equal((await app.usage()).body.sandbox_remaining, 0);
    });

    it('usage reports show reserved units and subtract them from the sandbox remainder', async () => {
      const app = await system.app();
      const gate = Promise.withResolvers<void>();
      system.provider.respond(when(gate.promise));
      const running = [app.predict(predictionBody()), app.predict(predictionBody())];
      await system.provider.called(2);
      const { body } = await app.usage();
      assert.deepEqual(pick(body), { prediction_units: 0, reserved_units: 2 });
      assert.equal(body.sandbox_remaining, SANDBOX_UNITS - 2);
      gate.resolve();
      await Promise.all(running);
      await expectUnits(app, 2);
    });

    it('usage reports count the units of both plans when the plan is switched in the middle of a month', async () => {
      const app = await system.app({ plan: 'sandbox', capCents: 9 });
      for (let i = 0; i < 3; i += 1) await app.predict(predictionBody());
      await alterApp(system, app, `plan = 'paid'`);
      for (let i = 0; i < 6; i += 1) await app.predict(predictionBody());
      const usage = async () => (await app.usage()).body;
      const both = { paid_prediction_units: 6, invoice_cents: 1 };
      const paid = { ...both, plan: 'paid', sandbox_remaining: SANDBOX_UNITS - 3 };
      assert.partialDeepStrictEqual(await usage(), { ...paid, prediction_units: 9 });
      await alterApp(system, app, `plan = 'sandbox'`);
      await app.predict(predictionBody());
      const back = { ...both, plan: 'sandbox', sandbox_remaining: SANDBOX_UNITS - 4 };
      assert.partialDeepStrictEqual(await usage(), { ...back, prediction_units: 10 });
    });

    it("usage reports count only the calling app's own units", async () => {
      const [app, other] = [await system.app(), await system.app()];
      await app.predict(predictionBody());
      await expectUnits(other, 0);
    });
  });

  describe('admissions', () => {
    it('a prediction is charged to the plan that its app had at admission, even if the plan is switched meanwhile', async () => {
      const app = await system.app({ plan: 'paid', capCents: null });
      const gate = Promise.withResolvers<void>();
      system.provider.respond(when(gate.promise));
      const running = app.predict(predictionBody());
      await system.provider.called(1);
      await alterApp(system, app, `plan = 'sandbox'`);
      gate.resolve();
      assert.equal((await running).status, 200);
      const { body } = await app.usage();
      assert.deepEqual([body.paid_prediction_units, body.sandbox_remaining], [1, SANDBOX_UNITS]);
    });

    it('a prediction is charged the price at its admission, not the current price', async () => {
      const app = await system.app({ plan: 'paid', capCents: null });
      const at = elsewhere;
      for (let i = 0; i < 5; i += 1) await app.predict(predictionBody(), { at });
      for (let i = 0; i < 3; i += 1) await app.predict(predictionBody());
      const { body } = await app.usage();
      assert.deepEqual([body.paid_prediction_units, body.invoice_cents], [8, 2], '5 × 0.3 + 3 × 0.2 cents');
    });

    it('a prediction that runs across the end of a month is charged to the month in which it began', async () => {
      const app = await system.app({ plan: 'paid', capCents: null });
      const body = predictionBody();
      const reply = await whileFrozen(system.workers, async () => {
        const running = app.predict(body);
        await until(async () => (await app.usage()).body.reserved_units === 1);
        await moveToLastMonth(app);
        return { running };
      });
      assert.equal((await reply.running).status, 200);
      const last = (await app.usage(await month(LAST_MONTH))).body;
      assert.deepEqual([last.prediction_units, last.reserved_units, last.paid_prediction_units], [1, 0, 1]);
      await expectUnits(app, 0);
      assert.equal((await rowOf(system, body)).state, 'suggested');
    });

    it('a prediction cancelled after the end of a month is refunded in the month in which it began', async () => {
      const app = await system.app();
      const body = predictionBody();
      system.provider.next(hang());
      const running = app.predict(body);
      await system.provider.called(1);
      await moveToLastMonth(app);
      assert.equal((await app.cancel(body.request_id, body.user_id)).body.status, 'cancelled');
      assert.equal((await running).status, 499);
      assert.deepEqual(pick((await app.usage(await month(LAST_MONTH))).body), NO_UNITS);
      await expectUnits(app, 0);
    });
  });

  /** Predicts with a provider that runs `step`, and runs `act` meanwhile. Returns the answer's status and code. */
  async function predictUntilEnd(
    app: AppClient,
    step: Step,
    act?: (body: Body) => Promise<void>,
  ): Promise<Refusal> {
    const body = predictionBody();
    system.provider.next(step);
    const place = system.provider.calls.length + 1;
    const reply = app.predict(body);
    await system.provider.called(place);
    await act?.(body);
    const { status, code } = await reply;
    return [status, code];
  }

  /** Books units of the app in a month, without making requests. */
  async function bookUnits(app: AppClient, plan: 'sandbox' | 'paid', units: number, month = THIS_MONTH) {
    const paid = plan === 'paid' ? units : 0;
    await system.sql(
      `insert into usage as u (app_id, month, settled, paid_settled, paid_settled_microcents)
       values ($1, ${month}, $2, $3, $4)
       on conflict (app_id, month, page) do update
          set settled = u.settled + excluded.settled, paid_settled = u.paid_settled + excluded.paid_settled,
              paid_settled_microcents = u.paid_settled_microcents + excluded.paid_settled_microcents`,
      [app.id, units, paid, paid * PRICE_MICROCENTS],
    );
  }

  /** Moves everything the app has done to last month, as if a month had just ended. */
  async function moveToLastMonth(app: AppClient): Promise<void> {
    await system.sql(`update usage set month = ${LAST_MONTH} where app_id = $1`, [app.id]);
    await system.sql(`update work set month = ${LAST_MONTH} where party = $1`, [app.id]);
  }

  async function month(sql: string): Promise<string> {
    const rows = await system.sql<{ month: string }>(`select ${sql} as month`);
    return rows[0]?.month ?? '';
  }

  async function expectUnits(app: AppClient, units: number): Promise<void> {
    assert.deepEqual(pick((await app.usage()).body), { prediction_units: units, reserved_units: 0 });
  }
});

const NO_UNITS = { prediction_units: 0, reserved_units: 0 };
const MALFORMED_MONTHS = [
  ...'2026-13 2026-00 2026-1 202601 26-01 2026-01-01 now -001-01'.split(' '),
  ...['', '%202026-01', '2026-01%0A', '2026-01&month=2026-02', '%00'],
];

function pick({ prediction_units, reserved_units }: UsageResponse) {
  return { prediction_units, reserved_units };
}
