import { Agent, request } from 'node:http';
import type { PredictionRequest } from '../shared/schemas/predictions.ts';

/** Asks the provider in the cheapest way: on kept-alive connections, without checking the answer. */
export function createAsk(baseUrl: string): (request: PredictionRequest) => Promise<string> {
  const url = new URL(`${baseUrl}/chat/completions`);
  const options = { method: 'POST', agent: new Agent({ keepAlive: true }) };
  return async ({ draft, messages }) => {
    const turns = [...messages, { role: 'user', content: draft.text }];
    const body = JSON.stringify({
      model: 'bench',
      messages: turns.map(({ role, content }) => ({ role, content })),
    });
    const headers = {
      authorization: 'Bearer sk-bench',
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    request(url, { ...options, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve(text)).on('error', reject);
    })
      .on('error', reject)
      .end(body);
    return JSON.parse(await promise).choices[0].message.content;
  };
}
