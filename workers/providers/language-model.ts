import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { predictionQuestion, readAnswer } from '../predictions/prompt.ts';
import { readStructured } from './answer.ts';
import type { Completion, Question } from './chat.ts';
import type { AskModel } from './dialects.ts';
import {
  type CallLimits,
  type ChatMessage,
  type Guess,
  isOutage,
  NO_USAGE,
  type Provider,
  ProviderError,
  SHORTEST_CALL_MS,
  type StructuredAnswer,
  type StructuredQuestion,
  type Usage,
} from './provider.ts';

const FAULTS_SHOWN_MAX = 3;
/** Maximum length of the malformed answer that is quoted when the model is asked again, in UTF-16 units. */
const QUOTED_CHARS_MAX = 20_000;

type CountedCompletion = Completion & { usage: Usage; model: string };

type AskWithFallback = (question: Question, call: CallLimits) => Promise<CountedCompletion>;

/**
 * Asks the requested model, then the others in order, while the provider has an outage and there is time. If no model
 * answers, throws the first model's error.
 */
export function withFallback(ask: AskModel, others: readonly string[]): AskWithFallback {
  return async (question, call) => {
    const until = performance.now() + call.timeoutMs;
    let firstError: unknown;
    for (const model of new Set([call.model, ...others])) {
      const timeoutMs = until - performance.now();
      if (firstError !== undefined && timeoutMs < SHORTEST_CALL_MS) break;
      try {
        const completion = await ask(question, { ...call, model, timeoutMs });
        return { ...completion, usage: completion.usage ?? NO_USAGE, model };
      } catch (error) {
        if (!isOutage(error)) throw firstError ?? error;
        firstError ??= error;
      }
    }
    throw firstError;
  };
}

export class LanguageModel implements Provider {
  readonly #ask: AskWithFallback;

  constructor(ask: AskWithFallback) {
    this.#ask = ask;
  }

  /**
   * Abstains if the answer is refused, filtered or empty. Throws if it has no usable text: a repair would take too
   * long.
   */
  async predict(task: PredictionTask, call: CallLimits): Promise<Guess> {
    const response = await this.#ask(predictionQuestion(task), call);
    const { usage, model } = response;
    const isCutOff = response.state === 'cut_off';
    const text = isCutOff ? response.text : (writtenText(response) ?? '');
    if (!isCutOff && text.trim() === '') return { completion: '', confidence: 0, usage, model };
    const tokens = response.state === 'refused' ? [] : (response.tokens ?? []);
    const answer = readAnswer(text, task, { isCutOff, tokens });
    if (answer === null) throw isCutOff ? cutOffAnswer() : malformedAnswer();
    return { ...answer, usage, model };
  }

  readonly ask = async <Answer>(
    { check, ...question }: StructuredQuestion<Answer>,
    call: CallLimits,
  ): Promise<StructuredAnswer<Answer>> => {
    const until = performance.now() + call.timeoutMs;
    const first = await this.#ask(question, call);
    const { model } = first;
    const text = writtenText(first);
    if (text === null) return { state: 'refused', usage: first.usage, model };
    const answer = readStructured(text, check);
    if (answer.ok) return { state: 'answered', value: answer.value, usage: first.usage, model };

    const timeoutMs = until - performance.now();
    if (timeoutMs < SHORTEST_CALL_MS) throw malformedAnswer();
    const messages = [...question.messages, ...repairMessages(text, answer.faults)];
    const second = await this.#ask({ ...question, messages }, { ...call, model, timeoutMs });
    const usage = addUsage(first.usage, second.usage);
    const repairedText = writtenText(second);
    if (repairedText === null) return { state: 'refused', usage, model: second.model };
    const repaired = readStructured(repairedText, check);
    if (!repaired.ok) throw malformedAnswer();
    return { state: 'answered', value: repaired.value, usage, model: second.model };
  };
}

/** Returns null if the model or its filter refused. Throws if the text was cut off. */
function writtenText(completion: Completion): string | null {
  switch (completion.state) {
    case 'written':
      return completion.text;
    case 'refused':
      return null;
    case 'cut_off':
      throw cutOffAnswer();
  }
}

function cutOffAnswer(): ProviderError {
  return new ProviderError('failed', 'unusable answer: cut off at the token limit');
}

function malformedAnswer(): ProviderError {
  return new ProviderError('failed', 'unusable answer: not the answer format');
}

/** Continues the conversation, so that the provider's prompt cache stays valid. */
function repairMessages(text: string, faults: readonly string[]): ChatMessage[] {
  const list = faults.slice(0, FAULTS_SHOWN_MAX).map((fault) => `- ${fault}`);
  const content = `That answer cannot be used:\n${list.join('\n')}\nAnswer again, with the corrected JSON object only.`;
  const quotedText = text.slice(0, QUOTED_CHARS_MAX).toWellFormed().replaceAll('\0', '');
  const answer = quotedText.trim() === '' ? [] : [{ role: 'assistant', content: quotedText } as const];
  return [...answer, { role: 'user', content }];
}

function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}
