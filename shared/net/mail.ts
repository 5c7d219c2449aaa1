import type { MailConfig } from '../config/mail.ts';

export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** A mail that is sent again keeps its key, so that mail servers may drop it. */
  key?: string;
}

/** Sends one mail. Rejects with an error of which only `codesOf` may be logged: its message may name the person. */
export type SendMail = (mail: Mail) => Promise<void>;

const CONNECT_TIMEOUT_MS = 10_000;
const SOCKET_TIMEOUT_MS = 20_000;
/** Lowest reply code of a permanent failure (RFC 5321, 4.2.1). */
const PERMANENT_CODE = 500;

export async function openMailTransport({ url, from }: MailConfig): Promise<SendMail> {
  // Imports the package only if mail is configured, because the import takes 60 ms.
  const { createTransport } = await import('nodemailer');
  const timeouts = {
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
  };
  const transport = createTransport({ url, ...timeouts });
  const domain = /@([^@>]+)>?$/.exec(from)?.[1] ?? 'localhost';
  return async ({ to, key, ...content }) => {
    await transport.sendMail({
      from,
      // An object, because a string would be parsed as a list of addresses.
      to: { name: '', address: to },
      ...content,
      ...(key !== undefined && { messageId: `<${key}@${domain}>` }),
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
  };
}

/** Returns 0 as `responseCode` if the mail server did not answer. */
export function codesOf(error: unknown): { code: string; responseCode: number } {
  const { code = 'unknown', responseCode = 0 } = error as { code?: string; responseCode?: number };
  return { code, responseCode };
}

export function isPermanent(error: unknown): boolean {
  return codesOf(error).responseCode >= PERMANENT_CODE;
}
