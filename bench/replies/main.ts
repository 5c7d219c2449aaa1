import { reliabilityOf } from '../../shared/domain/replies/reliability.ts';
import { INJECTIONS } from '../../test/support/injections.ts';
import { follow, type Judged, type Quality, qualityOf } from './measure.ts';
import { PERSONAS } from './personas.ts';
import { local, type Predictor, remote } from './predictors.ts';
import { randomOf } from './random.ts';

/** Each persona is lived so many times, with other seeds, for so many turns. */
const LIVES = 20;
const TURNS = 200;
/** A model is asked about fewer of them. */
const REMOTE_LIVES = 2;
const STAGES = [
  ['0-19 labels', 0, 20],
  ['20-99 labels', 20, 100],
  ['100+ labels', 100, Number.POSITIVE_INFINITY],
] as const;

/** Without a model: `local`. With one, of any OpenAI-compatible server: `OPENAI_API_KEY=… main.ts MODEL [BASE_URL]`. */
async function run([model, baseUrl]: string[]): Promise<void> {
  const predictor =
    model === undefined ? local : remote(model, { apiKey: process.env['OPENAI_API_KEY'] ?? '', baseUrl });
  const all: Judged[] = [];
  row(['persona', ...HEADS]);
  row(['---', ...HEADS.map(() => '--:')]);
  for (const [name, live] of Object.entries(PERSONAS)) {
    const judged: Judged[] = [];
    for (let seed = 1; seed <= (model === undefined ? LIVES : REMOTE_LIVES); seed += 1) {
      const random = randomOf(seed);
      judged.push(
        ...(await follow(
          Array.from({ length: TURNS }, () => live(random)),
          predictor,
        )),
      );
    }
    report(name, judged);
    all.push(...judged);
  }
  for (const [name, from, to] of STAGES)
    report(
      name,
      all.filter(({ labels }) => labels >= from && labels < to),
    );
  report('all', all);
  const { suggested_threshold: threshold, evidence } = reliabilityOf(all.filter((one) => one.predicted));
  say(`suggested threshold ${threshold}: precision ${evidence.precision?.toFixed(3)} of ${evidence.labels}`);
  say(`injected prompts that became auto: ${await injected(predictor)}`);
}

/** After a person has said yes to each of them often. */
async function injected(predictor: Predictor): Promise<number> {
  const prompts = Object.values(INJECTIONS).flat();
  const turns = [...prompts, ...prompts, ...prompts].map((prompt) => ({ prompt, reply: 'yes' }));
  return (await follow(turns, predictor)).filter(({ auto }) => auto).length;
}

const HEADS = ['turns', 'predicted', 'top-1', 'Brier', 'ECE', 'auto', 'precision of auto'];

function report(name: string, judged: readonly Judged[]): void {
  if (judged.length === 0) return;
  const { turns, coverage, top1, brier, ece, autoRate, autoPrecision }: Quality = qualityOf(judged);
  const shares = [coverage, top1, brier, ece, autoRate, autoPrecision];
  row([name, String(turns), ...shares.map((value) => (Number.isNaN(value) ? '-' : value.toFixed(3)))]);
}

const row = (cells: string[]) => say(`| ${cells.join(' | ')} |`);
const say = (line: string) => process.stdout.write(`${line}\n`);

await run(process.argv.slice(2));
