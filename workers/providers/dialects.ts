import {
  ANSWER_FORMATS,
  type Chat,
  type Completion,
  type Dialect,
  LIMIT_PARAMETERS,
  OPTIONAL_PARAMETERS,
  type OptionalParameter,
  type Question,
} from './chat.ts';
import { type CallLimits, ProviderError, SHORTEST_CALL_MS } from './provider.ts';

/** A part of a dialect that a server can refuse. */
export type RefusedPart = 'format' | 'limit' | OptionalParameter;

/** The error of a server that does not know a parameter or the requested format. */
export class DialectRefused extends ProviderError {
  readonly part: RefusedPart;

  constructor(part: RefusedPart, message: string) {
    super('failed', message);
    this.part = part;
  }
}

/** Asks a question in the strictest format that the model's server accepts. */
export type AskModel = (question: Question, call: CallLimits) => Promise<Completion>;

const FIRST_DIALECT: Dialect = {
  format: ANSWER_FORMATS[0],
  limit: LIMIT_PARAMETERS[0],
  extras: OPTIONAL_PARAMETERS,
  thinks: false,
};

/**
 * Finds the dialect of each model's server. Not every server knows strict schemas, or the same parameters, and some
 * models think before they answer. If a dialect is refused, the next one is tried. If the answer is cut off, the same
 * dialect is tried with more tokens for thoughts. The dialect that worked and the need for more tokens are remembered
 * for each model while the process runs. A refusal alone is not remembered, since a person's text in a server's error
 * may look like a refusal.
 */
export function withBestDialect(chat: Chat): AskModel {
  const knownDialects = new Map<string, Dialect>();
  return async (question, call) => {
    const first = knownDialects.get(call.model) ?? FIRST_DIALECT;
    const until = performance.now() + call.timeoutMs;
    for (let dialect = first; ; ) {
      const timeoutMs = until - performance.now();
      try {
        const completion = await chat({ ...question, ...dialect }, { ...call, timeoutMs });
        const isCutOff = completion.state === 'cut_off' && question.thoughtTokens !== undefined;
        const wider = isCutOff && !dialect.thinks ? { ...dialect, thinks: true } : dialect;
        if (wider !== first) knownDialects.set(call.model, wider);
        if (wider === dialect || until - performance.now() < SHORTEST_CALL_MS) return completion;
        dialect = wider;
      } catch (error) {
        const next = error instanceof DialectRefused ? nextAfter(dialect, error.part) : undefined;
        if (next === undefined) throw error;
        dialect = next;
      }
    }
  };
}

function nextAfter(dialect: Dialect, refused: RefusedPart): Dialect | undefined {
  switch (refused) {
    case 'format': {
      const format = ANSWER_FORMATS[ANSWER_FORMATS.indexOf(dialect.format) + 1];
      return format && { ...dialect, format };
    }
    case 'limit': {
      const limit = LIMIT_PARAMETERS[LIMIT_PARAMETERS.indexOf(dialect.limit) + 1];
      return limit && { ...dialect, limit };
    }
    default:
      return { ...dialect, extras: dialect.extras.filter((extra) => extra !== refused) };
  }
}
