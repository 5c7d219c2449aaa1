import { setTimeout as sleep } from 'node:timers/promises';
import type { PredictionResponse } from '../../shared/schemas/predictions.ts';
import { type AppClient, predictionBody, type Reply } from './client.ts';
import { delay, ok } from './fake-provider.ts';
import { type Load, startLoad } from './load.ts';
import { measureNoise, type Noise } from './noise.ts';
import { lockRow } from './row-lock.ts';
import type { System } from './system.ts';

type Answer = Reply<PredictionResponse>;

export interface AppCallers {
  app: AppClient;
  part?: object;
}

export interface HeldRow {
  table: string;
  where: string;
  values: string[];
  heldMs: number;
  victim: AppCallers;
  others: AppCallers[];
}

export interface HeldRowAnswers {
  /** The first `CALLS_IN_PROGRESS` answers are to calls that had reached the provider before the lock. */
  own: Answer[];
  /** The victim's first answer after the release. */
  first: Answer;
  /** Answers to the other apps, in the order of `HeldRow.others`. */
  others: { before: Answer[]; during: Answer[] }[];
  noise: Noise;
}

const SERVICE_MS = 400;
const CALM_MS = 2000;
const PAUSE_MS = 50;
const VICTIM_INTERVAL_MS = 500;
/** Number of the victim's calls in progress when the row is locked. */
const CALLS_IN_PROGRESS = 4;

export async function whileRowIsHeld(system: System, held: HeldRow): Promise<HeldRowAnswers> {
  const { victim } = held;
  const draft = { text: `Held ${victim.app.id} `, revision: 1 };
  const ask = () => victim.app.predict(predictionBody({ draft, ...victim.part }));
  system.provider.respond(delay(SERVICE_MS, ok()));
  const loads = held.others.map(startCallers);
  try {
    await sleep(CALM_MS);
    const callsBefore = loads.map(({ calls }) => calls.length);
    const own = Array.from({ length: CALLS_IN_PROGRESS }, ask);
    await untilAtProvider(system, draft.text, CALLS_IN_PROGRESS);
    const noise = measureNoise(victim.app);
    const lock = await lockRow(system, held.table, held.where, held.values);
    const disconnectedCall = victim.app
      .predict(predictionBody({ draft, ...victim.part }), {
        headers: { 'x-on-disconnect': 'cancel' },
        signal: AbortSignal.timeout(VICTIM_INTERVAL_MS),
      })
      .catch(() => {});
    for (const until = performance.now() + held.heldMs; performance.now() < until; ) {
      own.push(ask());
      await sleep(Math.max(0, Math.min(VICTIM_INTERVAL_MS, until - performance.now())));
    }
    await lock.release();
    const first = await ask();
    const answers = await Promise.all(own);
    await disconnectedCall;
    const calls = await Promise.all(loads.map((load) => load.stop()));
    await noise.stop();
    return {
      own: answers,
      first,
      noise,
      others: calls.map((all, n) => {
        const replies = all.map(({ reply }) => reply);
        return { before: replies.slice(0, callsBefore[n]), during: replies.slice(callsBefore[n]) };
      }),
    };
  } finally {
    for (const load of loads) void load.stop().catch(() => {});
  }
}

/** Returns the answers that are undocumented, or came more than a second after the deadline. */
export function undocumentedAnswers(own: readonly Answer[], deadlineMs: number): string[] {
  return own
    .filter(({ status, code = '', headers, tookMs }) => {
      if (tookMs > deadlineMs + 1000) return true;
      if (status === 503)
        return !(
          ['service_unavailable', 'overloaded'].includes(code) && Number(headers.get('retry-after')) >= 1
        );
      return status !== 200 && !(status === 504 && code === 'prediction_timeout');
    })
    .map(({ status, text, tookMs }) => `${status} ${text} after ${Math.round(tookMs)} ms`);
}

/** Runs two callers that pause a little, so that they measure the product and not the machine. */
function startCallers({ app, part }: AppCallers): Load {
  const ask = async (body: object) => {
    await sleep(PAUSE_MS);
    return app.predict({ ...body, ...part });
  };
  return startLoad(ask, { callers: 2 });
}

async function untilAtProvider({ provider }: System, draft: string, calls: number): Promise<void> {
  for (let n = 1; ; n += 1) {
    await provider.called(n);
    const draftCalls = provider.calls.slice(0, n).filter(({ record }) => record.draft === draft);
    if (draftCalls.length === calls) return;
  }
}
