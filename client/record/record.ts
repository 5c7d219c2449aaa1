import { createInterface } from 'node:readline/promises';
import { escapeInvisible, print } from '../../shared/text/visible.ts';
import { createAccountClient, ForecueError } from '../src/api.ts';
import { addHooks, removeHooks, TRANSCRIPTS } from './claude-code.ts';
import { type Connection, connectionIn, PROGRAM_COPY, readConnection, removeFiles, setUp } from './home.ts';
import { quote } from './hooks-file.ts';
import { masksIn } from './masks.ts';
import { sendAll } from './send.ts';

/** Sends the transcripts at `paths`; without `paths`, starts to record new sessions if the person agrees. */
export async function record(paths: string[], yes: boolean): Promise<void> {
  const connection = connectionIn(process.env) ?? (await readConnection());
  if (connection === undefined)
    throw new TypeError(
      'set FORECUE_URL to the address of Forecue, and FORECUE_KEY to a key of your account (service_…)',
    );
  await requireRecordScope(connection);
  if (paths.length === 0) return recordFromNowOn(connection, yes);
  const { text, failed } = await sendAll(connection, paths);
  print(text);
  if (failed) process.exitCode = 1;
}

export async function endRecording(): Promise<void> {
  await removeHooks();
  await removeFiles();
  print('Nothing is recorded any more. What is recorded stays: delete it in your account.\n');
}

async function recordFromNowOn(connection: Connection, yes: boolean): Promise<void> {
  if (isReadable(connection.url))
    print('This address is not https: everybody on the way can read the key and the texts.\n');
  print(`Forecue at ${connection.url} will record what you and Claude Code say to each other, ${await ownerOf(connection)}.
Not what tools print, nor thinking, commands, and subagents.

${await masksIn(TRANSCRIPTS)}
`);
  if (!(yes || (await agrees()))) {
    process.exitCode = 1;
    return print('Nothing is recorded. To record without a question, add --yes.\n');
  }
  const settings = await addHooks(await setUp(connection));
  // The package may be in npx's cache only, where no shell finds it. The copy stays.
  const command = `node ${quote(PROGRAM_COPY)} record`;
  print(`Recording from now on: hooks are in ${settings}. To end it: ${command} --remove
Earlier sessions: ${command} ${TRANSCRIPTS}
`);
}

function isReadable(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !/^(localhost|127\..*|\[::1\])$/.test(hostname);
}

/** Throws a `TypeError` if the key is known to lack the scope. A key without `read` cannot look at itself. */
async function requireRecordScope({ url: baseUrl, key }: Connection): Promise<void> {
  const listed = await createAccountClient({ baseUrl, credential: key })
    .listKeys()
    .catch((error) => {
      if (error instanceof ForecueError && error.status === 403) return { results: [] };
      throw error;
    });
  const scopes = listed.results.find(({ prefix }) => key.startsWith(prefix))?.scopes;
  if (scopes !== undefined && !scopes.includes('record'))
    throw new TypeError(
      'FORECUE_KEY: this key lacks the scope `record`, so that your words would not count as yours',
    );
}

async function ownerOf({ url: baseUrl, key: credential }: Connection): Promise<string> {
  try {
    const { email } = await createAccountClient({ baseUrl, credential }).readAccount();
    return `for ${escapeInvisible(email)}`;
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
