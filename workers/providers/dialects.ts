import { type Chat, type Completion, type Dialect, FORMATS, LIMITS, type Question } from './chat.ts';
import { type Call, ProviderError } from './provider.ts';

/** The server does not know the format in which the answer was asked for, or the parameter that limits its tokens. */
export class DialectRefused extends ProviderError {
  readonly part: keyof Dialect;

  constructor(part: keyof Dialect, message: string) {
    super('failed', message);
    this.part = part;
  }
}

/** Asks a question in the strictest format that the model's server takes. */
export type Ask = (question: Question, call: Call) => Promise<Completion>;

const FIRST: Dialect = { format: FORMATS[0], limit: LIMITS[0] };

/**
 * Not every server knows strict schemas, or the same limit of tokens. What is refused is followed by the next one, and what
 * worked is remembered by model for as long as the process runs. What worked decides, not what was refused: a server may
 * quote a person's text in an error that looks like a refusal.
 */
export function inBestDialect(chat: Chat): Ask {
  const known = new Map<string, Dialect>();
  return async (question, call) => {
    const first = known.get(call.model) ?? FIRST;
    const until = performance.now() + call.timeoutMs;
    for (let dialect = first; ; ) {
      try {
        const completion = await chat(
          { ...question, ...dialect },
          { ...call, timeoutMs: until - performance.now() },
        );
        if (dialect !== first) known.set(call.model, dialect);
        return completion;
      } catch (error) {
        const next = error instanceof DialectRefused ? nextAfter(dialect, error.part) : undefined;
        if (next === undefined) throw error;
        dialect = next;
      }
    }
  };
}

function nextAfter({ format, limit }: Dialect, refused: keyof Dialect): Dialect | undefined {
  if (refused === 'format') {
    const looser = FORMATS[FORMATS.indexOf(format) + 1];
    return looser && { format: looser, limit };
  }
  const other = LIMITS[LIMITS.indexOf(limit) + 1];
  return other && { format, limit: other };
}
