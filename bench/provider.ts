import { createServer } from 'node:http';
import { runMain } from '../shared/process/lifecycle.ts';
import { listen } from '../test/support/listening.ts';

const SERVICE_MS = Number(process.argv[2] ?? 0);

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
          content: JSON.stringify({ next: '4the figures of last year.' }),
        },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 620, completion_tokens: 24 },
  }),
);
const CHAT_HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

/** Answer to the load generator when it calls this server directly, which measures the generator and HTTP alone. */
const BARE_ANSWER = Buffer.from('{"status":"suggested"}');
const BARE_HEADERS = { 'content-type': 'application/json', 'content-length': BARE_ANSWER.length };

const server = createServer((request, response) => {
  const isChat = request.url === '/v1/chat/completions';
  const answer = () =>
    response.writeHead(200, isChat ? CHAT_HEADERS : BARE_HEADERS).end(isChat ? ANSWER : BARE_ANSWER);
  request.resume().once('end', () => {
    if (isChat && SERVICE_MS > 0) setTimeout(answer, SERVICE_MS);
    else answer();
  });
});

await runMain(
  'provider',
  () => ({ logLevel: 'warn' }),
  async () => {
    const { url, close } = await listen(server);
    return { url, stop: close };
  },
);
