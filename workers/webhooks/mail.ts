import type { EntityManager } from '@mikro-orm/postgresql';
import {
  type DueQuestion,
  MAIL_WINDOW_MS,
  type MailOutcome,
  readDueQuestions,
  storeMailed,
} from '../../shared/db/stores/webhooks/mails.ts';
import { idsOf } from '../../shared/ids.ts';
import { codesOf, isPermanent, type Mail, type SendMail } from '../../shared/net/mail.ts';
import { maskSecrets } from '../../shared/text/secrets.ts';

/** Questions that a mail quotes, and the length of each in code points. */
const QUOTED_MAX = 5;
const QUOTE_CHARS = 300;
const AGENT_CHARS = 60;

export interface MailParts {
  send: SendMail;
  /** Undefined: the mail has no link. */
  publicUrl: string | undefined;
}

/**
 * Mails the questions that wait in the outbox of an account, all in one. Returns how it ended; undefined: there are
 * none.
 */
export async function mailQuestions(
  em: () => EntityManager,
  { send, publicUrl }: MailParts,
  { webhook, to }: { webhook: string; to: string },
): Promise<MailOutcome | undefined> {
  const due = await readDueQuestions(em(), webhook);
  if (due.length === 0) return undefined;
  const waiting = due.filter(({ waits }) => waits);
  const outcome = await attemptMail(send, waiting, { to, publicUrl });
  await storeMailed(em(), webhook, idsOf(due), outcome);
  return outcome;
}

async function attemptMail(
  send: SendMail,
  questions: readonly DueQuestion[],
  { to, publicUrl }: { to: string; publicUrl: string | undefined },
): Promise<MailOutcome> {
  if (questions.length === 0) return { is: 'needless' };
  try {
    await send({ to, ...contentOf(questions, publicUrl) });
    return { is: 'sent' };
  } catch (error) {
    const { code, responseCode } = codesOf(error);
    return { is: 'failed', reason: `no mail: ${code} ${responseCode}`, isFinal: refusesRecipient(error) };
  }
}

/** A server that refuses to let us in may be mended; one that does not know the address stays so. */
const refusesRecipient = (error: unknown) => isPermanent(error) && codesOf(error).code === 'EENVELOPE';

function contentOf(questions: readonly DueQuestion[], publicUrl: string | undefined): Omit<Mail, 'to'> {
  const count = questions.length;
  const quoted = questions.slice(0, QUOTED_MAX);
  const parts = [
    `Forecue left ${count === 1 ? 'a question' : `${count} questions`} of your agents to you:`,
    ...quoted.map(
      ({ agent, question }) => `${oneLine(agent, AGENT_CHARS)}:\n> ${oneLine(question, QUOTE_CHARS)}`,
    ),
    ...(count > quoted.length ? [`and ${count - quoted.length} more.`] : []),
    ...(publicUrl === undefined ? [] : [`Answer in the inbox:\n\n${publicUrl}/console/#/inbox`]),
    `What is asked within the next ${MAIL_WINDOW_MS / 60_000} minutes comes in one mail. The page Account of the console switches these mails off.`,
  ];
  return {
    subject: `Forecue: ${count === 1 ? 'a question waits' : `${count} questions wait`} for you`,
    text: `${parts.join('\n\n')}\n`,
    key: `${questions[0]?.id}.${questions.at(-1)?.id}`,
  };
}

/** An agent's text, which may be hostile: without what breaks lines, hides or turns text around, and without secrets. */
function oneLine(text: string, most: number): string {
  const line = maskSecrets(text)
    .replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length > most ? `${characters.slice(0, most).join('')} …` : line;
}
