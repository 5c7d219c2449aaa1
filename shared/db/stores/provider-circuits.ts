import type { Pool } from 'pg';
import { query } from '../statement.ts';

/** Provider calls wait for the statements in this file. After this time, the worker decides without their results. */
const STATEMENT_TIMEOUT_MS = 1000;

/**
 * A worker blames single parties (apps or accounts) while at most 100 have failed calls. Storing one more shows that
 * there are more than 100.
 */
const STORED_PARTIES_MAX = 101;

export interface CircuitSettings {
  /** Hash of a provider's address. */
  provider: string;
  failuresToOpen: number;
  probeEveryMs: number;
}

/** Outcomes of calls to a model that a worker has seen since its last report. */
export interface CircuitNews {
  model: string;
  succeeded: boolean;
  /** Number of failures since the last success, or since the last report if no call succeeded. */
  failures: number;
  parties: readonly string[];
  fault: string;
  /** Pause that the provider has asked for. */
  pauseMs: number | null;
}

/** Circuit of a model, which all workers share. Times are in milliseconds from now; negative in the past. */
export interface CircuitState {
  model: string;
  failures: number;
  parties: readonly string[];
  fault: string;
  pausedMs: number | null;
  /** Time until the model may be probed; null while the circuit is closed. */
  probeMs: number | null;
}

const REPORT_CIRCUIT = {
  name: 'report_circuit_v1',
  text: `
    insert into provider_circuits as c (provider, model, failures, fault, paused_until, probe_at, parties)
    values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5::float8 / 1000),
            case when $3 >= $7::int then clock_timestamp() + make_interval(secs => $8::float8 / 1000) end, $9::text[])
    on conflict (provider, model) do update
       set failures = least(case when $6::bool then 0 else c.failures end + excluded.failures, 1000000),
           fault = excluded.fault,
           parties = array(select distinct p from unnest(case when not $6 then c.parties end || excluded.parties) p
                            limit ${STORED_PARTIES_MAX}),
           paused_until = greatest(c.paused_until, excluded.paused_until),
           probe_at =
             case when case when $6 then 0 else c.failures end + excluded.failures >= $7
                  then coalesce(case when not $6 then c.probe_at end,
                                clock_timestamp() + make_interval(secs => $8::float8 / 1000)) end
    returning failures`,
};

/** Adds a worker's report to the circuit. Returns the number of consecutive failures that all workers have reported. */
export async function reportCircuit(
  pool: Pool,
  { provider, failuresToOpen, probeEveryMs }: CircuitSettings,
  { model, failures, parties, fault, pauseMs, succeeded }: CircuitNews,
): Promise<number> {
  const values = [
    provider,
    model,
    failures,
    fault,
    pauseMs,
    succeeded,
    failuresToOpen,
    probeEveryMs,
    parties,
  ];
  const [row] = await query<{ failures: number }>(pool, REPORT_CIRCUIT, values, {
    withinMs: STATEMENT_TIMEOUT_MS,
  });
  return row?.failures ?? 0;
}

const READ_CIRCUITS = {
  name: 'read_circuits_v1',
  text: `
    select model, failures, parties, fault,
           (extract(epoch from paused_until - clock_timestamp()) * 1000)::float8 as "pausedMs",
           (extract(epoch from probe_at - clock_timestamp()) * 1000)::float8 as "probeMs"
      from provider_circuits where provider = $1`,
};

/** A model whose calls have never failed has no circuit. */
export function readCircuits(pool: Pool, { provider }: CircuitSettings): Promise<CircuitState[]> {
  return query<CircuitState & object>(pool, READ_CIRCUITS, [provider], { withinMs: STATEMENT_TIMEOUT_MS });
}

const CLAIM_PROBE = {
  name: 'probe_circuit_v3',
  // A `probe_at` more than one interval ahead (and 1 ms, for rounding) means that the clock was set back.
  text: `
    update provider_circuits set probe_at = clock_timestamp() + make_interval(secs => $3::float8 / 1000)
     where provider = $1 and model = $2
       and (probe_at <= clock_timestamp() or probe_at > clock_timestamp() + make_interval(secs => ($3::float8 + 1) / 1000))
    returning model`,
};

/** Claims the probe of an open circuit. Returns true to only one worker in each interval. */
export async function claimProbe(pool: Pool, settings: CircuitSettings, model: string): Promise<boolean> {
  const values = [settings.provider, model, settings.probeEveryMs];
  return (await query(pool, CLAIM_PROBE, values, { withinMs: STATEMENT_TIMEOUT_MS })).length > 0;
}

const COUNT_WORKERS = {
  name: 'count_workers_v1',
  text: `
    select count(*)::int as workers from processes
     where kind = 'worker' and pools <> '{}' and alive_until > clock_timestamp()`,
};

export async function countWorkers(pool: Pool): Promise<number> {
  const [row] = await query<{ workers: number }>(pool, COUNT_WORKERS, [], { withinMs: STATEMENT_TIMEOUT_MS });
  return row?.workers ?? 0;
}
