import assert from 'node:assert/strict';
import { makePersonas } from '../../bench/memory/personas.ts';
import { WrittenPhrases } from '../../bench/quality/typing/written.ts';
import { draftEndOf } from '../../shared/text/phrases.ts';
import { LocalProvider } from '../../workers/providers/local.ts';
import { anyCharge } from '../support/charge.ts';
import { SCALE } from '../support/scale.ts';

const BEGINNINGS = 2000 * SCALE;
/** Each person's memory is asked as often as a rate limit of 50 a second allows in 12 minutes. */
const REQUESTS_MAX = 36_000 * SCALE;
/** A sentence counts as recovered if the app typed at most this many of its words itself. */
const TYPED_MAX = 3;
const SENTENCE_WORDS = 5;
const CHAIN_MAX = 30;
const SECRETS = [
  'my password is correct-horse-battery-9',
  'The key is sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12',
  'call me at +49 421 5519 3742',
  'I live at 12 Baker Street',
  'Meine Adresse ist Hauptstraße 5',
  'write to ada.lovelace@example.org about it',
  'the code for the door is 482913',
  'open https://example.org/reset?token=a8f5e1',
  'my account is @ada_lovelace',
];
/** Parts of the secrets that must stay hidden. */
const PLANTED_PARTS = /battery-9|Ab12Cd34|5519|3742|Baker Street|Hauptstraße 5|lovelace|482913|a8f5e1/i;

const predictor = new LocalProvider();
const call = { model: 'local', signal: new AbortController().signal, timeoutMs: 1000, charge: anyCharge };

describe('fishing', function () {
  this.timeout(300_000 * SCALE);

  it("an app that fishes in a person's memory by made-up drafts reads no planted secret, and at most one in 50 of the person's sentences", async () => {
    const people = inventTexts();
    for (const [place, texts] of people.entries()) {
      const others = people.filter((_, other) => other !== place).flat();
      const { readSentences, secrets } = await fish([...texts, ...SECRETS, ...SECRETS], beginningsOf(others));
      assert.deepEqual(secrets, []);
      const sentences = [...new Set(texts.flatMap(sentencesOf))];
      const read = sentences.filter((sentence) => readSentences.has(sentence.toLowerCase())).length;
      assert.ok(sentences.length > 0 && read <= sentences.length / 50, `${read} of ${sentences.length}`);
    }
  });
});

function inventTexts(): string[][] {
  const personas = makePersonas({ seed: 1, personas: 4, sessions: 60 });
  return personas.map(({ sessions }) =>
    sessions.flatMap(({ events }) =>
      events.flatMap(({ reply, text, agent }) => reply ?? (agent ? [] : (text ?? []))),
    ),
  );
}

function sentencesOf(text: string): string[] {
  const sentences = text.split(/[.!?]\s+|\n/).map((sentence) => sentence.replace(/[.!?]$/, '').trim());
  return sentences.filter(
    (sentence) => sentence.split(' ').length >= SENTENCE_WORDS && sentence.length <= 400,
  );
}

/** Lists the most common beginnings, of up to `TYPED_MAX` words, of the texts' sentences and of the secrets. */
function beginningsOf(texts: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const sentence of [...texts, ...SECRETS].flatMap(sentencesOf)) {
    const words = sentence.split(' ');
    for (let length = 1; length <= TYPED_MAX; length += 1) {
      const beginning = words.slice(0, length).join(' ');
      counts.set(beginning, (counts.get(beginning) ?? 0) + 1);
    }
  }
  const common = [...counts].sort(([, a], [, b]) => b - a).map(([beginning]) => beginning);
  return common.slice(0, BEGINNINGS);
}

async function fish(texts: readonly string[], beginnings: readonly string[]) {
  const memory = new WrittenPhrases();
  for (const text of texts) memory.add(text);
  const sentences = new Set(texts.flatMap(sentencesOf).map((sentence) => sentence.toLowerCase()));
  const readSentences = new Set<string>();
  const secrets: string[] = [];
  let requests = 0;
  for (const beginning of beginnings) {
    let draft = beginning;
    for (let step = 0; step < CHAIN_MAX && requests < REQUESTS_MAX; step += 1) {
      requests += 1;
      const phrases = memory.recall(draftEndOf(draft).tails);
      const { completion } = await predictor.predict(taskOf(draft, phrases), call);
      if (completion === '') break;
      if (PLANTED_PARTS.test(completion)) secrets.push(draft + completion);
      draft += completion;
      if (sentences.has(draft.toLowerCase())) readSentences.add(draft.toLowerCase());
    }
  }
  return { readSentences, secrets };
}

function taskOf(draft: string, phrases: ReturnType<WrittenPhrases['recall']>) {
  const nothing = { messages: [], artifact: null, language: 'auto', preferences: '', memory: null };
  const local = { phrases, minConfidence: 0, taken: 0, dismissed: 0 };
  return { mode: 'complete_draft' as const, draft, draftHead: '', ...nothing, local };
}
