import type { DraftResponse } from '../../../shared/schemas/drafts.ts';
import type { PredictionResponse } from '../../../shared/schemas/predictions.ts';
import type { System } from '../system.ts';
import type { Calls, Request } from './calls.ts';
import { type CountingProvider, numberIn } from './provider.ts';

/** Sums of a trial. Those of a pair are equal, unless `Calls` has a violation. */
export interface Books {
  suggested: number;
  settled: number;
  replies: number;
  /** Suggestions that the provider has sent for predictions that ended otherwise, or with another one. */
  unused: number;
  /** Answered calls that a killed worker did not book. */
  unbooked: number;
}

type AppSums = { party: string } & Record<'suggested' | 'abstained' | 'cancelled' | 'settled', number>;

const APP_SUMS = `
  with ended as (
    select party, count(*) filter (where state = 'suggested')::int as suggested,
           count(*) filter (where state = 'abstained')::int as abstained,
           count(*) filter (where state = 'cancelled')::int as cancelled,
           count(distinct id) filter (where state in ('suggested', 'abstained', 'cancelled'))::int as ids
      from history where kind = 'predict' group by party)
  select ended.*, (select sum(u.settled)::int from usage u where u.app_id = party) as settled,
         (select sum(u.reserved)::int from usage u where u.app_id = party) as reserved
    from ended`;

/** Compares what callers were told with what is stored, and both with what the provider says that it has sent. */
export async function audit(
  system: Pick<System, 'sql'>,
  calls: Calls,
  provider: CountingProvider,
  accounts: readonly { party: { id: string }; recorded: Set<string> }[],
): Promise<Books> {
  const cite = citations(calls, provider);
  for (const request of calls.requests) checkOutcome(request, calls, provider, cite);
  const apps = await system.sql<AppSums>(APP_SUMS);
  const asked = Map.groupBy(
    calls.requests.filter(({ kind }) => kind === 'prediction'),
    ({ party }) => party.id,
  );
  for (const { party, ...stored } of apps) {
    const told = sumsOf(asked.get(party) ?? []);
    if (JSON.stringify(stored) !== JSON.stringify({ ...told, settled: told.suggested, reserved: 0 }))
      calls.violate('books', `app ${party}: stored ${JSON.stringify(stored)}, told ${JSON.stringify(told)}`);
  }
  const replies = await checkReplies(system, calls, cite);
  for (const { party, recorded } of accounts) await checkMemory(system, calls, party.id, recorded);
  const [sums] = await system.sql<{ live: number; booked: number }>(
    `select (select count(*) from work)::int as live,
            (select count(*) from provider_calls
              where outcome = 'answered' and kind in ('predict', 'draft', 'reply', 'batch_reply'))::int as booked`,
  );
  const { live = 0, booked = 0 } = sums ?? {};
  if (live > 0) calls.violate('hung', `${live} rows are live`);
  const sent = provider.suggestions.size + provider.emptyAnswers;
  if (booked > sent) calls.violate('books', `${booked} calls are booked as answered, ${sent} were`);
  const sum = (key: 'suggested' | 'settled') => apps.reduce((all, app) => all + app[key], 0);
  return {
    suggested: sum('suggested'),
    settled: sum('settled'),
    replies,
    unused: provider.suggestions.size - cite.cited.size,
    unbooked: sent - booked,
  };
}

/** Checks that each text is one that the provider has sent for its question, and none is there twice. */
function citations(calls: Calls, { suggestions }: CountingProvider) {
  const cited = new Map<number, string>();
  const cite = (text: string, mark: string | undefined): void => {
    const number = numberIn(text);
    if (suggestions.get(number) !== mark)
      calls.violate('not from the provider', `${mark}: ${text}, ${suggestions.get(number)}`);
    if (cited.has(number)) calls.violate('doubled', `${text} for ${mark} and ${cited.get(number)}`);
    cited.set(number, `${mark}`);
  };
  return Object.assign(cite, { cited });
}

function checkOutcome(
  { kind, mark = '', outcome, told }: Request,
  calls: Calls,
  { abstentions }: CountingProvider,
  cite: (text: string, mark: string) => void,
): void {
  if (outcome === undefined) {
    if (kind !== 'draft') calls.violate('lost', `${kind} ${mark}`);
    return;
  }
  const isAnswer = outcome.startsWith('{');
  if (told === 'cancelled' && isAnswer) calls.violate('two outcomes', `cancelled, then ${outcome}`);
  if (['suggested', 'abstained', 'succeeded'].includes(told ?? '') && !isAnswer)
    calls.violate('two outcomes', `${told}, then ${outcome}`);
  if (!isAnswer || (kind !== 'prediction' && kind !== 'draft')) return;
  const { status, completion }: PredictionResponse | DraftResponse = JSON.parse(outcome);
  if (status === 'suggested') cite(completion, mark);
  else if (!abstentions.has(mark)) calls.violate('not from the provider', `${mark} abstained`);
}

function sumsOf(requests: readonly Request[]) {
  const sums = { suggested: 0, abstained: 0, cancelled: 0 };
  for (const { outcome = '' } of requests) {
    if (outcome.startsWith('499')) sums.cancelled += 1;
    else if (outcome.startsWith('{')) sums[(JSON.parse(outcome) as PredictionResponse).status] += 1;
  }
  return { ...sums, ids: sums.suggested + sums.abstained + sums.cancelled };
}

/** Checks every reply, those of batches too. Returns the number of those that were predicted. */
async function checkReplies(
  system: Pick<System, 'sql'>,
  calls: Calls,
  cite: (text: string, mark: string | undefined) => void,
): Promise<number> {
  const rows = await system.sql<Record<'agent_input' | 'status' | 'error' | 'response', string>>(
    'select agent_input, status, error, response from replies',
  );
  const predicted = rows.filter(({ error }) => error === null);
  for (const { agent_input, status, response } of predicted) {
    if (status === 'pending') calls.violate('hung', `the reply to ${agent_input} is pending`);
    else cite(response, /report (\d+)/.exec(agent_input)?.[1]);
  }
  const inputs = new Set(predicted.map((row) => row.agent_input));
  if (inputs.size < predicted.length)
    calls.violate('doubled', `${predicted.length - inputs.size} prompts have two replies`);
  return predicted.length;
}

async function checkMemory(
  { sql }: Pick<System, 'sql'>,
  calls: Calls,
  account: string,
  recorded: Set<string>,
): Promise<void> {
  const rows = await sql<{ event_id: string }>(
    'select event_id from raw_memories where account_id = $1 and event_id is not null',
    [account],
  );
  const synced = new Set(rows.map((row) => row.event_id));
  if (synced.size < rows.length)
    calls.violate('doubled', `${rows.length - synced.size} events are raw rows twice`);
  const missing = [...recorded].filter((id) => !synced.has(id));
  if (missing.length > 0) calls.violate('lost', `${missing.length} events are no raw rows`);
}
