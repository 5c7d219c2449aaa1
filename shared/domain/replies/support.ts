import { meaningOf } from '../../text/meaning.ts';
import { TextCollection } from '../../text/similarity.ts';
import { wordNgrams, wordsOf } from '../../text/words.ts';
import { isDictation } from './dictation.ts';
import { isRisky } from './risk.ts';
import { PROMPT_END_CHARS, type PromptReply } from './vote.ts';

export interface PersonDecision {
  /** The end of the prompt. */
  prompt: string;
  /** The person's reply or, if the person rejected a prediction, the predicted reply. */
  reply: string;
  isRejected: boolean;
}

/** Reports whether a reply has enough support to be sent in the person's name. */
export type SupportCheck = (response: string) => boolean;

interface Precedent extends Omit<PersonDecision, 'isRejected'> {
  /** Set for an own reply. Several replies to one prompt count once. */
  promptId?: string;
  /** Own replies and decisions are counted separately, because one reply may be stored as both. */
  origin: 'own' | 'approved' | 'rejected';
  meaning: string;
}

/**
 * Minimum number of earlier replies with the same meaning, and minimum similarity of their prompts to the new prompt.
 */
const SUPPORT_MIN = { replies: 2, likeness: 0.7 };
/**
 * Minimum for a risky reply or prompt. All replies to similar prompts must also have the same meaning, and none may be
 * a rejected prediction.
 */
const RISKY_SUPPORT_MIN = { replies: 5, likeness: 0.9 };

/** A person's earlier replies, which may support the same reply to another prompt. Dictated replies do not count. */
export class Precedents {
  readonly #precedents: readonly Precedent[];
  readonly #prompts: TextCollection;

  constructor(own: readonly Omit<PromptReply, 'id' | 'on'>[], decisions: readonly PersonDecision[]) {
    const precedents = [
      ...own.map(({ promptId, prompt, reply }) => ({ promptId, prompt, reply, origin: 'own' as const })),
      ...decisions.map(({ isRejected, prompt, reply }) => ({
        prompt,
        reply,
        origin: isRejected ? ('rejected' as const) : ('approved' as const),
      })),
    ];
    this.#precedents = precedents.map((one) => ({ ...one, meaning: meaningOf(one.reply) }));
    this.#prompts = new TextCollection(precedents.map(({ prompt }) => prompt));
  }

  /** A prompt over `PROMPT_END_CHARS` counts as risky, because its beginning is not compared. */
  supportFor(prompt: string): SupportCheck {
    const likenesses = this.#prompts.similarities(prompt.slice(-PROMPT_END_CHARS));
    const precedentsLike = (min: number) =>
      this.#precedents.filter((_, place) => (likenesses[place] ?? 0) >= min);
    const similar = precedentsLike(SUPPORT_MIN.likeness);
    const promptIsRisky = prompt.length > PROMPT_END_CHARS || isRisky(prompt);
    return (response) => {
      const meaning = meaningOf(response);
      const isSame = (one: Precedent) => one.origin !== 'rejected' && one.meaning === meaning;
      if (!promptIsRisky && !isRisky(response)) return hasEnough(similar.filter(isSame), SUPPORT_MIN.replies);
      return (
        similar.every(isSame) &&
        hasEnough(precedentsLike(RISKY_SUPPORT_MIN.likeness), RISKY_SUPPORT_MIN.replies)
      );
    };
  }
}

/** Stops at `min`, because the search for dictation is slow. Own replies and decisions are counted separately. */
function hasEnough(precedents: readonly Precedent[], min: number): boolean {
  const repliedPrompts = new Set<string>();
  let approved = 0;
  return precedents.some((one) => {
    const { promptId } = one;
    if ((promptId !== undefined && repliedPrompts.has(promptId)) || !isOwnChoice(one)) return false;
    if (promptId === undefined) approved += 1;
    else repliedPrompts.add(promptId);
    return repliedPrompts.size === min || approved === min;
  });
}

function isOwnChoice({ prompt, reply, meaning }: Precedent): boolean {
  return meaning !== '' && !repeatsPrompt(prompt, reply) && !isDictation(prompt) && !isDictation(reply);
}

const QUOTED = /(["'`])([^"'`\n]{1,80})\1|[“„”«»‹›「『‘‚]([^\n“„”«»‹›「」『』‘’]{1,80})[“”«»‹›」』’]/gu;
const SENTENCE = /[^.!?。！？؟\n]+[.!?。！？؟]?/gu;
const QUESTION = /[?？؟]$/u;

/**
 * Returns true for a reply that the prompt suggests: its only quoted text, or a "yes" in a sentence that is no
 * question. A choice among several quoted texts is the person's own.
 */
function repeatsPrompt(prompt: string, reply: string): boolean {
  const meaning = meaningOf(reply);
  const quotedMeanings = new Set(
    [...prompt.matchAll(QUOTED)].map(([, , plain, set]) => meaningOf(plain ?? set ?? '')),
  );
  if (quotedMeanings.has(meaning)) return quotedMeanings.size === 1;
  const words = wordsOf(reply);
  if (meaning !== 'yes' || words.length === 0) return false;
  const statements = (prompt.match(SENTENCE) ?? []).filter((sentence) => !QUESTION.test(sentence));
  return statements.some((sentence) => wordNgrams(wordsOf(sentence), words.length).includes(words.join(' ')));
}
