import type { ReplySupport } from '../../schemas/replies.ts';
import { meaningOf } from '../../text/meaning.ts';
import { TextCollection } from '../../text/similarity.ts';
import { wordNgrams, wordsOf } from '../../text/words.ts';
import { isDictation } from './dictation.ts';
import { deedIn, PROMPT_END_CHARS, questionIn } from './question.ts';
import { isRisky } from './risk.ts';
import type { PromptReply } from './vote.ts';

export interface PersonDecision {
  /** Id of the prediction. */
  id: string;
  /** The end of the prompt. */
  prompt: string;
  /** The person's reply or, if the person rejected a prediction, the predicted reply. */
  reply: string;
  isRejected: boolean;
  /** In milliseconds since 1970. */
  at: number;
  /**
   * What was sent in their name, or would have been, if they did not want it. What they said like it before counts no
   * longer.
   */
  objectsTo: string | null;
}

/** Reports what supports a reply, and whether that is enough to send it in the person's name. */
export type SupportCheck = (response: string) => ReplySupport;

interface Precedent extends Omit<PersonDecision, 'objectsTo'> {
  /**
   * Set for an own reply. Several replies to one prompt count once. Own replies and decisions are counted separately,
   * because one reply may be stored as both.
   */
  promptId?: string;
  meaning: string;
  /** Meaning of what they objected to. */
  unwanted: string | undefined;
  deed: string | undefined;
}

interface Rule {
  /** Minimum number of earlier replies with the same meaning. */
  replies: number;
  /** Minimum likeness of their questions to the new one. */
  likeness: number;
}

const LIKENESS_MIN = 0.5;
/** One of these is enough, if `AGREEMENT_MIN` of the replies to similar questions have the same meaning. */
const USUAL_RULES: readonly Rule[] = [
  { replies: 3, likeness: LIKENESS_MIN },
  { replies: 2, likeness: 0.7 },
];
const AGREEMENT_MIN = 0.8;
/** For a risky reply or question. All replies to similar questions must agree, and the ends of prompts be as alike. */
const STRICT_RULE: Rule = { replies: 5, likeness: 0.9 };

/** A person's earlier replies, which may support the same reply to another question. Dictated replies do not count. */
export class Precedents {
  readonly #precedents: readonly Precedent[];
  readonly #questions: TextCollection;
  readonly #ends: TextCollection;

  constructor(own: readonly Omit<PromptReply, 'on'>[], decisions: readonly PersonDecision[]) {
    const precedents = [...own.map((one) => ({ ...one, isRejected: false, objectsTo: null })), ...decisions];
    const questions = precedents.map(({ prompt }) => questionIn(prompt));
    this.#precedents = precedents.map(({ objectsTo, ...one }, place) => ({
      ...one,
      meaning: meaningOf(one.reply, questions[place]?.question),
      unwanted: objectsTo === null ? undefined : meaningOf(objectsTo, questions[place]?.question),
      deed: deedIn(questions[place]?.question ?? ''),
    }));
    this.#questions = new TextCollection(questions.map(({ compared }) => compared));
    this.#ends = new TextCollection(precedents.map(({ prompt }) => prompt));
  }

  supportFor(prompt: string): SupportCheck {
    const { question, compared, atStake, isCut } = questionIn(prompt);
    const likenesses = this.#questions.similarities(compared);
    const deed = deedIn(question);
    const similar = this.#precedents
      .map((precedent, place) => ({ precedent, place, likeness: likenesses[place] ?? 0 }))
      .filter(
        ({ precedent, likeness }) =>
          likeness >= LIKENESS_MIN && (precedent.deed ?? deed) === (deed ?? precedent.deed),
      );
    const isQuestionRisky = isCut || isRisky(atStake);
    return (response) => {
      const meaning = meaningOf(response, question);
      const isSame = ({ precedent }: { precedent: Precedent }) => precedent.meaning === meaning;
      const objections = similar.flatMap(({ precedent }) =>
        precedent.unwanted === meaning ? precedent.at : [],
      );
      const since = Math.max(...objections);
      const isApproval = (one: { precedent: Precedent }) => isSame(one) && !one.precedent.isRejected;
      const counted = similar.filter((one) => !isApproval(one) || one.precedent.at > since);
      const agreeing = counted.filter(isApproval);
      const strict = isQuestionRisky || isRisky(response);
      // That another reply was rejected says nothing against this one, but is reason for doubt where doubt is dear.
      const compared = strict ? counted : counted.filter((one) => isSame(one) || !one.precedent.isRejected);
      const agree = agreeing.length >= (strict ? 1 : AGREEMENT_MIN) * compared.length;
      const supporting = agree ? this.#sufficient(agreeing, strict ? prompt : undefined) : [];
      return {
        supported: supporting.length > 0,
        strict,
        similar: compared.length,
        agreeing: agreeing.length,
        reply_ids: supporting.flatMap(({ id, promptId }) => (promptId === undefined ? [] : id)),
        prediction_ids: supporting.flatMap(({ id, promptId }) => (promptId === undefined ? id : [])),
      };
    };
  }

  /** Returns as many precedents as support a reply; none if they are too few. The strict rule compares `prompt`. */
  #sufficient(
    agreeing: readonly { precedent: Precedent; place: number; likeness: number }[],
    prompt: string | undefined,
  ): readonly Precedent[] {
    const ends = prompt === undefined ? undefined : this.#ends.similarities(prompt.slice(-PROMPT_END_CHARS));
    for (const rule of ends === undefined ? USUAL_RULES : [STRICT_RULE]) {
      const alike = agreeing.filter(
        ({ place, likeness }) => Math.min(likeness, ends?.[place] ?? 1) >= rule.likeness,
      );
      const chosen = ownChoices(
        alike.map(({ precedent }) => precedent),
        rule.replies,
      );
      if (chosen.length > 0) return chosen;
    }
    return [];
  }
}

/** Returns `min` replies or decisions of the person's own choice. Stops there, because the search for dictation is slow. */
function ownChoices(precedents: readonly Precedent[], min: number): readonly Precedent[] {
  const replies = new Map<string, Precedent>();
  const decisions: Precedent[] = [];
  for (const one of precedents) {
    const { promptId } = one;
    if ((promptId !== undefined && replies.has(promptId)) || !isOwnChoice(one)) continue;
    if (promptId === undefined) decisions.push(one);
    else replies.set(promptId, one);
    if (replies.size === min) return [...replies.values()];
    if (decisions.length === min) return decisions;
  }
  return [];
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
