import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runMain } from '../shared/lifecycle.ts';
import { DRAFT } from './request.ts';

/** A model that takes no time: the same valid answer for every request, as soon as the request is complete. */
const ANSWER = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: JSON.stringify({
            anchor: DRAFT.slice(-24),
            continuation: 'the figures of last year.',
            likelihood: 'likely',
          }),
        },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 620, completion_tokens: 24 },
  }),
);
const CHAT_HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

/** What the load generator gets when nothing stands behind it: the cost of the generator and of HTTP alone. */
const NOTHING = Buffer.from('{"status":"suggested"}');
const NOTHING_HEADERS = { 'content-type': 'application/json', 'content-length': NOTHING.length };

const server = createServer((request, response) => {
  const isChat = request.url === '/v1/chat/completions';
  request.resume().once('end', () => {
    response.writeHead(200, isChat ? CHAT_HEADERS : NOTHING_HEADERS).end(isChat ? ANSWER : NOTHING);
  });
});

await runMain(
  'provider',
  () => ({ logLevel: 'warn' }),
  async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      async stop() {
        server.closeAllConnections();
        server.close();
      },
    };
  },
);
