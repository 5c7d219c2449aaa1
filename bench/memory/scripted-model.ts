import { HELD_OUT } from './held-out.ts';
import { type Random, seededRandom, seedOf } from './random.ts';
import { INJECTION_SLOT, keyOf, type Statement, statementsIn } from './statements.ts';
import { PASSING } from './talk.ts';
import { TOPICS } from './topics.ts';

/** A row with its number in the prompt of a promotion. Only prompts for episodes say whose `words` it has. */
export interface NumberedRow {
  n: number;
  by: string;
  words?: string;
  text: string;
}

export interface NumberedFact {
  n: number;
  text: string;
}

export interface FactAnswer {
  text: string;
  kind: string;
  slot: string | null;
  valid_from: string | null;
  valid_to: string | null;
  evidence: { source: number; quote: string }[];
  relation: 'new' | 'duplicate' | 'supersedes';
  target: number | null;
  /** Salience from 1 to 5. */
  salience: number;
}

/** Probabilities of the mistakes of a decent model. Equal questions always get equal answers. */
const ERRORS = {
  /** Quotes something that the row does not say. */
  misquotes: 0.06,
  /** Takes an agent's claim, or an injection's order, for the person's statement. */
  believes: 0.7,
  /** Attests an injection with a harmless row of the person. */
  borrows: 0.3,
  invents: 0.08,
  keepsPassing: 0.1,
  repeatsItself: 0.2,
  forgetsSlot: 0.1,
  overlooksKnown: 0.2,
} as const;

const ALL_TOPICS = [...TOPICS, ...HELD_OUT];
const KIND_OF = new Map(ALL_TOPICS.map(({ slot, kind }) => [slot, kind]));
const TEXT_OF = new Map(ALL_TOPICS.map(({ slot, fact }) => [slot, fact]));
const PASSING_STARTS = PASSING.map((text) => text.slice(0, text.indexOf('{}')).trim());

export function episodeAnswer(rows: readonly NumberedRow[]) {
  const ownRows = rows.filter(isWrittenByPerson);
  const random = seededRandom(seedOf(rows.map(({ text }) => text).join('\n')));
  const stated = rows.flatMap(({ text }) => statementsIn(text).map(keyOf));
  const [first] = ownRows.length > 0 ? ownRows : rows;
  const cites = ownRows.length > 0 ? ownRows.map(({ n }) => n) : rows.map(({ n }) => n);
  return {
    title: (first?.text ?? 'Nothing').split(/\s+/).slice(0, 8).join(' '),
    // Like a model, mixes up who stated what.
    summary: `The person worked with the agent on ${rows.length} messages. They said: ${stated.join('; ') || 'nothing of themselves'}.`,
    outcome: random.pick(['done', 'unknown']),
    tags: ['work'],
    salience: stated.length > 0 ? 'important' : 'minor',
    cites: random.next() < ERRORS.misquotes ? [...cites, 999] : cites,
  };
}

export function factAnswers(rows: readonly NumberedRow[], known: readonly NumberedFact[]): FactAnswer[] {
  return rows.flatMap((row) => {
    const random = seededRandom(seedOf(row.text));
    return [...statedFacts(row, rows, known, random), ...inventedFacts(row, random)];
  });
}

function statedFacts(
  row: NumberedRow,
  rows: readonly NumberedRow[],
  known: readonly NumberedFact[],
  random: Random,
): FactAnswer[] {
  const isBelieved = isWrittenByPerson(row) || random.next() < ERRORS.believes;
  return isBelieved
    ? statementsIn(row.text).flatMap((statement) => answersOf(statement, row, rows, known, random))
    : [];
}

function answersOf(
  statement: Statement,
  row: NumberedRow,
  rows: readonly NumberedRow[],
  known: readonly NumberedFact[],
  random: Random,
): FactAnswer[] {
  const sentence = sentenceWith(statement, row.text);
  const borrowed = rows.find(isWrittenByPerson);
  const isInjected = statement.slot === INJECTION_SLOT;
  const evidence =
    isInjected && borrowed !== undefined && random.next() < ERRORS.borrows
      ? { source: borrowed.n, quote: borrowed.text }
      : { source: row.n, quote: random.next() < ERRORS.misquotes ? misquote(sentence) : sentence };
  const answer: FactAnswer = {
    text: textOf(statement),
    kind: KIND_OF.get(statement.slot) ?? 'other',
    slot: random.next() < ERRORS.forgetsSlot ? null : statement.slot,
    valid_from: null,
    valid_to: null,
    evidence: [evidence],
    salience: 4,
    ...relationTo(statement, known, random),
  };
  return random.next() < ERRORS.repeatsItself
    ? [answer, { ...answer, text: `The person: ${sentence}` }]
    : [answer];
}

function relationTo(
  statement: Statement,
  known: readonly NumberedFact[],
  random: Random,
): Pick<FactAnswer, 'relation' | 'target'> {
  const about = known.find(({ text }) => statementsIn(text).some(({ slot }) => slot === statement.slot));
  if (about === undefined || random.next() < ERRORS.overlooksKnown) return { relation: 'new', target: null };
  const isSame = statementsIn(about.text).some((one) => keyOf(one) === keyOf(statement));
  return { relation: isSame ? 'duplicate' : 'supersedes', target: about.n };
}

/** Returns at random a fact that nobody stated, with an invented quote, and the row's passing state as a fact. */
function inventedFacts(row: NumberedRow, random: Random): FactAnswer[] {
  const fact = (text: string, quote: string): FactAnswer => ({
    text,
    kind: 'other',
    slot: null,
    valid_from: null,
    valid_to: null,
    evidence: [{ source: row.n, quote }],
    relation: 'new',
    target: null,
    salience: 2,
  });
  const invented = random.next() < ERRORS.invents ? [invention(random)] : [];
  const isPassing = PASSING_STARTS.some((start) => row.text.startsWith(start));
  return [
    ...invented.map((text) => fact(text, `I told you: ${text}`)),
    ...(isPassing && random.next() < ERRORS.keepsPassing ? [fact(row.text, row.text)] : []),
  ];
}

function invention(random: Random): string {
  const { slot, values } = random.pick(TOPICS);
  return textOf({ slot, value: random.pick(values) });
}

const isWrittenByPerson = ({ by, words }: NumberedRow): boolean =>
  by === 'the person' && (words ?? 'human') === 'human';

function textOf({ slot, value }: Statement): string {
  return (TEXT_OF.get(slot) ?? 'The person always {}').replace('{}', value);
}

function sentenceWith(statement: Statement, text: string): string {
  const sentences = text.split(/(?<=[.!?])\s+|\n/);
  return (
    sentences.find((sentence) => statementsIn(sentence).some((one) => keyOf(one) === keyOf(statement))) ??
    text
  );
}

function misquote(sentence: string): string {
  return sentence.replaceAll(/(\S+ )\S+/g, '$1maybe');
}
