import assert from 'node:assert/strict';
import { pick, type Random, randomOf } from '../../bench/replies/random.ts';
import type { ActivityResponse } from '../../shared/schemas/activity.ts';
import type { PermissionAnswer } from '../../shared/schemas/permissions.ts';
import { signUp, type UserClient } from '../support/account.ts';
import { permissionEvent, permissionRequest } from '../support/permissions.ts';
import { post } from '../support/recording.ts';
import { addReply, feedback, predictSuccessfully, promptIn, proposeReplies } from '../support/replies.ts';
import { useSystem } from '../support/system.ts';

const PEOPLE = 100;
const AT_ONCE = 4;
/** Of what would be automatic this is asked all the same: the largest share that may be set. */
const CHECK_SHARE = 0.2;
/** A wrong decision is noticed at once, or once the same was decided for the person one or two times more. */
const NOTICED_AFTER = [0, 1, 2] as const;
const WRONG_MAX = NOTICED_AFTER.length;

/** What is asked in variants, how often. A habit turns at some round, or never. */
interface Habit {
  asked: readonly [string, ...string[]];
  before: string;
  after: string;
  turnsAt: number;
  wrong: { id: string; uses: number }[];
  wrongCount: number;
}

/** What would have been automatic: acted on, or asked to check it. */
interface Automatic {
  isRight: boolean;
}

interface Kind {
  rounds: number;
  checks: keyof ActivityResponse['checks'];
  habits: readonly Pick<Habit, 'asked' | 'before' | 'after'>[];
  learn(person: UserClient, habit: Habit): Promise<unknown>;
  /** Asks; if nothing is decided for the person, they decide. Returns what was, or would have been. */
  ask(person: UserClient, asked: string, habit: Habit, wish: string): Promise<Asked>;
}

interface Asked {
  id: string;
  /** What was decided, or would have been if it was not checked; undefined if nothing. */
  decided: string | undefined;
  isActedOn: boolean;
}

const object = (person: UserClient, id: string) => person.request('POST', `/api/decisions/${id}/object/`);

/** Prints the figures of docs/approving.md. */
describe('habits that turn', function () {
  this.timeout(1_800_000);
  const system = useSystem();
  before(() =>
    // A model that never notices.
    system.provider.respond((response, call) => {
      const { before = '' } = KINDS.replies.habits.find(({ asked }) => asked.includes(promptIn(call))) ?? {};
      return proposeReplies([{ response: before }])(response, call);
    }),
  );

  const KINDS: Record<'permissions' | 'replies', Kind> = {
    permissions: {
      rounds: 60,
      checks: 'permissions',
      habits: [
        {
          asked: ['npm test', 'npm test -- --watch', 'npm test 2>&1 | tail -5'],
          before: 'allow',
          after: 'ask',
        },
        { asked: ['cat src/a.ts', 'cat src/b.ts'], before: 'allow', after: 'ask' },
        { asked: ['git push origin dev'], before: 'allow', after: 'ask' },
      ],
      learn: (person, { asked }) =>
        post(
          person,
          Array.from({ length: 6 }, (_, nth) => permissionEvent(asked[nth % asked.length] ?? '')),
        ),
      async ask(person, asked, _, wish) {
        const { id, decision, reason } = (
          await person.request<PermissionAnswer>(
            'POST',
            '/api/predictions/permission/',
            permissionRequest(asked),
          )
        ).body;
        const isActedOn = decision === 'allow';
        if (isActedOn) return { id, isActedOn, decided: 'allow' };
        const occurred_at = new Date().toISOString();
        const outcome = wish === 'allow' ? 'allowed' : 'refused';
        assert.equal((await post(person, [permissionEvent(asked, outcome, { occurred_at })])).status, 201);
        return { id, isActedOn, decided: reason === 'check' ? 'allow' : undefined };
      },
    },
    replies: {
      rounds: 40,
      checks: 'replies',
      habits: [
        { asked: ['Which branch shall the fix go to?'], before: 'dev', after: 'staging' },
        { asked: ['Shall I run the unit tests?'], before: 'Yes', after: 'No, leave them' },
        { asked: ['Which language shall the comments be in?'], before: 'English', after: 'German' },
      ],
      async learn(person, { asked: [asked], before }) {
        for (const place of [1, 2, 3]) await addReply(person, asked, before, place * 7 + asked.length);
      },
      async ask(person, asked, { before }, wish) {
        const { id, status } = await predictSuccessfully(person, { agent_input: asked, threshold: 0.3 });
        if (status === 'auto') return { id, isActedOn: true, decided: before };
        const [row] = await system.sql<{ blind: boolean }>('select blind from replies where id = $1', [id]);
        const { status: taken } = await feedback(person, { id }, { status: 'edited', actual_response: wish });
        assert.equal(taken, 200);
        return { id, isActedOn: false, decided: row?.blind === true ? before : undefined };
      },
    },
  };

  for (const [name, kind] of Object.entries(KINDS))
    it(`of ${name} at most three are wrong once a habit turns, and the interval of what was checked holds the truth for 95 of 100 people`, async () => {
      const seeds = Array.from({ length: PEOPLE }, (_, nth) => nth + 1);
      const people: Life[] = [];
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift())
            people.push(await live(await signUp(system), kind, randomOf(seed)));
        }),
      );
      const turned = people.flatMap(({ habits }) => habits).filter(({ turnsAt }) => turnsAt < kind.rounds);
      const wrong = turned.map(({ wrongCount }) => wrongCount);
      const measured = people.filter(({ interval }) => interval !== undefined);
      const held = people.filter(({ truth, interval }) =>
        interval === undefined ? true : interval.low <= truth && truth <= interval.high,
      );
      const automatic = people.reduce((sum, { count }) => sum + count, 0);
      console.log(
        `      ${name}: ${automatic} automatic or checked; wrong after each of ${turned.length} turns: ${[0, 1, 2, 3].map((n) => `${n}: ${wrong.filter((count) => count === n).length}`).join(', ')}, most ${Math.max(...wrong)}; interval holds for ${held.length} of ${PEOPLE} (${measured.length} have one)`,
      );
      assert.ok(turned.length >= PEOPLE);
      assert.ok(measured.length >= 0.9 * PEOPLE);
      assert.ok(Math.max(...wrong) <= WRONG_MAX);
      assert.ok(held.length >= 0.95 * PEOPLE);
    });

  interface Life {
    habits: readonly Habit[];
    /** Precision of what was, or would have been, decided. */
    truth: number;
    count: number;
    interval: { low: number; high: number } | undefined;
  }

  async function live(person: UserClient, kind: Kind, random: Random): Promise<Life> {
    await person.request('PATCH', '/api/decisions/settings/', { check_share: CHECK_SHARE });
    const habits = kind.habits.map((habit): Habit => {
      const turnsAt = Math.floor(kind.rounds * (0.2 + 1.2 * random()));
      return { ...habit, turnsAt, wrong: [], wrongCount: 0 };
    });
    for (const habit of habits) await kind.learn(person, habit);
    const all: Automatic[] = [];
    for (let round = 0; round < kind.rounds; round += 1) {
      const habit = pick(habits as [Habit, ...Habit[]], random);
      const wish = round >= habit.turnsAt ? habit.after : habit.before;
      const { id, decided, isActedOn } = await kind.ask(person, pick(habit.asked, random), habit, wish);
      if (decided !== undefined) all.push({ isRight: decided === wish });
      if (isActedOn && decided !== wish) {
        habit.wrongCount += 1;
        habit.wrong.push({ id, uses: pick(NOTICED_AFTER, random) });
      }
      const noticed = habit.wrong.filter(({ uses }) => uses === 0);
      for (const one of noticed) await object(person, one.id);
      habit.wrong = habit.wrong.filter(({ uses }) => uses > 0).map((one) => ({ ...one, uses: one.uses - 1 }));
    }
    const { checks } = (await person.request<ActivityResponse>('GET', '/api/activity/')).body;
    const { precision_low: low, precision_high: high } = checks[kind.checks];
    const interval = low === null || high === null ? undefined : { low, high };
    return {
      habits,
      count: all.length,
      truth: all.filter(({ isRight }) => isRight).length / all.length,
      interval,
    };
  }
});
