import { workerConfig } from '../../shared/config/config.ts';
import { runMain } from '../../shared/lifecycle.ts';
import { defineKind } from '../../shared/work/kind.ts';
import { kinds as productKinds } from '../../shared/work/kinds.ts';
import { startWorker } from '../../workers/compose.ts';
import type { Allowance, Handler } from '../../workers/handler.ts';
import { createHandlers } from '../../workers/handlers/index.ts';
import { poolsOf } from '../../workers/services.ts';

export interface EchoFacts {
  askedBy: string;
}

export interface EchoReport {
  attempt: number;
  length: number;
}

/** A kind of the tests' own: it goes through a gate, then says again what it was told. */
export const echo = defineKind<EchoFacts, EchoReport>({
  name: 'echo',
  pool: 'memory',
  step: 1,
  charged: false,
  deadline: 'predictionTimeoutMs',
});

export const kinds = { ...productKinds, echo };

/** What an echo works on, as JSON. */
export interface EchoInput {
  text: string;
  /** Where the gate is. */
  gate: string;
}

/** Not an async function: what is wrong with its input it throws at once. */
const performEcho: Handler<typeof echo> = ({ input, attempt }, allowance) =>
  sayAgain(JSON.parse(input), attempt, allowance);

async function sayAgain({ text, gate }: EchoInput, attempt: number, { signal }: Allowance) {
  await fetch(gate, { method: 'POST', body: JSON.stringify(text), signal });
  return { state: 'echoed', answer: text, report: { attempt, length: text.length } };
}

// A worker that serves all pools, with this kind beside the product's.
if (import.meta.main)
  await runMain('echo', workerConfig, (config, log) =>
    startWorker(config, log, {
      kinds,
      pools: poolsOf(kinds, 'all') ?? [],
      createHandlers: (...parts) => ({ ...createHandlers(...parts), echo: performEcho }),
    }),
  );
