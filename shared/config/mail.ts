import type { Env } from './env.ts';

const SENDER_PATTERN = /^(?:[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@,"]+@[^\s<>@,"']+)$/u;

export type MailConfig = NonNullable<ReturnType<typeof readMail>>;

export function readMail(env: Env) {
  const url = env.url('SMTP_URL', ['smtp:', 'smtps:']);
  const from = env.pattern('MAIL_FROM', '', SENDER_PATTERN, 'an address, or a name and <an address>');
  if (url === undefined) return undefined;
  env.require('MAIL_FROM');
  return { url, from };
}
