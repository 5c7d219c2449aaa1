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

export type RefusedPart = 'format' | 'limit' | readonly OptionalParameter[];

/** Thrown if a server does not accept a parameter or the requested format. */
export class DialectRefused extends ProviderError {
  readonly part: RefusedPart;

  constructor(part: RefusedPart, message: string) {
    super('failed', message);
    this.part = part;
  }
}

export type AskModel = (question: Question, call: CallLimits) => Promise<Completion>;

const FIRST_DIALECT: Dialect = {
  format: ANSWER_FORMATS[0],
  limit: LIMIT_PARAMETERS[0],
  extras: OPTIONAL_PARAMETERS,
  thinks: false,
};

/**
 * After a refusal, tries the next dialect. If the answer to a question with `thoughtTokens` is cut off and unusable,
 * tries the same dialect with room for thoughts. Remembers for each model the dialect that got an answer, and the need
 * for room. Does not remember a refusal alone: a server's error may quote a person's text that looks like a refusal.
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
        const needsRoom =
          completion.state === 'cut_off' &&
          question.thoughtTokens !== undefined &&
          !question.isUsable?.(completion.text);
        const wider = needsRoom && !dialect.thinks ? { ...dialect, thinks: true } : dialect;
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
      return { ...dialect, extras: dialect.extras.filter((extra) => !refused.includes(extra)) };
  }
}
