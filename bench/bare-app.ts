import Koa from 'koa';
import { koaBody } from 'koa-body';
import { listen } from '../ingress/http/server.ts';
import { runMain } from '../shared/process/lifecycle.ts';
import type { PredictionRequest } from '../shared/schemas/predictions.ts';

/** Serves `predict` over Koa in the simplest way: JSON in, JSON out, nothing checked. */
export async function runBareApp(
  name: string,
  start: () => Promise<{ predict(request: PredictionRequest): Promise<string>; close(): Promise<unknown> }>,
): Promise<void> {
  await runMain(
    name,
    () => ({ logLevel: 'warn' }),
    async () => {
      const { predict, close } = await start();
      const app = new Koa();
      app.use(koaBody());
      app.use(async (ctx) => {
        const request = ctx.request.body as unknown as PredictionRequest;
        const completion = await predict(request);
        ctx.body = { request_id: request.request_id, status: 'suggested', completion };
      });
      const server = await listen({ host: '127.0.0.1', port: 0 });
      server.serve(app.callback());
      return {
        url: server.url,
        async stop() {
          await server.close(100);
          await close();
        },
      };
    },
  );
}
