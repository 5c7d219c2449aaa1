import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runMain } from '../shared/process/lifecycle.ts';
import type { PredictionRequest } from '../shared/schemas/predictions.ts';
import { freePort } from '../test/support/free-port.ts';
import { createAsk } from './ask.ts';

const [providerUrl = '', packages = ''] = process.argv.slice(2);
const START_TRIES = 100;

interface Sdk {
  service(definition: {
    name: string;
    handlers: Record<string, (ctx: Context, request: PredictionRequest) => Promise<object>>;
  }): object;
  serve(options: { services: object[]; port: number }): Promise<number>;
}
interface Context {
  run(name: string, step: () => Promise<string>): Promise<string>;
}

/** Restate's server takes the calls, keeps them in its log, and has this process run a handler of one step. */
await runMain(
  'restate',
  () => ({ logLevel: 'warn' }),
  async () => {
    const restate = createRequire(join(packages, 'index.js'))('@restatedev/restate-sdk') as Sdk;
    const ask = createAsk(providerUrl);
    const predictions = async (ctx: Context, request: PredictionRequest) => ({
      request_id: request.request_id,
      status: 'suggested',
      completion: await ctx.run('ask', () => ask(request)),
    });
    const handlerPort = await freePort();
    await restate.serve({
      services: [restate.service({ name: 'v1', handlers: { predictions } })],
      port: handlerPort,
    });

    const folder = await mkdtemp(join(tmpdir(), 'restate-'));
    const program = join(
      packages,
      `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
    );
    const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
    const server = spawn(program, ['--base-dir', folder], {
      stdio: 'ignore',
      env: {
        ...process.env,
        RUST_LOG: 'warn',
        RESTATE_DISABLE_TELEMETRY: 'true',
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
      },
    });
    await register(`http://127.0.0.1:${admin}/deployments`, `http://127.0.0.1:${handlerPort}`);
    return {
      url: `http://127.0.0.1:${ingress}`,
      async stop() {
        const exited = once(server, 'exit');
        server.kill('SIGTERM');
        await exited;
        await rm(folder, { recursive: true });
        process.exit();
      },
    };
  },
);

/** Retries, because the server may still be starting. */
async function register(deployments: string, uri: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const call = { method: 'POST', headers, body: JSON.stringify({ uri }) };
  for (let tries = 1; ; tries += 1) {
    const registered = await fetch(deployments, call).catch((error: Error) => error);
    if (registered instanceof Response && registered.ok) return;
    if (tries === START_TRIES) throw new Error(`${deployments}: ${registered}`);
    await sleep(100);
  }
}
