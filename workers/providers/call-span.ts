import type { CallOutcome } from '../../shared/domain/provider-call.ts';
import { describeSpan, failSpan, inSpan } from '../../shared/tracing/span.ts';
import type { ChatRequest, Completion } from './chat.ts';
import type { Call, Usage } from './provider.ts';

/** Sends a request within a span, by the GenAI conventions of OpenTelemetry, without any text of it. */
export function inCallSpan(
  { format, maxTokens }: ChatRequest,
  { model }: Call,
  send: () => Promise<Completion>,
): Promise<Completion> {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': maxTokens,
    'gen_ai.output.type': format === 'text' ? 'text' : 'json',
  };
  return inSpan(`chat ${model}`, { kind: 'CLIENT', attributes }, send);
}

const FINISH: Partial<Record<CallOutcome, string>> = {
  answered: 'stop',
  cut_off: 'length',
  refused: 'content_filter',
};

/** Describes how the call ended. `usage` is null where the provider did not report it. */
export function describeCall(outcome: CallOutcome, usage: Usage | null, answeredBy?: string): void {
  const finish = FINISH[outcome];
  describeSpan({
    'gen_ai.response.model': answeredBy,
    'gen_ai.response.finish_reasons': finish === undefined ? undefined : [finish],
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'forecue.provider.outcome': outcome,
  });
  // A call that its caller cancelled has not failed.
  if (finish === undefined && outcome !== 'aborted') failSpan(outcome);
}
