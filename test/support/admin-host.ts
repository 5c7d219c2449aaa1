import './quick-discovery.ts';
import { Readable } from 'node:stream';

export interface AdminRequest {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  input: string;
}

export interface AdminReply {
  code: number;
  stdout: string;
  stderr: string;
}

let runs = 0;

/** Runs the command line's main file again; the modules that it imports stay loaded. One run at a time. */
async function run({ args, env, input }: AdminRequest): Promise<AdminReply> {
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    process[stream].write = (chunk: string | Uint8Array) => {
      output[stream] += chunk;
      return true;
    };
  Object.defineProperty(process, 'stdin', { value: Readable.from(input), configurable: true });
  process.argv.splice(2, Infinity, ...args);
  process.env = { ...env };
  runs += 1;
  await import(`../../bin/admin/main.ts?run=${runs}`);
  return { code: Number(process.exitCode), ...output };
}

process.on('message', async (request: AdminRequest) => process.send?.(await run(request)));
process.on('disconnect', () => process.exit());
