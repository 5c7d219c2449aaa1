#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { escapeInvisible, print } from '../../shared/text/visible.ts';
import { approve } from '../approve/approve.ts';
import { pipe } from '../mcp/pipe.ts';
import { catchUp, hook } from '../record/hook.ts';
import { endRecording, record } from '../record/record.ts';
import { ForecueError } from '../src/api.ts';
import { baseOf } from '../src/base-url.ts';
import { checkCredential } from '../src/session.ts';

const HELP = `forecue record           records what you and Claude Code say to each other from now on; first shows what is masked
forecue record --yes     the same without a question
forecue record --remove  ends that, and forgets the key
forecue record PATH…     records transcripts that are there: files, and folders of them
forecue approve install [claude-code] [codex] [--project] [--shadow] [--wait-ms 300]
                         answers the agents' requests for permission that you allowed the like of before
forecue approve uninstall|status|why|on|off|shadow
forecue approve on|off --account
                         whether anything is decided for you, on any machine, replies to agents too
forecue mcp URL          the tools of the tool server at that address (…/mcp), over standard input and output

A key of your account is taken from FORECUE_KEY, and for recording Forecue's address from FORECUE_URL.
`;

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments(args);
  const [command, ...rest] = positionals;
  if (command === 'hook') return hook();
  if (command === 'catch-up') return catchUp(rest[0] ?? '', values.over);
  if (values.help) return print(HELP);
  if (command === 'approve') return approve(rest, { ...values, waitMs: values['wait-ms'] });
  if (command === 'record') return values.remove ? endRecording() : record(rest, values.yes);
  if (command === 'mcp') return serveTools(rest, process.env['FORECUE_KEY'] ?? '');
  print(HELP);
}

function textOf(error: unknown): string {
  if (error instanceof ForecueError) return escapeInvisible(error.message);
  return error instanceof TypeError ? error.message : ((error as Error)?.stack ?? String(error));
}

function parseArguments(args: string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const options = {
    yes: flag,
    remove: flag,
    help: flag,
    over: flag,
    project: flag,
    account: flag,
    shadow: flag,
    'wait-ms': { type: 'string' },
  } as const;
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new TypeError(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
  }
}

async function serveTools([address]: string[], key: string): Promise<void> {
  if (address === undefined)
    throw new TypeError('name the address of the tool server: forecue mcp http://127.0.0.1:8090/mcp');
  checkCredential('FORECUE_KEY', key);
  return pipe(new URL(baseOf(address)), key, process.stdin, process.stdout);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  print(`forecue: ${textOf(error)}\n`, process.stderr);
  process.exitCode = 1;
}
