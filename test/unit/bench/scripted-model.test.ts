import assert from 'node:assert/strict';
import { makePersonas, textOf } from '../../../bench/memory/personas.ts';
import { episodeAnswer, factAnswers, type NumberedRow } from '../../../bench/memory/scripted-model.ts';
import { contentFor } from '../../../bench/memory/scripted-provider.ts';
import { INJECTION_SLOT, keyOf, statementsIn } from '../../../bench/memory/statements.ts';
import { truthOf } from '../../../bench/memory/truth.ts';

const [persona] = makePersonas({ seed: 3, personas: 1, sessions: 40 });
if (persona === undefined) throw new Error('there is a persona');

const rowsOf = ({ events }: (typeof persona.sessions)[number]): NumberedRow[] =>
  events
    .filter((event) => textOf(event) !== '')
    .map((event, place) => ({
      n: place + 1,
      by: event.type.startsWith('agent') ? 'an agent' : 'the person',
      words: event.origin ?? (event.type.startsWith('agent') ? 'agent' : 'human'),
      text: textOf(event),
    }));

const question = (record: object, name: string, more: { role: string; content: string }[] = []) => ({
  messages: [{ role: 'user', content: `<record>\n${JSON.stringify(record)}\n</record>` }, ...more],
  response_format: { json_schema: { name } },
});

describe('scripted model', () => {
  const sessions = persona.sessions.map(rowsOf);
  const answers = sessions.flatMap((rows) => factAnswers(rows, []).map((fact) => ({ fact, rows })));
  const isQuoted = ({ fact, rows }: (typeof answers)[number]) =>
    fact.evidence.every(({ source, quote }) => rows[source - 1]?.text.includes(quote));

  it('the scripted model finds and quotes the active statements of a person, except at most one', () => {
    const found = new Set(answers.filter(isQuoted).flatMap(({ fact }) => statementsIn(fact.text).map(keyOf)));
    const { active } = truthOf(persona.sessions);
    assert.ok(active.filter((statement) => found.has(keyOf(statement))).length >= active.length - 1);
  });

  it('the scripted model makes mistakes: false quotes, obeyed injections, invented statements, repetitions and missing slots', () => {
    const { active, superseded } = truthOf(persona.sessions);
    const statedKeys = new Set([...active, ...superseded].map(keyOf));
    const stated = answers.flatMap(({ fact }) => statementsIn(fact.text));
    assert.ok(answers.some((answer) => !isQuoted(answer)));
    assert.ok(stated.some((one) => one.slot === INJECTION_SLOT));
    assert.ok(stated.some((one) => one.slot !== INJECTION_SLOT && !statedKeys.has(keyOf(one))));
    assert.ok(answers.some(({ fact }) => fact.text.startsWith('The person: ')));
    assert.ok(answers.some(({ fact }) => fact.slot === null && statementsIn(fact.text).length > 0));
  });

  it('the scripted model mostly recognises that a statement repeats or replaces a known fact', () => {
    const row = { n: 1, by: 'the person', words: 'human' };
    const answer = (known: string, place: number) =>
      factAnswers([{ ...row, text: `My editor is Helix, note ${place}.` }], [{ n: 7, text: known }])[0];
    const relations = (known: string) =>
      Array.from({ length: 40 }, (_, place) => answer(known, place)).filter((fact) => fact?.target === 7);
    assert.ok(relations('Uses Helix as editor').every((fact) => fact?.relation === 'duplicate'));
    assert.ok(relations('Uses Zed as editor').every((fact) => fact?.relation === 'supersedes'));
    assert.ok(relations('Uses Zed as editor').length > 25);
    assert.equal(relations('Lives in Oslo').length, 0);
  });

  it('the scripted model cites at least one existing row in every episode', () => {
    const cites = sessions.map((rows) => episodeAnswer(rows).cites.filter((n) => n <= rows.length));
    assert.ok(cites.every((known) => known.length > 0));
  });

  it('the scripted model gives the same answer to the same question, and repairs malformed answers when asked', () => {
    const contents = sessions.map((rows) => contentFor(question({ rows }, 'episode')));
    assert.deepEqual(
      contents,
      sessions.map((rows) => contentFor(question({ rows }, 'episode'))),
    );
    const malformed = sessions.filter((_, place) => !contents[place]?.startsWith('{'));
    assert.ok(malformed.length > 0);
    for (const rows of malformed) {
      const repaired = contentFor(question({ rows }, 'episode', [{ role: 'user', content: 'Not JSON.' }]));
      assert.ok(JSON.parse(repaired).title);
    }
  });
});
