import { meaningOf } from '../../text/meaning.ts';
import { Collection } from '../../text/similarity.ts';
import { normalForm, runsOf, wordsOf } from '../../text/words.ts';
import { dictates } from './dictation.ts';
import { type Pair, PROMPT_END } from './vote.ts';

/** A decision of the person's on a prediction. */
export interface Decision {
  /** The end of the prompt. */
  prompt: string;
  /** The person's reply; of a prediction that they rejected, the one that was predicted. */
  reply: string;
  isRejected: boolean;
}

/** Reports whether the person has given a reply often enough, to prompts like that, for it to be given in their name. */
export type Support = (response: string) => boolean;

interface Precedent extends Omit<Decision, 'isRejected'> {
  /** The person's own reply, or a decision of theirs: the same reply may be both, and counts once. */
  of: 'own' | 'approved' | 'rejected';
  meaning: string;
}

/** The number of the person's replies that support one of the same meaning, and how similar their prompts must be. */
const ENOUGH = { replies: 2, likeness: 0.7 };
/** The same for what cannot be undone; then no reply to a prompt of the same kind may have another meaning. */
const ENOUGH_FOR_RISK = { replies: 5, likeness: 0.9 };

/**
 * Replies of a person, as they support replies to other prompts. Only rows that are stored as theirs count, whatever
 * prompts, memory or a model say; and none that its prompt dictated.
 */
export class Precedents {
  readonly #all: readonly Precedent[];
  readonly #prompts: Collection;

  constructor(own: readonly Pick<Pair, 'prompt' | 'reply'>[], decided: readonly Decision[]) {
    const precedents = [
      ...own.map(({ prompt, reply }) => ({ prompt, reply, of: 'own' as const })),
      ...decided.map(({ isRejected, prompt, reply }) => ({
        prompt,
        reply,
        of: isRejected ? ('rejected' as const) : ('approved' as const),
      })),
    ];
    this.#all = precedents.map((one) => ({ ...one, meaning: meaningOf(one.reply) }));
    this.#prompts = new Collection(precedents.map(({ prompt }) => prompt));
  }

  /** Looks for support of replies to a prompt. Its beginning, where it is long, is not compared: then it is held risky. */
  on(prompt: string): Support {
    const likenesses = this.#prompts.likenesses(prompt.slice(-PROMPT_END));
    const like = (least: number) => this.#all.filter((_, place) => (likenesses[place] ?? 0) >= least);
    const kind = like(ENOUGH.likeness);
    const promptIsRisky = prompt.length > PROMPT_END || isRisky(prompt);
    return (response) => {
      const meaning = meaningOf(response);
      const means = (one: Precedent) => one.of !== 'rejected' && one.meaning === meaning;
      if (!promptIsRisky && !isRisky(response)) return hasEnough(kind.filter(means), ENOUGH.replies);
      return kind.every(means) && hasEnough(like(ENOUGH_FOR_RISK.likeness), ENOUGH_FOR_RISK.replies);
    };
  }
}

/** Words for harm that a later correction does not undo, without accents: in English, and the commonest in other languages. */
const RISKY = new RegExp(
  [
    String.raw`\b(?:delet(?:e[sd]?|ing|ion)|drop(?:s|ped|ping)?|truncat(?:e[sd]?|ing)|wip(?:e[sd]?|ing)|eras(?:e[sd]?|ing)|destroy(?:s|ed|ing)?|purg(?:e[sd]?|ing)|overwrit(?:e|es|ing|ten)|shred(?:s|ded|ding)?)\b`,
    String.raw`\brm -\w*[rf]|\bforce[- ]?push|--force\b|\breset --hard\b|\bdeploy(?:s|ed|ing|ment)?\b|\bproduction\b|\broll(?:ing|ed)? ?back\b|\b(?:publish|releas|terminat|revok|unsubscrib)(?:e[sd]?|ing)?\b`,
    String.raw`\b(?:pay(?:s|ing|ments?)?|paid|purchas(?:e[sd]?|ing)|buy(?:ing)?|refund(?:s|ed|ing)?|invoices?|transfer(?:s|red|ring)?|wire|money)\b`,
    String.raw`\b(?:credentials?|passwords?|secrets?|tokens?|api keys?|private keys?|permissions?|sudo|root access|chmod|grant(?:s|ed|ing)?|access rights?)\b`,
    String.raw`\b(?:legal(?:ly)?|contracts?|liabilit(?:y|ies)|nda|sign(?:ed|ing)? (?:the|this|an?)|lawsuits?|terms of service|licen[cs]e agreement)\b`,
    String.raw`losch|vernicht|bezahl|uberweis|kundig|supprim|effac|ecras|virement|payer\b|\b(?:borr|elimin|destru|apag|exclu|cancell)(?:ar|are|ir|a|o)\b|\bpagar\b|\bpagare\b|\b(?:usun|skasu|smaz|wyczysc|zaplac)`,
    'удал|сотре|стере|оплат|перевед|перечисл|видал|διαγραψ|διαγραφ|πληρωσ|מחק|מחוק|מחיק|לשלם|حذف|امسح|دفع|हटा|मिटा|xoa|hapus|sil(?:ey|mek|sin)|verwijder|betal|ลบ|จาย',
    '删|刪|清空|销毁|銷毀|付款|支付|转账|轉賬|部署|送金|削除|消去|支払|삭제|지우|지울|결제|송금|배포',
  ]
    .join('|')
    .normalize('NFD')
    .replaceAll(/\p{M}/gu, ''),
  'iu',
);

/** Reports whether a prompt or a reply has words for what cannot be undone. */
export function isRisky(text: string): boolean {
  return RISKY.test(normalForm(text, 'NFKD').replaceAll(/\p{M}/gu, ''));
}

/** Reads no more of the texts than it takes: to look for dictation is slow. */
function hasEnough(precedents: readonly Precedent[], enough: number): boolean {
  const counts = { own: 0, approved: 0, rejected: 0 };
  return precedents.some((one) => {
    if (isOwnChoice(one)) counts[one.of] += 1;
    return counts.own === enough || counts.approved === enough;
  });
}

function isOwnChoice({ prompt, reply, meaning }: Precedent): boolean {
  return meaning !== '' && !repeatsPrompt(prompt, reply) && !dictates(prompt) && !dictates(reply);
}

const QUOTED = /(["'`])([^"'`\n]{1,80})\1|[“„”«»‹›「『‘‚]([^\n“„”«»‹›「」『』‘’]{1,80})[“”«»‹›」』’]/gu;
const SENTENCE = /[^.!?。！？؟\n]+[.!?。！？؟]?/gu;
const QUESTION = /[?？؟]$/u;

/**
 * Reports whether a reply repeats what its prompt gave away, in any language: the prompt quotes it alone, or has a yes outside
 * of a question. A reply that it quotes beside others is the person's choice.
 */
export function repeatsPrompt(prompt: string, reply: string): boolean {
  const meaning = meaningOf(reply);
  const quoted = new Set(
    [...prompt.matchAll(QUOTED)].map(([, , plain, set]) => meaningOf(plain ?? set ?? '')),
  );
  if (quoted.has(meaning)) return quoted.size === 1;
  const words = wordsOf(reply);
  if (meaning !== 'yes' || words.length === 0) return false;
  const statements = (prompt.match(SENTENCE) ?? []).filter((sentence) => !QUESTION.test(sentence));
  return statements.some((sentence) => runsOf(wordsOf(sentence), words.length).includes(words.join(' ')));
}
