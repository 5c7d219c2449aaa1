import { type Chat, type Completion, FORMATS, type Format, type Question } from './chat.ts';
import { type Call, ProviderError } from './provider.ts';

/** The server does not know the format in which the answer was asked for. */
export class FormatRefused extends ProviderError {
  constructor(message: string) {
    super('failed', message);
  }
}

/** Asks a question in the strictest format that the model's server takes. */
export type Ask = (question: Question, call: Call) => Promise<Completion>;

/**
 * Not every server knows strict schemas. A refused format is followed by the next one, and the one that worked is
 * remembered by model for as long as the process runs. What worked decides, not what was refused: a server may quote a
 * person's text in an error that looks like a refusal.
 */
export function inBestFormat(chat: Chat): Ask {
  const known = new Map<string, Format>();
  return async (question, call) => {
    const first = known.get(call.model) ?? FORMATS[0];
    const until = performance.now() + call.timeoutMs;
    for (let at = FORMATS.indexOf(first); ; at++) {
      const format = FORMATS[at] ?? 'text';
      try {
        const completion = await chat(
          { ...question, format },
          { ...call, timeoutMs: until - performance.now() },
        );
        if (format !== first) known.set(call.model, format);
        return completion;
      } catch (error) {
        if (!(error instanceof FormatRefused) || format === 'text') throw error;
      }
    }
  };
}
