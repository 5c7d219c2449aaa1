import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Settings } from './state.ts';

export interface Answer {
  id: string;
  decision: 'allow' | 'ask';
  allowed: number;
  refused: number;
  required: number | null;
}

/** Asks Forecue once, without `fetch`, which takes longer to load than the answer. Throws why there is no answer. */
export function ask({ url, key }: Settings, body: object, signal: AbortSignal): Promise<Answer> {
  const address = new URL('/api/predictions/permission/', url);
  const send = address.protocol === 'https:' ? requestHttps : requestHttp;
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-service-api-key': key,
  };
  return new Promise((resolve, reject) => {
    const sent = send(address, { method: 'POST', headers, signal }, (response) => {
      const { statusCode } = response;
      if (statusCode === 200) json(response).then((answer) => resolve(answer as Answer), reject);
      else {
        response.resume();
        reject(
          new Error(
            statusCode === 401 || statusCode === 403 ? 'the key is not accepted' : `HTTP ${statusCode}`,
          ),
        );
      }
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
