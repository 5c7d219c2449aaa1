import type { CallOutcome } from '../domain/provider-call.ts';
import { counter, gauge, histogram, onScrape } from './registry.ts';

const callDurations = histogram(
  'forecue_provider_call_duration_seconds',
  'Duration of requests to the provider, by outcome.',
  ['model', 'outcome'],
);
const tokenCounter = counter(
  'forecue_provider_tokens_total',
  'Tokens as the provider counts them; cached ones are part of the input.',
  ['model', 'type'],
);
const costCounter = counter('forecue_provider_cost_dollars_total', 'Cost by MODEL_PRICES, in US dollars.', [
  'model',
]);
const circuitOpenGauge = gauge(
  'forecue_provider_circuit_open',
  '1 while the circuit breaker of a model is open.',
  ['model'],
);
const pauseGauge = gauge(
  'forecue_provider_pause_seconds',
  'Seconds left of the pause that the provider asked for.',
  ['model'],
);

const MICROCENTS_PER_DOLLAR = 100_000_000;

interface ProviderCall {
  model: string;
  outcome: CallOutcome;
  usage: { inputTokens: number; outputTokens: number; cachedTokens: number };
  /** Millionths of a cent; null for a model without a price. */
  cost: number | null;
  latencyMs: number;
}

export function observeCall({ model, outcome, usage, cost: microcents, latencyMs }: ProviderCall): void {
  callDurations.observe({ model, outcome }, latencyMs / 1000);
  tokenCounter.inc({ model, type: 'input' }, usage.inputTokens);
  tokenCounter.inc({ model, type: 'cached_input' }, usage.cachedTokens);
  tokenCounter.inc({ model, type: 'output' }, usage.outputTokens);
  if (microcents !== null) costCounter.inc({ model }, microcents / MICROCENTS_PER_DOLLAR);
}

export function watchCircuits(
  circuits: ReadonlyMap<string, { readonly isOpen: boolean; readonly pausedMs: number }>,
): { close(): void } {
  return onScrape(() =>
    [...circuits].flatMap(([model, { isOpen, pausedMs }]) => [
      [circuitOpenGauge, Number(isOpen), { model }] as const,
      [pauseGauge, pausedMs / 1000, { model }] as const,
    ]),
  );
}
