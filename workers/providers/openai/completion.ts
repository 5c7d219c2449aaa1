import type { Completion } from '../chat.ts';
import { ProviderError, type Usage } from '../provider.ts';

/** More than any model reads or writes at once: a larger count is a provider's bug. */
const TOKENS_MAX = 100_000_000;

/** Reads the body of a 200, which the SDK types but does not check. Throws a `ProviderError` when it is no completion. */
export function readCompletion(body: unknown): Completion {
  const choice = field(field(body, 'choices'), 0);
  const message = field(choice, 'message');
  const usage = readUsage(field(body, 'usage'));
  if (!isRecord(message)) throw unusable('no message', isRecord(field(body, 'usage')) ? usage : null);
  const { content, refusal } = message;
  const finish = field(choice, 'finish_reason');
  if (finish === 'length') return { state: 'cut_off', usage };
  if (finish === 'content_filter' || (typeof refusal === 'string' && refusal !== ''))
    return { state: 'refused', usage };
  const text = content ?? '';
  if (typeof text !== 'string') throw unusable('content is no text', usage);
  return { state: 'written', text, usage };
}

function unusable(why: string, charged: Usage | null): ProviderError {
  return new ProviderError('failed', `unusable answer: ${why}`, { charged });
}

function readUsage(usage: unknown): Usage {
  return {
    inputTokens: tokens(field(usage, 'prompt_tokens')),
    outputTokens: tokens(field(usage, 'completion_tokens')),
  };
}

function tokens(value: unknown): number {
  const plausible = Number.isInteger(value) && Number(value) >= 0 && Number(value) <= TOKENS_MAX;
  return plausible ? Number(value) : 0;
}

function isRecord(value: unknown): value is Record<string | number, unknown> {
  return typeof value === 'object' && value !== null;
}

function field(value: unknown, name: string | number): unknown {
  return isRecord(value) ? value[name] : undefined;
}
