import { randomBytes } from 'node:crypto';
import { escapeInvisible } from '../../../shared/text/visible.ts';
import { AdminError } from '../admin-error.ts';
import { ingressAddressOf } from '../arguments.ts';
import { type Outcome, standaloneCommand } from '../command.ts';
import { withDatabase } from '../environment.ts';

const AGENT = 'coder';
const PROMPT = 'Shall I run the tests with coverage?';
const YES = 'yes, I always want coverage';
const REPLIES = [YES, YES, 'no, not today', YES, YES, 'no, not today', YES, YES];
const DAY_MS = 86_400_000;
const TIMEOUT_MS = 60_000;

interface Reply {
  id: string;
  status: string;
  candidates: { response: string; confidence: number }[];
}

type Call = <T>(path: string, body?: object) => Promise<T>;

/** Does the steps of docs/first-steps.md, "A reply in five commands", as a new person. */
export const demo = standaloneCommand({
  summary: 'Show a predicted reply: a new person records, remembers, asks, decides',
  synopsis: '[--url U]',
  options: { url: { type: 'string' } },
  read:
    ({ url }) =>
    async () =>
      show(
        url === undefined
          ? ingressAddressOf((await withDatabase(process.env))['PUBLIC_URL'])
          : ingressAddressOf(url, '--url'),
      ),
});

async function show(address: string): Promise<Outcome> {
  const run = randomBytes(4).toString('hex');
  const person = { email: `demo-${run}@example.com`, password: randomBytes(12).toString('base64url') };
  const { access } = await callerOf(address)<{ access: string }>('auth/signup/', person);
  const call = callerOf(address, access);

  await call('recording/events/', eventsOf(run));
  for (const step of ['sync/', 'promote/episodes/', 'promote/facts/']) await call(`memory/${step}`, {});
  const { results } = await call<{ results: { text: string }[] }>('memory/facts/');
  const asked = await call<Reply>('predictions/predict/', question(run));
  const read = await call<Reply>(`predictions/${asked.id}/`);
  await call(`predictions/${asked.id}/feedback/`, { status: 'accepted' });
  const again = await call<Reply>('predictions/predict/', question(run));

  const facts = results.map(({ text }) => text);
  const before = read.candidates.map(({ confidence, response }) => `${confidence} ${response}`);
  const after = again.candidates[0]?.confidence ?? 0;
  const text = `${person.email} is a new person at ${address}.

1. Record what an agent asked and the person replied, on eight days
   POST /api/recording/events/
2. Promote: events become rows of memory, episodes, and facts
   POST /api/memory/sync/, /api/memory/promote/episodes/, /api/memory/promote/facts/
${facts.map((fact) => `     ${escapeInvisible(fact)}\n`).join('')}3. Ask what the person would reply to "${PROMPT}"
   POST /api/predictions/predict/
4. Read the candidates: ${read.status === 'auto' ? 'auto, so the agent may act' : 'escalated, so the agent asks the person'}
   GET /api/predictions/<id>/
${before.map((candidate) => `     ${escapeInvisible(candidate)}\n`).join('')}5. Decide, and ask again: the decision calibrates the next confidence
   POST /api/predictions/<id>/feedback/
     ${after}

See it in ${address}/console/, with the password ${person.password}`;
  return { data: { ...person, facts, status: read.status, candidates: read.candidates, after }, text };
}

/** Ends yesterday. Session ids are unique in an installation, so they name the run. */
function eventsOf(run: string): object[] {
  return REPLIES.flatMap((reply, i) => {
    const askedAt = Date.now() - (REPLIES.length - i) * DAY_MS;
    const common = { agent: AGENT, session_id: `demo-${run}-${i}`, source: 'demo' };
    const at = (ms: number) => new Date(askedAt + ms).toISOString();
    const ask = `ask-${i}`;
    return [
      { ...common, id: ask, type: 'agent.prompt', prompt: PROMPT, occurred_at: at(0) },
      {
        ...common,
        id: `reply-${i}`,
        type: 'user.reply',
        reply,
        in_reply_to: ask,
        occurred_at: at(30_000),
      },
    ];
  });
}

function question(run: string): object {
  return { agent: AGENT, agent_input: PROMPT, session_id: `demo-${run}-today`, k: 2 };
}

function callerOf(address: string, access?: string): Call {
  return async <T>(path: string, body?: object) => {
    const url = `${address}/api/${path}`;
    const response = await fetch(url, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        'content-type': 'application/json',
        ...(access !== undefined && { authorization: `Bearer ${access}` }),
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => {
      throw new AdminError(
        `no ingress answers at ${address}: run \`npm start\`, or give its address with --url`,
      );
    });
    if (response.ok) return (await response.json()) as T;
    const { code, message } = Object(Object(await response.json().catch(() => ({}))).detail);
    throw new AdminError(`${url} answered ${response.status} ${code ?? ''}: ${message ?? 'see its log'}`);
  };
}
