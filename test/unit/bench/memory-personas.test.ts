import assert from 'node:assert/strict';
import { HELD_OUT } from '../../../bench/memory/held-out.ts';
import { makePersonas, textOf } from '../../../bench/memory/personas.ts';
import { keyOf, statementsIn } from '../../../bench/memory/statements.ts';
import { TOPICS } from '../../../bench/memory/topics.ts';
import { shinglesOnlyIn, truthOf } from '../../../bench/memory/truth.ts';

const OPTIONS = { seed: 1, personas: 12, sessions: 40 };

describe('memory benchmark personas', () => {
  const personas = [
    ...makePersonas(OPTIONS),
    ...makePersonas({ ...OPTIONS, prefix: 'other', topics: HELD_OUT }),
  ];

  it('memory benchmark personas are the same for the same seed, and different for a different seed', () => {
    assert.deepEqual(makePersonas(OPTIONS), personas.slice(0, OPTIONS.personas));
    assert.notDeepEqual(
      makePersonas({ ...OPTIONS, seed: 2 })[0]?.sessions[0]?.events,
      personas[0]?.sessions[0]?.events,
    );
  });

  it('memory benchmark personas have events with unique ids, in chronological order', () => {
    const events = personas.flatMap(({ sessions }) => sessions.flatMap((session) => session.events));
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
    for (const { sessions } of personas) {
      const times = sessions.flatMap((session) => session.events.map(({ occurred_at }) => occurred_at));
      assert.deepEqual(times, times.toSorted());
    }
  });

  it('the messages that a memory benchmark persona wrote itself contain exactly its labelled statements', () => {
    for (const { sessions } of personas) {
      for (const { events, stated } of sessions) {
        const own = events.filter(
          ({ type, origin, text }) =>
            type === 'user.message' && origin === undefined && !text?.includes('```'),
        );
        assert.deepEqual(
          own.flatMap((event) => statementsIn(textOf(event)).map(keyOf)),
          stated.map(keyOf),
        );
      }
    }
  });

  it('a memory benchmark persona makes 11 active and 6 superseded statements, repeats 5, and reads at least 5 that are not its own', () => {
    for (const { sessions, repeated } of personas) {
      const { active, superseded } = truthOf(sessions);
      assert.deepEqual([active.length, superseded.length, repeated.length], [11, 6, 5]);
      const known = new Set([...active, ...superseded].map(keyOf));
      const all = sessions.flatMap(({ events }) =>
        events.flatMap((event) => statementsIn(textOf(event)).map(keyOf)),
      );
      assert.ok(new Set(all).difference(known).size >= 5);
    }
  });

  it('memory benchmark personas make each repeated statement in three sessions', () => {
    for (const { sessions, repeated } of personas) {
      for (const statement of repeated) {
        const saying = sessions.filter(({ stated }) => stated.some((one) => keyOf(one) === keyOf(statement)));
        assert.equal(saying.length, 3, keyOf(statement));
      }
    }
  });

  it('each session of a memory benchmark persona contains five words in a row that no other session contains', () => {
    const [persona] = personas;
    for (const session of persona?.sessions ?? []) {
      const others = persona?.sessions.filter((other) => other !== session) ?? [];
      assert.ok(shinglesOnlyIn([session], others).size > 0);
    }
  });
});

describe('statement in a text', () => {
  it('statementsIn finds exactly the stated slot and value in every wording of every memory benchmark topic', () => {
    for (const { slot, values, told, changed, fact } of [...TOPICS, ...HELD_OUT]) {
      const [old = '', value = ''] = values;
      for (const wording of [...told, ...changed, fact]) {
        const text = wording.replace('{old}', old).replace('{}', value);
        assert.deepEqual(statementsIn(text), [{ slot, value }], text);
      }
    }
  });

  it('statementsIn finds no statement in texts such as "Not yarn" and "No longer uses yarn"', () => {
    for (const text of [
      'No longer uses yarn',
      'Uses tools instead of yarn',
      'Switched from yarn',
      'Not yarn',
    ])
      assert.deepEqual(statementsIn(text), [], text);
  });

  it("statementsIn finds a statement's value only as whole words, not inside longer words", () => {
    assert.deepEqual(statementsIn('Uses pnpm').map(keyOf), ['tool.package_manager=pnpm']);
    assert.deepEqual(statementsIn('A Trustworthy informal shellfish'), []);
  });
});

describe("truth of a persona's sessions", () => {
  const sessionStating = (...values: string[]) => ({
    id: 's',
    events: [],
    stated: values.map((value) => ({ slot: 'tool.editor', value })),
  });

  it('truthOf lists the latest value of each slot as active, and earlier values as superseded', () => {
    assert.deepEqual(truthOf([sessionStating('Helix'), sessionStating('Zed', 'Emacs')]), {
      active: [{ slot: 'tool.editor', value: 'Emacs' }],
      superseded: [
        { slot: 'tool.editor', value: 'Helix' },
        { slot: 'tool.editor', value: 'Zed' },
      ],
    });
  });

  it('truthOf lists a value as active again if a later session states it again', () => {
    const { active, superseded } = truthOf([
      sessionStating('Helix'),
      sessionStating('Zed'),
      sessionStating('Helix'),
    ]);
    assert.deepEqual(
      [active.map(keyOf), superseded.map(keyOf)],
      [['tool.editor=Helix'], ['tool.editor=Zed']],
    );
  });
});
