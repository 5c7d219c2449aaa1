import type { EntityManager } from '@mikro-orm/postgresql';
import { takeDueNotes } from '../../shared/db/stores/decisions.ts';
import type { Log } from '../../shared/log.ts';
import { every, type Repetition } from '../../shared/timing/every.ts';
import type { Mailer } from './mailer.ts';

const EVERY_MS = 60 * 60_000;

export interface NoteParts {
  em: () => EntityManager;
  mailer: Mailer;
  publicUrl: string;
  log: Log;
}

/**
 * Mails each person, once a day, how much was decided for them. Several processes may do so: each note is taken by one.
 * A note whose mail fails is lost; the page has the same number.
 */
export function mailDailyNotes({ em, mailer, publicUrl, log }: NoteParts): Repetition {
  const round = async () => {
    for await (const { email, count } of takeDueNotes(em))
      mailer.send(async () => ({
        to: email,
        subject: `Forecue decided ${count} ${count === 1 ? 'time' : 'times'} for you`,
        text: textOf(publicUrl, count),
      }));
  };
  return every(EVERY_MS, round, {
    onError: (error) => log.warn({ err: error }, 'the daily notes were not sent'),
    atOnce: true,
  });
}

function textOf(publicUrl: string, count: number): string {
  return `In the last 24 hours Forecue gave ${count} ${count === 1 ? 'answer' : 'answers'} in your name: permissions, and replies to agents.

See each, object, or stop it:

${publicUrl}/console/#/decisions

There you also choose whether to get this mail.
`;
}
