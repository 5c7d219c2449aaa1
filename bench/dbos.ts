import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createAsk } from './ask.ts';
import { runBareApp } from './bare-app.ts';
import { install } from './installation.ts';

const [providerUrl = '', postgresUrl = '', packages = ''] = process.argv.slice(2);

type Predict = ReturnType<typeof createAsk>;
interface Sdk {
  DBOS: {
    setConfig(config: object): void;
    launch(): Promise<void>;
    shutdown(): Promise<void>;
    runStep(step: () => Promise<string>, options: { name: string }): Promise<string>;
    registerWorkflow(workflow: Predict, options: { name: string }): Predict;
    startWorkflow(
      workflow: Predict,
      options: { workflowID: string },
    ): (...request: Parameters<Predict>) => Promise<{ getResult(): Promise<string> }>;
  };
}

/** Serves predictions with DBOS: each request is a workflow of one step, which PostgreSQL stores. */
await runBareApp('dbos', async () => {
  const { DBOS } = createRequire(join(packages, 'index.js'))('@dbos-inc/dbos-sdk') as Sdk;
  const database = await install(postgresUrl, 'dbos');
  const ask = createAsk(providerUrl);
  const predict = DBOS.registerWorkflow((request) => DBOS.runStep(() => ask(request), { name: 'ask' }), {
    name: 'predict',
  });
  DBOS.setConfig({
    name: 'bench',
    systemDatabaseUrl: database.databaseUrl,
    systemDatabasePoolSize: 20,
    runAdminServer: false,
    logLevel: 'warn',
  });
  await DBOS.launch();
  return {
    async predict(request) {
      const handle = await DBOS.startWorkflow(predict, { workflowID: request.request_id })(request);
      return handle.getResult();
    },
    async close() {
      await DBOS.shutdown();
      await database[Symbol.asyncDispose]();
    },
  };
});
