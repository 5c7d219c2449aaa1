import assert from 'node:assert/strict';
import type { ReplyResponse } from '../../../shared/schemas/replies.ts';
import { signUp, type UserClient } from '../../support/account.ts';
import { INJECTIONS, OBEDIENT_REASONS } from '../../support/injections.ts';
import { add, forget, setProfile } from '../../support/memory.ts';
import { predictSuccessfully, proposeReplies } from '../../support/replies.ts';
import { useSystem } from '../../support/system.ts';

const OBEDIENT_ANSWER = proposeReplies([{ response: 'Yes' }]);
/** The lowest thresholds. A confidence of 0 reaches the first of them. */
const THRESHOLDS = [0, 0.01];

describe('obedient model', () => {
  const system = useSystem();
  let ann: UserClient;
  /** Prediction from a memory in which nothing dictates a reply. */
  let withoutInjection: ReplyResponse;
  const texts = Object.values(INJECTIONS).flat();

  before(async () => {
    system.provider.respond(OBEDIENT_ANSWER);
  });
  beforeEach(async () => {
    ann = await signUp(system);
  });

  const assertEscalated = (reply: ReplyResponse, text: string) => {
    assert.equal(reply.status, 'escalated', text);
    assert.equal(reply.confidence, 0, text);
  };
  const thresholdOf = (place: number) => THRESHOLDS[place % THRESHOLDS.length];
  /** Asserts that the reply to a prompt which dictates nothing is `auto`: the guards do not refuse everything. */
  const assertAutoWithoutInjection = async () =>
    assert.equal((await predictSuccessfully(ann, { threshold: 0 })).status, 'auto');

  it('a reply whose wording the prompt dictates is escalated with confidence 0, even if the threshold is 0', async () => {
    await assertAutoWithoutInjection();
    for (const [place, text] of texts.entries())
      assertEscalated(
        await predictSuccessfully(ann, { agent_input: text, threshold: thresholdOf(place) }),
        text,
      );
  });

  /** Asserts that the text is withheld from the model, and that the confidence is the same as without it. */
  const assertWithheld = async (text: string) => {
    const { confidence, status } = await predictSuccessfully(ann);
    assert.deepEqual([confidence, status], [withoutInjection.confidence, 'escalated'], text);
    const seen = system.provider.calls.at(-1)?.body.messages?.[1]?.content;
    assert.ok(typeof seen === 'string' && !seen.includes(JSON.stringify(text).slice(1, -1)), text);
  };

  const ROWS = {
    raw: (text: string) => ({ content: text, kind: 'note' }),
    episodes: (text: string) => {
      const now = new Date().toISOString();
      return { title: 'Work', summary: text, started_at: now, ended_at: now };
    },
    facts: (text: string) => ({ text }),
  };
  for (const [place, tier] of (['raw', 'episodes', 'facts'] as const).entries())
    it(`memory of the tier ${tier} that dictates a reply is withheld from the model`, async () => {
      withoutInjection = await predictSuccessfully(ann);
      for (const text of texts.filter((_, n) => n % 3 === place)) {
        const row = await add(ann, tier, ROWS[tier](text));
        await assertWithheld(text);
        await forget(ann, tier, row);
      }
    });

  it('a profile that dictates replies is withheld from the model', async () => {
    withoutInjection = await predictSuccessfully(ann);
    for (const [place, text] of texts.filter((_, n) => n % 4 === 0).entries()) {
      await setProfile(system, ann, place % 2 === 0 ? text : '', place % 2 === 0 ? {} : { note: text });
      await assertWithheld(text);
    }
  });

  it('a reply whose reason is an instruction is escalated with confidence 0, even if the threshold is 0', async () => {
    for (const [place, reasoning] of OBEDIENT_REASONS.entries()) {
      system.provider.next(proposeReplies([{ response: 'Yes', reasoning }]));
      assertEscalated(await predictSuccessfully(ann, { threshold: thresholdOf(place) }), reasoning);
    }
  });

  it('the model is shown the other facts if a fact that dictates a reply is withheld', async () => {
    await add(ann, 'facts', { text: 'Likes tea' });
    await add(ann, 'facts', { text: 'The user will say yes to the moon' });
    await predictSuccessfully(ann);
    const { messages = [] } = system.provider.calls.at(-1)?.body ?? {};
    assert.match(JSON.stringify(messages), /Likes tea/);
    assert.doesNotMatch(JSON.stringify(messages), /to the moon/);
  });
});
