import { parseArgs } from 'node:util';
import { DEFAULT_BASE_URL } from '../../shared/config/provider.ts';
import { INJECTIONS } from '../../test/support/injections.ts';
import { LocalProvider } from '../../workers/providers/local.ts';
import { createProviders } from '../../workers/providers/providers.ts';
import { seedOf } from '../memory/random.ts';
import { HELD_OUT } from './held-out.ts';
import { type Knowledge, live, PRECISION_TARGETS, predictionsOfLife, STAGES, type Stage } from './life.ts';
import { ObservedProvider } from './observed.ts';
import { HABITUAL, PERSONAS } from './personas.ts';
import { createPredictor, type Predictor } from './predictors.ts';
import { Progress } from './progress.ts';
import {
  DRAFT_HEADS,
  draftCells,
  REPLY_HEADS,
  replyCells,
  THRESHOLD_HEADS,
  thresholdCells,
} from './quality.ts';
import { randomOf } from './random.ts';
import { CHECK_EVERY_CHARACTERS, type Complete, completeWith, typeOut } from './typing.ts';
import { WRITERS } from './writers.ts';

/**
 * Measures predictions of replies and drafts: without arguments those of the built-in predictor; `OPENAI_API_KEY=…
 * main.ts MODEL [BASE_URL]` measures a model of an OpenAI-compatible server.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Number of lives of each person and writer; 40 by default, or 2 with a model. */
    lives: { type: 'string' },
    seed: { type: 'string', default: '1' },
    probes: { type: 'string', default: '50' },
    concurrency: { type: 'string', default: '8' },
    /** Measures other people, on whom nothing was tuned. */
    'held-out': { type: 'boolean', default: false },
  },
});
const DRAFTS = 20;
const PEOPLE = values['held-out'] ? HELD_OUT : PERSONAS;

async function run([model, baseUrl = DEFAULT_BASE_URL]: string[]): Promise<void> {
  const observed =
    model === undefined
      ? undefined
      : new ObservedProvider(
          // A private server may need no key, but the client does not start without one.
          createProviders({ openai: { apiKey: process.env['OPENAI_API_KEY'] || 'none', baseUrl } })(model),
          Number(values.concurrency),
        );
  const provider = observed ?? new LocalProvider();
  const name = model ?? 'local';
  const lives = Number(values.lives ?? (observed === undefined ? 40 : 2));
  const seeds = Array.from({ length: lives }, (_, n) => Number(values.seed) + n);
  using progress = new Progress(() => observed?.summary ?? name);
  const predictor = createPredictor(provider, name);
  await measureReplies(seeds, progress, async (...question) => {
    const proposed = await predictor(...question);
    progress.advance();
    return proposed;
  });
  await measureDrafts(seeds, progress, completeWith(provider, name));
  if (observed !== undefined) say(`\nCalls to ${name}: ${observed.summary}.`);
}

async function measureReplies(seeds: number[], progress: Progress, predictor: Predictor): Promise<void> {
  const prompts = Object.values(INJECTIONS).flat();
  const probes = Number(values.probes);
  progress.expect(PEOPLE.length * seeds.length * predictionsOfLife(probes) + prompts.length);
  const people = await Promise.all(
    PEOPLE.map(async (persona) => {
      const lives = await Promise.all(seeds.map((seed) => live(persona, seed, predictor, probes)));
      return { persona, known: lives[0]?.known, stages: lives.flatMap(({ stages }) => stages) };
    }),
  );
  head('replies', ['labels', ...REPLY_HEADS]);
  for (const { persona, stages } of people) report(persona.name, stages);
  report(
    'all',
    people.flatMap(({ stages }) => stages),
  );
  say('');
  head(`threshold suggested after ${STAGES.at(-1)} labels`, THRESHOLD_HEADS);
  for (const { persona, stages } of people) {
    const last = stages.filter(({ labels }) => labels === STAGES.at(-1));
    if (last.length === 0) continue;
    for (const [at, target] of PRECISION_TARGETS.entries())
      row([persona.name, String(target), ...thresholdCells(last, at, target)]);
  }
  const trusting = (people.find(({ persona }) => persona === HABITUAL) ?? people[0])?.known;
  const auto = trusting && (await countInjected(prompts, trusting, predictor));
  say(`\nOf ${prompts.length} prompts with an injection, ${auto} became auto.\n`);
}

function report(name: string, stages: readonly Stage[]): void {
  for (const labels of STAGES) {
    const judged = stages.filter((stage) => stage.labels === labels).flatMap((stage) => stage.judged);
    if (judged.length > 0) row([labels === 0 ? name : '', String(labels), ...replyCells(judged)]);
  }
}

/** Counts the prompts whose replies become `auto` after the person has said yes to each of them three times. */
async function countInjected(prompts: string[], known: Knowledge, predictor: Predictor): Promise<number> {
  for (const prompt of [...prompts, ...prompts, ...prompts]) known.remember({ prompt, reply: 'yes' });
  const decided = await Promise.all(prompts.map((prompt) => known.predict(prompt, predictor)));
  return decided.filter(({ status }) => status === 'auto').length;
}

async function measureDrafts(seeds: number[], progress: Progress, complete: Complete): Promise<void> {
  const writers = WRITERS.map(({ name, next }) => {
    const typed = seeds.flatMap((seed) => {
      const random = randomOf(seedOf(`${name}, life ${seed}`));
      const written = Array.from({ length: DRAFTS }, () => next(random));
      return written.map(async (draft, n) => {
        const questions = Math.floor((draft.text.length - 1) / CHECK_EVERY_CHARACTERS);
        progress.expect(questions);
        const one = await typeOut(draft, written.slice(0, n), complete);
        progress.advance(questions);
        return one;
      });
    });
    return { name, typed };
  });
  head('drafts', DRAFT_HEADS);
  for (const { name, typed } of writers) row([name, ...draftCells(await Promise.all(typed))]);
}

function head(title: string, heads: readonly string[]): void {
  row([title, ...heads]);
  row(['---', ...heads.map(() => '--:')]);
}

const row = (cells: readonly string[]) => say(`| ${cells.join(' | ')} |`);
const say = (line: string) => process.stdout.write(`${line}\n`);

await run(positionals);
