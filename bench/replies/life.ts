import { type Calibrator, calibrate, type Label } from '../../shared/domain/replies/calibrator.ts';
import { type Decided, decideReply } from '../../shared/domain/replies/decide.ts';
import { fitMaterial } from '../../shared/domain/replies/material.ts';
import { feedbackOf, type Outcome, reliabilityOf } from '../../shared/domain/replies/reliability.ts';
import { type Decision, Precedents } from '../../shared/domain/replies/support.ts';
import { type Pair, voteOf } from '../../shared/domain/replies/vote.ts';
import { saysTheSame } from '../../shared/text/meaning.ts';
import { screen } from '../../workers/replies/screen.ts';
import { seedOf } from '../memory/random.ts';
import type { Persona, Turn } from './personas.ts';
import { AGENT, BUDGET_TOKENS, type Predictor } from './predictors.ts';
import { randomOf } from './random.ts';

const NOTHING = { profile: null, facts: [], episodes: [], raw: [] };
/** Examples that a model is shown. */
const EXAMPLES = 8;
const WHO = { agent: AGENT, model: 'bench' };
/** The default of the interface. */
const THRESHOLD = 0.8;

/** Replies that are imported before the first prediction. */
const IMPORTED = 50;
/** The quality is measured when a person has decided on just so many predictions, on so many more that teach nothing. */
export const STAGES = [0, 20, 100] as const;
/** Precisions that a suggested threshold aims at. */
export const TARGETS = [0.8, 0.9, 0.95] as const;
/** Roughly: decisions without a candidate teach nothing, and are followed by more. */
export const predictionsOfLife = (probes: number) => Math.max(...STAGES) + STAGES.length * probes;
/** A person on whose predictions there is hardly anything to decide is given up after so many turns. */
const TURNS_MAX = 300;

/** One prediction, judged by what the person really replied. */
export interface Judged extends Outcome {
  predicted: boolean;
  auto: boolean;
}

/** What predictions are worth after so many decisions, and the thresholds that these decisions suggest, one for each target. */
export interface Stage {
  labels: number;
  thresholds: (number | null)[];
  judged: Judged[];
}

/** What the product knows of a person. The latest first, like its stores. */
export class Knowledge {
  readonly #pairs: Pair[] = [];
  readonly #decisions: Decision[] = [];
  readonly #labels: Label[] = [];
  readonly #outcomes: Outcome[] = [];
  #calibrator: Calibrator = calibrate([]);

  get labels(): number {
    return this.#labels.length;
  }

  get suggestedThresholds(): (number | null)[] {
    return TARGETS.map((target) => reliabilityOf(this.#outcomes, target).suggested_threshold);
  }

  async predict(prompt: string, predictor: Predictor): Promise<Decided> {
    const pairs = this.#pairs;
    const vote = voteOf(prompt, pairs);
    const examples = vote.neighbours.slice(0, EXAMPLES);
    const fitted = fitMaterial(prompt, { ...NOTHING, examples }, BUDGET_TOKENS);
    const { material, isDictated } = screen([prompt], fitted);
    return decideReply(await predictor(prompt, { vote, pairs, material }), {
      ...WHO,
      prompt,
      threshold: THRESHOLD,
      calibrator: this.#calibrator,
      isDictated,
      history: pairs.map((pair) => pair.reply),
      shareOf: vote.shareOf,
      isSupported: new Precedents(pairs, this.#decisions).on(prompt),
    });
  }

  remember({ prompt, reply }: Turn): void {
    this.#pairs.unshift({ id: String(this.#pairs.length).padStart(6, '0'), prompt, reply });
  }

  /** The person accepts what they would have sent, and edits anything else. */
  learn(turn: Turn, decided: Decided): void {
    this.remember(turn);
    const { features, confidence, response } = decided;
    const status = saysTheSame(response, turn.reply) ? 'accepted' : 'edited';
    const { label: right } = feedbackOf(decided, { status, actual_response: turn.reply });
    if (features === null || right === null) return;
    this.#decisions.unshift({ ...turn, isRejected: false });
    this.#labels.unshift({ features, ...WHO, right });
    this.#outcomes.unshift({ confidence, right });
    this.#calibrator = calibrate(this.#labels);
  }
}

/** Lives a person's life: imports what they replied before, then predicts, and learns from each decision. */
export async function live(
  { name, next }: Persona,
  seed: number,
  predictor: Predictor,
  probesOfStage: number,
): Promise<{ stages: Stage[]; known: Knowledge }> {
  const random = randomOf(seedOf(`${name}, life ${seed}`));
  const known = new Knowledge();
  for (let n = 0; n < IMPORTED; n += 1) known.remember(next(random));
  const stages: Stage[] = [];
  let turns = 0;
  for (const labels of STAGES) {
    for (; known.labels < labels && turns < TURNS_MAX; turns += 1) {
      const turn = next(random);
      known.learn(turn, await known.predict(turn.prompt, predictor));
    }
    if (known.labels < labels) break;
    const fresh = randomOf(seedOf(`${name}, life ${seed}, ${labels} labels`));
    const probes = Array.from({ length: probesOfStage }, () => next(fresh));
    stages.push({
      labels,
      thresholds: known.suggestedThresholds,
      judged: await Promise.all(probes.map((turn) => judge(turn, known, predictor))),
    });
  }
  return { stages, known };
}

async function judge({ prompt, reply }: Turn, known: Knowledge, predictor: Predictor): Promise<Judged> {
  const { response, confidence, status } = await known.predict(prompt, predictor);
  return {
    predicted: response !== '',
    auto: status === 'auto',
    confidence,
    right: saysTheSame(response, reply),
  };
}
