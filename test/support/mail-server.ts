import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { listen } from './listening.ts';

export interface ReceivedMail {
  from: string;
  to: string[];
  data: string;
}

export interface MailServer extends AsyncDisposable {
  /** Address with user and password. */
  url: string;
  mails: ReceivedMail[];
  /** Answers for the next recipients, such as `451 later`; '' for none at all. */
  refusals: string[];
  close(): Promise<void>;
}

const PLAIN = Buffer.from('\0forecue\0a password').toString('base64');

/** Starts a mail server on loopback that accepts all mail from its one user (RFC 5321, RFC 4954). */
export async function startMailServer(): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const refusals: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    void serve(socket, mails, refusals).catch(() => socket.destroy());
  });
  const here = await listen(server);
  return {
    ...here,
    url: `smtp://forecue:a%20password@127.0.0.1:${here.port}`,
    mails,
    refusals,
  };
}

async function serve(socket: Socket, mails: ReceivedMail[], refusals: string[]): Promise<void> {
  const say = (...lines: string[]) => socket.write(lines.map((line) => `${line}\r\n`).join(''));
  let mail: ReceivedMail = { from: '', to: [], data: '' };
  let isLoggedIn = false;
  let isReadingData = false;
  say('220 test ESMTP');
  for await (const line of createInterface(socket)) {
    if (isReadingData) {
      isReadingData = line !== '.';
      if (isReadingData) mail.data += `${line.replace(/^\./, '')}\n`;
      else {
        mails.push(mail);
        mail = { from: '', to: [], data: '' };
        say('250 taken');
      }
      continue;
    }
    const verb = line.slice(0, 4).toUpperCase();
    const path = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (verb === 'EHLO') say('250-test', '250-SMTPUTF8', '250-8BITMIME', '250 AUTH PLAIN');
    else if (verb === 'AUTH') {
      isLoggedIn = line === `AUTH PLAIN ${PLAIN}`;
      say(isLoggedIn ? '235 welcome' : '535 who?');
    } else if (verb === 'QUIT') {
      socket.end('221 bye\r\n');
      return;
    } else if (!isLoggedIn) say('530 who?');
    else if (verb === 'RCPT') {
      const refusal = refusals.shift();
      if (refusal === undefined) mail.to.push(path);
      if (refusal !== '') say(refusal ?? '250 yes');
    } else if (verb === 'DATA') {
      isReadingData = true;
      say('354 go on');
    } else {
      if (verb === 'MAIL' || verb === 'RSET') mail = { from: path, to: [], data: '' };
      say('250 yes');
    }
  }
}
