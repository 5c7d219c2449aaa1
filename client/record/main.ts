#!/usr/bin/env node
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { createAccountClient, ForecueError } from '../src/api.ts';
import { addHooks, removeHooks, TRANSCRIPTS } from './claude-code.ts';
import { type Connection, connectionIn, readConnection, remove, setUp } from './home.ts';
import { catchUp, hook } from './hook.ts';
import { masksIn } from './masks.ts';
import { sendAll } from './send.ts';

const HELP = `forecue record           records what you and Claude Code say to each other from now on; first shows what is masked
forecue record --yes     the same without a question
forecue record --remove  ends that, and forgets the key
forecue record PATH…     records transcripts that are there: files, and folders of them

Forecue's address and a key of your account are taken from FORECUE_URL and FORECUE_KEY.
`;

/** What the person is told in place of a stack. */
class Refusal extends Error {}

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parsed(args);
  const [command, ...paths] = positionals;
  if (command === 'hook') return hook();
  if (command === 'catch-up') return catchUp(paths[0] ?? '', values.over);
  if (values.help || command !== 'record') return say(HELP);
  if (values.remove) {
    await removeHooks();
    await remove();
    return say('Nothing is recorded any more. What is recorded stays: delete it in your account.\n');
  }
  const connection = connectionIn(process.env) ?? (await readConnection());
  if (connection === undefined)
    throw new Refusal(
      'set FORECUE_URL to the address of Forecue, and FORECUE_KEY to a key of your account (service_…)',
    );
  if (paths.length > 0) return recordNow(connection, paths);
  return recordFromNowOn(connection, values.yes);
}

function parsed(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = { yes: flag, remove: flag, help: flag, over: flag };
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
  }
}

async function recordNow(connection: Connection, paths: string[]): Promise<void> {
  const { text, failed } = await sendAll(connection, paths);
  say(text);
  if (failed) process.exitCode = 1;
}

async function recordFromNowOn(connection: Connection, yes: boolean): Promise<void> {
  say(`Forecue at ${connection.url} will record what you and Claude Code say to each other, ${await ownerOf(connection)}.
Not what tools print, nor thinking, commands, and subagents.

${await masksIn(TRANSCRIPTS)}
`);
  if (!(yes || (await agrees()))) {
    process.exitCode = 1;
    return say('Nothing is recorded. To record without a question: forecue record --yes\n');
  }
  const settings = await addHooks(await setUp(connection));
  say(`Recording from now on: hooks are in ${settings}. To end it: npx forecue record --remove
Earlier sessions: npx forecue record ${TRANSCRIPTS}
`);
}

/** Whose key it is. One that may only write does not say. */
async function ownerOf({ url: baseUrl, key: credential }: Connection): Promise<string> {
  try {
    const { email } = await createAccountClient({ baseUrl, credential }).readAccount();
    return `for ${email}`;
  } catch (error) {
    if (error instanceof ForecueError && error.status === 403) return 'for the owner of the key';
    throw error;
  }
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface(process.stdin, process.stdout);
  const answer = await terminal.question('Record it? [y/N] ');
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function say(text: string): void {
  process.stdout.write(text);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  const isKnown = error instanceof Refusal || error instanceof ForecueError || error instanceof TypeError;
  process.stderr.write(`forecue: ${isKnown ? error.message : ((error as Error)?.stack ?? error)}\n`);
  process.exitCode = 1;
}
