import { type AccountClient, type AccountClientOptions, createAccountClient } from '../../client/src/api.ts';
import { type AppClient, type AppClientOptions, createAppClient } from '../../client/src/v1.ts';
import { describeWhere } from './describe-where.ts';
import { hasPython, PythonClients, type PythonMode } from './python-client.ts';

export type ClientOptions = Omit<AppClientOptions & AccountClientOptions, 'fetch'>;

/** Creates a client with the methods of both surfaces. */
export type CreateClient = (options: ClientOptions) => AppClient & AccountClient;

/** Runs a suite with each client: in TypeScript, and in Python with and without `async`. */
export function describeEachClient(title: string, suite: (create: CreateClient) => void): void {
  describe(`${title} in TypeScript`, () => suite(createTypeScriptClient));
  for (const mode of ['sync', 'async'] satisfies PythonMode[])
    describeWhere(hasPython, `${title} in Python, ${mode}`, 'there is no python3 from 3.9 on', () => {
      let clients: PythonClients;
      before(() => {
        clients = new PythonClients();
      });
      after(() => clients.close());
      suite((options) => clients.create(mode, options));
    });
}

function createTypeScriptClient(options: ClientOptions): AppClient & AccountClient {
  return { ...createAccountClient(options), ...createAppClient(options) };
}
