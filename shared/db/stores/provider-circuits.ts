import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** Statements that a call waits for. Longer than that, and the worker decides alone. */
const WITHIN_MS = 1000;

/** One more than the workers distinguish. */
const PARTIES_KEPT = 101;

/** Terms on which a circuit opens, and is probed while it is open. */
export interface CircuitTerms {
  /** Hash of a provider's address. */
  provider: string;
  failuresToOpen: number;
  probeEveryMs: number;
}

/** Calls of a model that a worker has seen since its last report. */
export interface CircuitNews {
  model: string;
  /** True if a call succeeded. */
  succeeded: boolean;
  /** Failures since then, or since the last report. */
  failures: number;
  /** Parties whose calls failed. */
  parties: readonly string[];
  fault: string;
  /** For how long the provider asked to be left alone; null: it did not. */
  pauseMs: number | null;
}

/** A model's circuit as all workers see it. Times are milliseconds from now, negative in the past. */
export interface CircuitState {
  model: string;
  failures: number;
  parties: readonly string[];
  fault: string;
  pausedMs: number | null;
  /** When it may be probed; null: it is closed. */
  probeMs: number | null;
}

const REPORT = {
  name: 'report_circuit_v1',
  text: `
    insert into provider_circuits as c (provider, model, failures, fault, paused_until, probe_at, parties)
    values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5::float8 / 1000),
            case when $3 >= $7::int then clock_timestamp() + make_interval(secs => $8::float8 / 1000) end, $9::text[])
    on conflict (provider, model) do update
       set failures = least(case when $6::bool then 0 else c.failures end + excluded.failures, 1000000),
           fault = excluded.fault,
           parties = array(select distinct p from unnest(case when not $6 then c.parties end || excluded.parties) p
                            limit ${PARTIES_KEPT}),
           paused_until = greatest(c.paused_until, excluded.paused_until),
           probe_at =
             case when case when $6 then 0 else c.failures end + excluded.failures >= $7
                  then coalesce(case when not $6 then c.probe_at end,
                                clock_timestamp() + make_interval(secs => $8::float8 / 1000)) end
    returning failures`,
};

/** Adds what a worker has seen. Returns the failures in a row that are known now. */
export async function reportCircuit(
  pool: Pool,
  { provider, failuresToOpen, probeEveryMs }: CircuitTerms,
  { model, failures, parties, fault, pauseMs, succeeded }: CircuitNews,
): Promise<number> {
  const terms = [failuresToOpen, probeEveryMs];
  const values = [provider, model, failures, fault, pauseMs, succeeded, ...terms, parties];
  const [row] = await query<{ failures: number }>(pool, REPORT, values, { withinMs: WITHIN_MS });
  return row?.failures ?? 0;
}

const READ = {
  name: 'read_circuits_v1',
  text: `
    select model, failures, parties, fault,
           (extract(epoch from paused_until - clock_timestamp()) * 1000)::float8 as "pausedMs",
           (extract(epoch from probe_at - clock_timestamp()) * 1000)::float8 as "probeMs"
      from provider_circuits where provider = $1`,
};

/** The circuits of a provider's models, as far as any ever failed. */
export function readCircuits(pool: Pool, { provider }: CircuitTerms): Promise<CircuitState[]> {
  return query<CircuitState & object>(pool, READ, [provider], { withinMs: WITHIN_MS });
}

const PROBE = {
  name: 'probe_circuit_v3',
  // Further off than one interval, and than what its column rounds, only after the clock has gone back.
  text: `
    update provider_circuits set probe_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
     where provider = $1 and model = $2
       and (probe_at <= clock_timestamp() or probe_at > clock_timestamp() + make_interval(secs => ($3::float8 + 1) / 1000))
    returning model`,
};

/** Claims the probe of an open circuit: of all workers one gets it, once per interval. */
export async function claimProbe(pool: Pool, terms: CircuitTerms, model: string): Promise<boolean> {
  const values = [terms.provider, model, terms.probeEveryMs];
  return (await query(pool, PROBE, values, { withinMs: WITHIN_MS })).length > 0;
}

const WORKERS = {
  name: 'count_workers_v1',
  text: `
    select count(*)::int as workers from processes
     where kind = 'worker' and pools <> '{}' and alive_until > clock_timestamp()`,
};

/** Counts the worker processes that serve a pool. */
export async function countWorkers(pool: Pool): Promise<number> {
  const [row] = await query<{ workers: number }>(pool, WORKERS, [], { withinMs: WITHIN_MS });
  return row?.workers ?? 0;
}
