import { workerConfig } from '../../shared/config/config.ts';
import { runMain } from '../../shared/lifecycle.ts';
import { defineKind } from '../../shared/work/kind.ts';
import { kinds as productKinds } from '../../shared/work/kinds.ts';
import { startWorker } from '../../workers/compose.ts';
import { createHandlers } from '../../workers/handlers/index.ts';
import { poolsOf } from '../../workers/services.ts';
import type { Allowance, Handler } from '../../workers/work/handler.ts';

export interface EchoFacts {
  askedBy: string;
}

export interface EchoReport {
  attempt: number;
  length: number;
}

/** A kind of the tests' own: it goes through a gate, then returns its input. */
export const echo = defineKind<EchoFacts, EchoReport>({
  name: 'echo',
  pool: 'memory',
  parties: 'accounts',
  charged: false,
  deadline: 'predictionTimeoutMs',
  codes: { timeout: 'job_timeout', cancelled: 'job_cancelled' },
  outlivesCallers: true,
  oneAtATime: false,
});

/** The same, but a party has one running at a time. */
export const echoInTurn = defineKind<EchoFacts, EchoReport>({
  ...echo,
  name: 'echoInTurn',
  oneAtATime: true,
});

export const kinds = { ...productKinds, echo, echoInTurn };

/** What an echo works on, as JSON. */
export interface EchoInput {
  text: string;
  /** Where the gate is. */
  gate: string;
}

/** Not an async function: it throws synchronously on bad input. */
const performEcho: Handler<typeof echo> = ({ input, attempt }, allowance) =>
  sayAgain(JSON.parse(input), attempt, allowance);

async function sayAgain({ text, gate }: EchoInput, attempt: number, { signal }: Allowance) {
  await fetch(gate, { method: 'POST', body: JSON.stringify(text), signal });
  return { state: 'echoed', answer: text, report: { attempt, length: text.length } };
}

// A worker that serves all pools, with this kind added to the product's.
if (import.meta.main)
  await runMain('echo', workerConfig, (config, log) =>
    startWorker(config, log, {
      kinds,
      pools: poolsOf(kinds, 'all') ?? [],
      createHandlers: (...parts) => ({
        ...createHandlers(...parts),
        echo: performEcho,
        echoInTurn: performEcho,
      }),
    }),
  );
