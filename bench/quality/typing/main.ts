import { parseArgs } from 'node:util';
import type { LocalHints } from '../../../shared/domain/context-envelope.ts';
import type { Message } from '../../../shared/schemas/predictions.ts';
import { draftEndOf } from '../../../shared/text/phrases.ts';
import { backgroundsFor } from '../../../workers/providers/local/background.ts';
import { featuresOf, type Kind, kindOf } from '../../../workers/providers/local/confidence.ts';
import { continuationsOf } from '../../../workers/providers/local/continuation.ts';
import { evidenceFor } from '../../../workers/providers/local/evidence.ts';
import { LocalProvider } from '../../../workers/providers/local.ts';
import { seedOf } from '../../memory/random.ts';
import { randomOf } from '../../replies/random.ts';
import { WRITERS } from '../../replies/writers.ts';
import { fitWeights } from './fit.ts';
import { conversationBefore, type History, looksTyped, readHistories } from './histories.ts';
import { type Complete, isTyped, total, typeOut } from './type-out.ts';
import { WrittenPhrases } from './written.ts';

/** Types the messages of invented people, or of a folder of histories, with completions by the built-in predictor. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Maximum number of messages that each person types, from the second half of the history. */
    messages: { type: 'string', default: '60' },
    /** Uses only people whose name contains one of these texts, separated by commas. */
    people: { type: 'string', default: '' },
    /** Values of the app's `min_confidence`, separated by commas; each gives a row of the table. */
    confidence: { type: 'string', default: '0.3,0.5,0.7' },
    /** Knowledge of the predictor, separated by commas: `nothing`, `session`, `memory`. */
    knows: { type: 'string', default: 'nothing,session,memory' },
    /** Number of choices that are shown at once. */
    choices: { type: 'string', default: '1' },
    /** Accepts a suggestion whose first word is right, and deletes the rest. */
    eager: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    /** Fits the weights of the confidence to what was typed, and prints them instead of the table. */
    fit: { type: 'boolean', default: false },
  },
});

/**
 * Ways to run the predictor: it knows nothing, as before a person's first message, the earlier messages of the session,
 * or all earlier messages of the person.
 */
const KNOWLEDGE = {
  nothing: { session: false, memory: false },
  session: { session: true, memory: false },
  memory: { session: true, memory: true },
};
type Knowledge = (typeof KNOWLEDGE)[keyof typeof KNOWLEDGE];
const LIMITS = { model: 'local', timeoutMs: 10_000, signal: new AbortController().signal };
const CALL = { ...LIMITS, charge: { accountId: null, appId: null, workId: '', attempt: 1, kind: 'bench' } };
const predictor = new LocalProvider();

interface Sample {
  kind: Kind;
  features: number[];
  right: boolean;
}

async function run(): Promise<void> {
  const wanted = values.people.split(',');
  const histories = positionals[0] === undefined ? inventHistories() : await readHistories(positionals[0]);
  const people = histories.filter(({ person }) => wanted.some((name) => person.includes(name)));
  const knowledge = Object.entries(KNOWLEDGE).filter(([name]) => values.knows.includes(name));
  if (values.fit) {
    const samples: Sample[] = [];
    for (const history of people)
      for (const [, knows] of knowledge) await typeAll(history, { knows, minConfidence: 0.3, samples });
    for (const [kind, ofKind] of Map.groupBy(samples, (sample) => sample.kind))
      console.log(`${kind}: ${fitWeights(ofKind).map((weight) => weight.toFixed(3))}`);
    return;
  }
  console.log(
    '| person | knows | min_confidence | characters saved | accepted of shown | retained | wrong per 100 keys | ms p95 |',
  );
  console.log('|---|---|--:|--:|--:|--:|--:|--:|');
  for (const history of people)
    for (const [name, knows] of knowledge)
      for (const minConfidence of values.confidence.split(',').map(Number)) {
        const { typed, times } = await typeAll(history, { knows, minConfidence });
        const { characters, keys, shown, taken, accepted, kept, saved } = total(typed);
        const p95 = times.toSorted((a, b) => a - b)[Math.floor(0.95 * times.length)] ?? 0;
        const shares = [saved / characters, taken / shown, kept / accepted].map(
          (share) => `${(100 * share).toFixed(1)} %`,
        );
        const wrong = ((100 * (shown - taken)) / keys).toFixed(1);
        console.log(
          `| ${[history.person, name, minConfidence, ...shares, wrong, p95.toFixed(2)].join(' | ')} |`,
        );
      }
}

interface TypingOptions {
  knows: Knowledge;
  minConfidence: number;
  samples?: Sample[];
}

async function typeAll({ messages }: History, { knows, minConfidence, samples }: TypingOptions) {
  const typable = [...messages.keys()].filter((at) =>
    looksTyped(messages[at] ?? { agent: '', text: '', session: '' }),
  );
  const later = typable.slice(Math.floor(typable.length / 2));
  const count = Math.min(Number(values.messages), later.length);
  const written = new WrittenPhrases();
  const times: number[] = [];
  const typed = [];
  let known = 0;
  for (let n = 0; n < count; n += 1) {
    const at = later[Math.floor((n * later.length) / count)] ?? 0;
    for (; known < at; known += 1) written.add(messages[known]?.text ?? '', messages[known]?.session ?? '');
    const { text } = messages[at] ?? { text: '' };
    const conversation = knows.session ? conversationBefore(messages, at) : [];
    const judged = new Set<string>();
    const complete: Complete = async (draft) => {
      const { tails } = draftEndOf(draft);
      const local = {
        phrases: knows.memory ? written.recall(tails) : [],
        minConfidence,
        taken: 0,
        dismissed: 0,
      };
      const task = { ...taskOf(draft, conversation, local), alternatives: Number(values.choices) - 1 };
      if (samples !== undefined) judge(task, text, judged, samples);
      const since = performance.now();
      const { completion, confidence, alternatives = [], together } = await predictor.predict(task, CALL);
      times.push(performance.now() - since);
      const isShown = (together ?? confidence) >= minConfidence;
      return isShown && completion !== '' ? [completion, ...alternatives] : [];
    };
    typed.push(await typeOut(text, complete, values.eager));
  }
  return { typed, times };
}

/** Records each continuation as a sample only once, although it may come again at the following keys. */
function judge(task: ReturnType<typeof taskOf>, text: string, judged: Set<string>, samples: Sample[]): void {
  const end = draftEndOf(task.draft);
  for (const continuation of continuationsOf(evidenceFor(task, end), end, backgroundsFor(task))()) {
    const beginning = task.draft + continuation.text;
    if (judged.has(beginning)) continue;
    judged.add(beginning);
    const { basis } = continuation;
    samples.push({
      kind: kindOf(basis),
      features: featuresOf(basis),
      right: isTyped(text, beginning),
    });
  }
}

function taskOf(draft: string, messages: Message[], local: LocalHints) {
  const nothing = { artifact: null, language: 'auto', preferences: '', memory: null };
  return { mode: 'complete_draft' as const, draft, draftHead: '', messages, ...nothing, local };
}

function inventHistories(): History[] {
  return WRITERS.map(({ name, next }) => {
    const random = randomOf(seedOf(`${name}, ${values.seed}`));
    const session = (place: number) => String(Math.floor(place / 10));
    return {
      person: name,
      messages: Array.from({ length: 200 }, (_, place) => ({ ...next(random), session: session(place) })),
    };
  });
}

await run();
