import type { PredictionTask } from '../../shared/domain/context-envelope.ts';
import { predictionQuestion, readAnswer } from '../predictions/prompt.ts';
import { readStructured } from './answer.ts';
import type { Completion } from './chat.ts';
import type { AskAny } from './fallback.ts';
import {
  type Call,
  type ChatMessage,
  type Guess,
  type Provider,
  ProviderError,
  SHORTEST_CALL_MS,
  type StructuredAnswer,
  type StructuredQuestion,
  type Usage,
} from './provider.ts';

const FAULTS_SHOWN = 3;
/** UTF-16 code units of a malformed answer that its repair quotes. */
const QUOTED_MAX = 20_000;

/** A model that answers questions in a given shape. */
export class LanguageModel implements Provider {
  readonly #ask: AskAny;

  constructor(ask: AskAny) {
    this.#ask = ask;
  }

  /** Refused, filtered and empty answers abstain. A malformed one fails: repairing it would take too long. */
  async predict(task: PredictionTask, call: Call): Promise<Guess> {
    const completion = await this.#ask(predictionQuestion(task), call);
    const { usage, model } = completion;
    const text = writtenText(completion);
    if (text === null || text.trim() === '') return { completion: '', confidence: 0, usage, model };
    const answer = readAnswer(text, task);
    if (answer === null) throw malformed();
    return { ...answer, usage, model };
  }

  readonly ask = async <Answer>(
    { check, ...question }: StructuredQuestion<Answer>,
    call: Call,
  ): Promise<StructuredAnswer<Answer>> => {
    const until = performance.now() + call.timeoutMs;
    const first = await this.#ask(question, call);
    const { model } = first;
    const text = writtenText(first);
    if (text === null) return { state: 'refused', usage: first.usage, model };
    const answer = readStructured(text, check);
    if (answer.ok) return { state: 'answered', value: answer.value, usage: first.usage, model };

    const timeoutMs = until - performance.now();
    if (timeoutMs < SHORTEST_CALL_MS) throw malformed();
    const messages = [...question.messages, ...repairTurn(text, answer.faults)];
    const second = await this.#ask({ ...question, messages }, { ...call, model, timeoutMs });
    const usage = sum(first.usage, second.usage);
    const repairedText = writtenText(second);
    if (repairedText === null) return { state: 'refused', usage, model: second.model };
    const repaired = readStructured(repairedText, check);
    if (!repaired.ok) throw malformed();
    return { state: 'answered', value: repaired.value, usage, model: second.model };
  };
}

/** Null: the model or its filter refused. Throws when the answer was cut off. */
function writtenText(completion: Completion): string | null {
  switch (completion.state) {
    case 'written':
      return completion.text;
    case 'refused':
      return null;
    case 'cut_off':
      throw new ProviderError('failed', 'unusable answer: cut off at the token limit');
  }
}

function malformed(): ProviderError {
  return new ProviderError('failed', 'unusable answer: not the answer format');
}

/** Asks for the answer once more. It comes after the question, so that the question stays in the provider's cache. */
export function repairTurn(text: string, faults: readonly string[]): ChatMessage[] {
  const list = faults.slice(0, FAULTS_SHOWN).map((fault) => `- ${fault}`);
  const content = `That answer cannot be used:\n${list.join('\n')}\nAnswer again, with the corrected JSON object only.`;
  const quoted = text.slice(0, QUOTED_MAX).toWellFormed().replaceAll('\0', '');
  const answer = quoted.trim() === '' ? [] : [{ role: 'assistant', content: quoted } as const];
  return [...answer, { role: 'user', content }];
}

function sum(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}
