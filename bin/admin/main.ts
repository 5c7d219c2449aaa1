import { adminConfig } from '../../shared/config/config.ts';
import { openDatabase } from '../../shared/db/orm.ts';
import { createLog } from '../../shared/log.ts';
import { explain } from './admin-error.ts';
import type { Action, Command, Outcome } from './command.ts';
import { appCreate, appDeactivate, appList, appShow, appUpdate } from './commands/app.ts';
import { connectionCreate } from './commands/connection.ts';
import { doctor } from './commands/doctor.ts';
import { importTranscripts } from './commands/import.ts';
import { inviteCreate } from './commands/invite.ts';
import { keyRevoke, keyRotate } from './commands/key.ts';
import { queueDrain, queuePause, queueResume, queueRetryFailed } from './commands/queue.ts';
import { queueList } from './commands/queue-list.ts';
import { usage } from './commands/usage.ts';
import { userCreate, userDisable, userList, userResetPassword } from './commands/user.ts';
import { withDatabase } from './environment.ts';

const COMMANDS = new Map<string, Command>([
  ['app create', appCreate],
  ['app list', appList],
  ['app show', appShow],
  ['app update', appUpdate],
  ['app deactivate', appDeactivate],
  ['key rotate', keyRotate],
  ['key revoke', keyRevoke],
  ['user create', userCreate],
  ['user list', userList],
  ['user disable', userDisable],
  ['user reset-password', userResetPassword],
  ['connection create', connectionCreate],
  ['invite create', inviteCreate],
  ['import', importTranscripts],
  ['usage', usage],
  ['queue list', queueList],
  ['queue pause', queuePause],
  ['queue resume', queueResume],
  ['queue drain', queueDrain],
  ['queue retry-failed', queueRetryFailed],
  ['doctor', doctor],
]);

/** Runs one command: the result goes to standard output, errors to standard error. Returns the exit code. */
async function main(argv: string[]): Promise<number> {
  const found = findCommand(argv);
  if (found === undefined) {
    process.stderr.write(help());
    return 2;
  }
  try {
    const { json, action } = found.command.read(found.args);
    const { data, text, failed = false } = await perform(action);
    process.stdout.write(`${json ? JSON.stringify(data) : text}\n`);
    return failed ? 1 : 0;
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    return 1;
  }
}

function findCommand(argv: string[]): { command: Command; args: string[] } | undefined {
  for (const words of [2, 1]) {
    const command = COMMANDS.get(argv.slice(0, words).join(' '));
    if (command !== undefined) return { command, args: argv.slice(words) };
  }
  return undefined;
}

async function perform(action: Action): Promise<Outcome> {
  const config = adminConfig(await withDatabase(process.env));
  // Silent, because standard output is for the result; failures are thrown as well.
  const database = await openDatabase(config, createLog('admin', 'silent'), 'forecue admin');
  try {
    return await action({ config, database, em: database.orm.em.fork() });
  } finally {
    await database.close();
  }
}

function help(): string {
  const lines = [...COMMANDS].map(([name, { synopsis }]) => `  ${`${name} ${synopsis}`.trimEnd()}\n`);
  return `Usage: npm run -s admin -- COMMAND [--json]\n\n${lines.join('')}`;
}

process.exitCode = await main(process.argv.slice(2));
