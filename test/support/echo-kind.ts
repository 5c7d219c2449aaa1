import Type, { type Static } from 'typebox';
import { workerConfig } from '../../shared/config/config.ts';
import { runMain } from '../../shared/process/lifecycle.ts';
import { closedObject } from '../../shared/schemas/build.ts';
import type { Kind } from '../../shared/work/kind.ts';
import { kinds as productKinds } from '../../shared/work/kinds.ts';
import { poolsOf, startWorker } from '../../workers/compose.ts';
import { createHandlers } from '../../workers/handlers.ts';
import type { Handler, HandlerContext } from '../../workers/work/handler.ts';

export interface EchoFacts {
  askedBy: string;
}

export interface EchoReport {
  attempt: number;
  length: number;
}

const EchoInput = closedObject({ text: Type.String(), gate: Type.String() });
export type EchoInput = Static<typeof EchoInput>;

/** A kind of work for tests: it passes a gate, then returns its input. */
export const echo: Kind<typeof EchoInput, EchoFacts, EchoReport> = {
  name: 'echo',
  input: EchoInput,
  pool: 'memory',
  parties: 'accounts',
  costs: null,
  deadline: 'predictionTimeoutMs',
  codes: { timeout: 'job_timeout', cancelled: 'job_cancelled' },
  outlivesCallers: true,
  oneAtATime: false,
};

export const echoInTurn: Kind<typeof EchoInput, EchoFacts, EchoReport> = {
  ...echo,
  name: 'echoInTurn',
  oneAtATime: true,
};

export const kinds = { ...productKinds, echo, echoInTurn };

/** Performs an echo. Is not async, so that it throws synchronously on bad input. */
const performEcho: Handler<typeof echo> = ({ input, attempt }, allowance) => {
  const asked = input.take();
  if (asked.text === '') throw new Error('nothing to say');
  return sayAgain(asked, attempt, allowance);
};

async function sayAgain({ text, gate }: EchoInput, attempt: number, { signal }: HandlerContext) {
  await fetch(gate, { method: 'POST', body: JSON.stringify(text), signal });
  return { state: 'echoed', answer: text, report: { attempt, length: text.length } };
}

// When started as a process, serves all pools, with these two kinds added to the product's.
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
