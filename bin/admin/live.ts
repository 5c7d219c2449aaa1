import { createApp, deleteKey, rotateKey, updateApp } from '../../shared/db/stores/apps.ts';
import { findRequest } from '../../shared/db/stores/work/find.ts';
import { LOCAL_MODEL } from '../../shared/domain/provider-call.ts';
import { requestKey } from '../../shared/domain/work.ts';
import type { ErrorCode } from '../../shared/errors/catalogue.ts';
import { newId } from '../../shared/ids.ts';
import { FEATURES } from '../../shared/schemas/apps.ts';
import { ingressAddressOf } from './arguments.ts';
import { type Finding, fault, fetchFailureOf, fine } from './checks.ts';
import type { Admin } from './command.ts';
import { complaintOf } from './provider-words.ts';

/** Part of a prediction's way: to the ingress, in it, waiting for a worker, or at the provider. */
type Stage = 'connection' | 'ingress' | 'queue' | 'provider';

export interface LiveFinding extends Finding {
  url: string;
  /** Null if there was no answer. */
  status: number | null;
  code: string | null;
  /** The stage that failed; null if none did. */
  stage: Stage | null;
  took_ms: number;
}

/** The doctor's own app. On the sandbox plan, its predictions are never invoiced and use up nobody else's units. */
const APP_ID = '00000000-0000-7000-8000-00000d0c7012';
const APP = { id: APP_ID, name: 'Doctor', redirectUris: [], plan: 'sandbox', capCents: null } as const;
/** Each run replaces the key of this app. The former key stays valid for so long, for a run that still uses it. */
const GRACE_S = 900;
const EXTRA_WAIT_MS = 5000;

/** Sends one real prediction through an ingress, the queue and the provider, with a new key of the doctor's app. */
export async function checkLive(admin: Admin, given: string | undefined): Promise<LiveFinding> {
  const url =
    given === undefined ? ingressAddressOf(admin.config.publicUrl) : ingressAddressOf(given, '--url');
  const key = await issueDoctorKey(admin);
  const since = performance.now();
  try {
    const requestId = newId();
    const answer = await predict(url, key, requestId, admin.config.predictionTimeoutMs + EXTRA_WAIT_MS);
    const took_ms = Math.round(performance.now() - since);
    return {
      url,
      took_ms,
      status: null,
      code: null,
      ...(await judgeAnswer(admin, answer, requestId, took_ms)),
    };
  } finally {
    await deleteKey(admin.em, key);
  }
}

async function issueDoctorKey({ em }: Admin): Promise<string> {
  const known = await updateApp(em, APP_ID, { active: true, plan: APP.plan, enable: FEATURES });
  const key = known && (await rotateKey(em, APP_ID, GRACE_S));
  return key ?? (await createApp(em, { ...APP, redirectUris: [] })).key;
}

type Answer = { status: number; code: string | null; state: string | null } | { unreachable: string };

async function predict(url: string, key: string, requestId: string, withinMs: number): Promise<Answer> {
  try {
    const response = await fetch(`${url}/v1/predictions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(requestId)),
      redirect: 'manual',
      signal: AbortSignal.timeout(withinMs),
    });
    const body: unknown = await response.json().catch(() => undefined);
    const { status: state = null, detail } = Object(body) as { status?: string; detail?: unknown };
    const { code = null } = Object(detail) as { code?: string };
    return { status: response.status, code, state };
  } catch (error) {
    return { unreachable: fetchFailureOf(error) };
  }
}

/** Builds a request whose id and session are new: no stored answer is returned, and no other run has a newer draft. */
function bodyOf(requestId: string): object {
  return {
    request_id: requestId,
    user_id: 'doctor',
    session_id: requestId,
    mode: 'complete_draft',
    draft: { text: 'Please summarise the quart', revision: 1 },
    context_revision: '1',
    messages: [{ role: 'user', content: 'Please summarise the quarterly sales report for the board' }],
  };
}

type Judgement = Finding & Pick<LiveFinding, 'stage'> & Partial<Pick<LiveFinding, 'status' | 'code'>>;

async function judgeAnswer(
  { database, config }: Admin,
  answer: Answer,
  requestId: string,
  tookMs: number,
): Promise<Judgement> {
  if ('unreachable' in answer) {
    const toDo = 'start the ingress, or give its address with --url';
    return { ...fault(`no answer (${answer.unreachable})`, toDo), stage: 'connection' };
  }
  const { status, code, state } = answer;
  if (status === 200 && state !== null) {
    // The prediction has just shown that the tab model answers.
    const words =
      config.defaultModel === config.tabModel
        ? undefined
        : await complaintOfModel(config, config.defaultModel);
    if (words !== undefined)
      return {
        ...fault(`${config.defaultModel}, which predicts replies: the provider says: ${words}`, MODEL_TO_DO),
        status,
        code,
        stage: 'provider',
      };
    return { ...fine(`a prediction was answered 200 (${state}) in ${tookMs} ms`), status, code, stage: null };
  }
  const found = `a prediction was answered ${status}${code === null ? '' : ` ${code}`} after ${tookMs} ms`;
  if (code === null) {
    const toDo = 'give the address of an ingress with --url: something else answered';
    return { ...fault(found, toDo), status, code, stage: 'connection' };
  }
  const outcome = await findRequest(database.pool, requestKey('predict', APP_ID, requestId));
  // A timeout does not name the stage. Work that no worker had started was still in the queue.
  const wasStarted = outcome?.state === 'running' || typeof outcome?.queueMs === 'number';
  const [stage, toDo] =
    code === 'prediction_timeout' ? timeoutRemedy(wasStarted) : (REMEDIES[code] ?? OTHER_REMEDY);
  const words = stage === 'provider' ? await complaintOfModel(config, config.tabModel) : undefined;
  const saying = words === undefined ? '' : `; the provider says: ${words}`;
  return { ...fault(`${found}; stage: ${stage}${saying}`, toDo), status, code, stage };
}

async function complaintOfModel(
  { openai }: Admin['config'],
  model: string | undefined,
): Promise<string | undefined> {
  if (openai === undefined || model === undefined || model === LOCAL_MODEL) return undefined;
  return complaintOf(openai, model);
}

const MODEL_TO_DO = 'correct DEFAULT_MODEL, or what the provider complains of';

type Remedy = readonly [stage: Stage, toDo: string];

const REMEDIES: Readonly<Record<string, Remedy>> = {
  invalid_app_key: [
    'ingress',
    "give the ingress and this command the same DATABASE_URL: the ingress does not know the doctor's key",
  ],
  sandbox_exhausted: [
    'ingress',
    "raise SANDBOX_UNITS: the doctor's app has used up its own units of this month",
  ],
  rate_limited: ['ingress', 'wait a second, then repeat it'],
  service_unavailable: ['ingress', 'read the log of the ingress: a store is out of reach, or it shuts down'],
  internal_error: ['ingress', "read the processes' logs at level 50: this is a defect"],
  overloaded: [
    'queue',
    'start workers of the pool predict: `admin queue list` shows how many live and what waits',
  ],
  provider_not_configured: ['provider', 'set or correct OPENAI_API_KEY of the workers, and restart them'],
  provider_rate_limited: ['provider', "raise the provider's limits, or set PROVIDER_CONCURRENCY"],
  provider_failed: [
    'provider',
    "check OPENAI_BASE_URL and DEFAULT_MODEL of the workers, and the line `provider failed` in the workers' log",
  ],
} satisfies Partial<Record<ErrorCode, Remedy>>;

const OTHER_REMEDY: Remedy = ['ingress', 'read the log of the ingress'];

function timeoutRemedy(wasStarted: boolean): Remedy {
  return wasStarted
    ? ['provider', "read the provider's status page; compare PROVIDER_TIMEOUT_MS and PREDICTION_TIMEOUT_MS"]
    : [
        'queue',
        'start workers of the pool predict, or `admin queue resume predict`: no worker has started it',
      ];
}
