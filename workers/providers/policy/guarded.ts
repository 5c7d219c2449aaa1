import type { Chat } from '../chat.ts';
import { DialectRefused } from '../dialects.ts';
import { ProviderError } from '../provider.ts';
import type { ProviderPolicy } from './policy.ts';

/** Sends what the policy allows, and reports to it what came of it. */
export function guarded(chat: Chat, policy: ProviderPolicy): Chat {
  return async (request, call) => {
    const until = performance.now() + call.timeoutMs;
    const leave = await policy.enter(call, until);
    const sent = { ...call, timeoutMs: until - performance.now() };
    try {
      if (sent.timeoutMs <= 0) throw new ProviderError('timeout', 'not called: no time left');
      const completion = await chat(request, sent);
      policy.succeeded(sent);
      return completion;
    } catch (error) {
      // It answers; else the probe of an open circuit would never get to the dialect that the server takes.
      if (error instanceof DialectRefused) policy.succeeded(sent);
      else policy.failed(sent, error);
      throw error;
    } finally {
      leave();
    }
  };
}
