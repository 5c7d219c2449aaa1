import { type CalibratorModel, fitCalibrator, type Label } from '../../shared/domain/replies/calibrator.ts';
import { decideReply, type ReplyDecision } from '../../shared/domain/replies/decide.ts';
import { fitMaterial } from '../../shared/domain/replies/material.ts';
import { questionIn } from '../../shared/domain/replies/question.ts';
import {
  type ConfidenceOutcome,
  feedbackOf,
  reliabilityOf,
} from '../../shared/domain/replies/reliability.ts';
import { type PersonDecision, Precedents } from '../../shared/domain/replies/support.ts';
import { createVoter, type PromptReply } from '../../shared/domain/replies/vote.ts';
import { haveSameMeaning } from '../../shared/text/meaning.ts';
import { screenMaterial } from '../../workers/replies/screen.ts';
import { seedOf } from '../memory/random.ts';
import type { Persona, Turn } from './personas.ts';
import { AGENT, BUDGET_TOKENS, type Predictor } from './predictors.ts';
import { randomOf } from './random.ts';

const EMPTY_MEMORY = { profile: null, facts: [], episodes: [], raw: [] };
const EXAMPLES_MAX = 8;
const LABEL_ORIGIN = { agent: AGENT, model: 'bench' };
/** Default threshold of the API. */
const THRESHOLD = 0.8;

const IMPORTED_REPLIES = 50;
/** Numbers of decisions after which the quality is measured, on further predictions that teach nothing. */
export const STAGES = [0, 20, 100] as const;
export const PRECISION_TARGETS = [0.8, 0.9, 0.95] as const;
/** Estimates the predictions in a life; there are a few more, since those without a candidate teach nothing. */
export const predictionsOfLife = (probes: number) => Math.max(...STAGES) + STAGES.length * probes;
/** Number of turns after which to give up on a person who gets hardly any predictions to decide on. */
const TURNS_MAX = 300;

export interface JudgedPrediction extends ConfidenceOutcome {
  predicted: boolean;
  auto: boolean;
}

/** Predictions after a number of decisions, and the thresholds that these decisions suggest, one per target. */
export interface Stage {
  labels: number;
  thresholds: (number | null)[];
  judged: JudgedPrediction[];
}

/** The product's knowledge of a person, latest first, as in its stores. */
export class Knowledge {
  readonly #pairs: PromptReply[] = [];
  readonly #decisions: PersonDecision[] = [];
  readonly #labels: Label[] = [];
  readonly #outcomes: ConfidenceOutcome[] = [];
  #calibrator: CalibratorModel = fitCalibrator([]);
  /** Made of all that is known, for as long as nothing is added. */
  #made: { voteOn: ReturnType<typeof createVoter>; precedents: Precedents } | undefined;

  get labels(): number {
    return this.#labels.length;
  }

  get suggestedThresholds(): (number | null)[] {
    return PRECISION_TARGETS.map((target) => reliabilityOf(this.#outcomes, target).suggested_threshold);
  }

  async predict(prompt: string, predictor: Predictor): Promise<ReplyDecision> {
    const pairs = this.#pairs;
    this.#made ??= { voteOn: createVoter(pairs), precedents: new Precedents(pairs, this.#decisions) };
    const { voteOn, precedents } = this.#made;
    const vote = voteOn(prompt);
    const examples = vote.neighbours.slice(0, EXAMPLES_MAX);
    const fitted = fitMaterial(prompt, { ...EMPTY_MEMORY, examples }, BUDGET_TOKENS);
    const { material, isDictated } = await screenMaterial([prompt], fitted);
    return decideReply(await predictor(prompt, { vote, pairs, material }), {
      ...LABEL_ORIGIN,
      prompt,
      threshold: THRESHOLD,
      isKey: false,
      calibrator: this.#calibrator,
      isDictated,
      history: pairs.map((pair) => pair.reply),
      shareOf: vote.shareOf,
      supportOf: precedents.supportFor(prompt),
    });
  }

  remember({ prompt, reply }: Turn): void {
    this.#made = undefined;
    const id = String(this.#pairs.length).padStart(6, '0');
    this.#pairs.unshift({ id, promptId: `prompt ${id}`, prompt, reply, on: '', at: this.#pairs.length });
  }

  /** Lets the person decide: they accept a response that they would have sent, and edit any other. */
  learn(turn: Turn, decided: ReplyDecision): void {
    this.remember(turn);
    const { features, confidence, response } = decided;
    const status = isRight(response, turn) ? 'accepted' : 'edited';
    const prediction = { ...decided, agentInput: turn.prompt };
    const { label: right } = feedbackOf(prediction, { status, actual_response: turn.reply });
    if (features === null || right === null) return;
    this.#decisions.unshift({
      ...turn,
      id: String(this.#labels.length),
      isRejected: false,
      at: this.#pairs.length,
      objectsTo: null,
    });
    this.#labels.unshift({ features, ...LABEL_ORIGIN, right });
    this.#outcomes.unshift({ confidence, right });
    this.#calibrator = fitCalibrator(this.#labels);
  }
}

export async function live(
  { name, next }: Persona,
  seed: number,
  predictor: Predictor,
  probesOfStage: number,
): Promise<{ stages: Stage[]; known: Knowledge }> {
  const random = randomOf(seedOf(`${name}, life ${seed}`));
  const known = new Knowledge();
  for (let n = 0; n < IMPORTED_REPLIES; n += 1) known.remember(next(random));
  const stages: Stage[] = [];
  let turns = 0;
  for (const labels of STAGES) {
    for (; known.labels < labels && turns < TURNS_MAX; turns += 1) {
      const turn = next(random);
      known.learn(turn, await known.predict(turn.prompt, predictor));
    }
    if (known.labels < labels) break;
    const probeRandom = randomOf(seedOf(`${name}, life ${seed}, ${labels} labels`));
    const probes = Array.from({ length: probesOfStage }, () => next(probeRandom));
    stages.push({
      labels,
      thresholds: known.suggestedThresholds,
      judged: await Promise.all(probes.map((turn) => judge(turn, known, predictor))),
    });
  }
  return { stages, known };
}

function isRight(response: string, { prompt, reply }: Turn): boolean {
  return haveSameMeaning(response, reply, questionIn(prompt).question);
}

async function judge(turn: Turn, known: Knowledge, predictor: Predictor): Promise<JudgedPrediction> {
  const { response, confidence, status } = await known.predict(turn.prompt, predictor);
  return {
    predicted: response !== '',
    auto: status === 'auto',
    confidence,
    right: isRight(response, turn),
  };
}
