import { parseArgs } from 'node:util';
import type { SourceRow } from '../../shared/domain/facts/statement.ts';
import { statementsIn } from '../../workers/memory/extract-facts.ts';
import { checkProposals } from '../../workers/memory/gate.ts';
import { type Proposal, RIGHT, WRONG } from './proposals.ts';
import { readHistories } from './typing/histories.ts';
import { FURTHER_PASSING, HELD_OUT, TUNING, type Wordings } from './wordings.ts';

/**
 * Measures how well facts are found without a model: in sentences that state something lasting, and in others that only
 * look similar, in four languages. With a folder of histories, lists the facts found there, to be judged by eye.
 * `--model` measures which statements of a model its gate keeps: right and wrong ones. `--tuning` uses the half that rules may be tuned on, and lists the mistakes.
 */
const { values } = parseArgs({
  allowPositionals: true,
  options: {
    tuning: { type: 'boolean', default: false },
    model: { type: 'boolean', default: false },
    folder: { type: 'string' },
  },
});

/** Length to which a raw row of memory cuts a message. */
const CONTENT_MAX = 8000;
const OCCURRED_AT = new Date('2026-11-20T12:00:00Z');

const rowOf = (content: string): SourceRow => ({
  id: 'one',
  content,
  role: 'human',
  origin: 'human',
  occurredAt: OCCURRED_AT,
});
const statementsOf = (content: string) => statementsIn(rowOf(content));
const yieldsFact = (content: string) => statementsOf(content).length > 0;

async function listFactsInHistories(folder: string): Promise<void> {
  for (const { person, messages } of await readHistories(folder)) {
    const found = messages.flatMap(({ text }) => statementsOf(text.slice(0, CONTENT_MAX)));
    console.log(`${person}: ${found.length} facts of ${messages.length} prompts`);
    for (const { text } of found) console.log(`  ${text}`);
  }
}

async function isKept({ said, quote, text }: Proposal): Promise<boolean> {
  const proposal = {
    text,
    kind: 'other',
    slot: null,
    valid_from: null,
    valid_to: null,
    salience: 3,
  } as const;
  const evidence = [{ source: 1, quote }];
  const proposed = { ...proposal, evidence, relation: 'new', target: null } as const;
  return (await checkProposals([proposed], { rows: [rowOf(said)], known: [], titles: [] })).length > 0;
}

async function measureGate(): Promise<void> {
  for (const [name, proposals] of Object.entries({ right: RIGHT, wrong: WRONG })) {
    const kept = await Promise.all(proposals.map(isKept));
    console.log(`${name} statements kept: ${kept.filter(Boolean).length} of ${proposals.length}`);
    for (const [place, { said, text }] of proposals.entries())
      if (kept[place] !== (name === 'right')) console.log(`  ${said} -> ${text}`);
  }
}

const percent = (part: number, of: number) => (of === 0 ? '-' : `${((100 * part) / of).toFixed(0)} %`);

function report(name: string, { lasting, passing }: Wordings): void {
  const found = lasting.filter(yieldsFact).length;
  const taken = passing.filter(yieldsFact).length;
  console.log(
    `| ${name} | ${percent(found, found + taken)} | ${percent(found, lasting.length)} | ${taken} of ${passing.length} |`,
  );
}

function measure(): void {
  const sets = values.tuning ? TUNING : HELD_OUT;
  console.log(`| ${values.tuning ? 'tuning' : 'held out'} | precision | recall | near misses taken |`);
  console.log('|---|--:|--:|--:|');
  for (const [language, wordings] of Object.entries(sets)) report(language, wordings);
  const all = Object.values(sets);
  report('all', {
    lasting: all.flatMap(({ lasting }) => lasting),
    passing: all.flatMap(({ passing }) => passing),
  });
  if (!values.tuning)
    console.log(
      `further near misses taken: ${FURTHER_PASSING.filter(yieldsFact).length} of ${FURTHER_PASSING.length}`,
    );
  if (values.tuning) {
    for (const { lasting, passing } of all) {
      for (const sentence of lasting.filter((one) => !yieldsFact(one))) console.log(`missed: ${sentence}`);
      for (const sentence of passing.filter(yieldsFact)) console.log(`taken: ${sentence}`);
    }
  }
}

if (values.model) await measureGate();
else if (values.folder === undefined) measure();
else await listFactsInHistories(values.folder);
