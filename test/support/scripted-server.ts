import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listening.ts';

export interface ScriptedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A scripted answer; undefined cuts the connection without one. */
export type ScriptedAnswer = { status?: number; headers?: Record<string, string>; body?: string } | undefined;

export interface ScriptedServer extends AsyncDisposable {
  url: string;
  requests: ScriptedRequest[];
}

/** Answers each request as scripted; the last step repeats. */
export async function startScriptedServer(...steps: ScriptedAnswer[]): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push({ method, url, headers, body: await text(request) });
    const step = steps.length > 1 ? steps.shift() : steps[0];
    if (step === undefined) return void response.destroy();
    const { status = 200, body = '{}' } = step;
    response.writeHead(status, { 'content-type': 'application/json', ...step.headers }).end(body);
  });
  return {
    ...(await listen(server)),
    requests,
  };
}

/** Builds an error answer, as `/v1` writes it. */
export function refusal(status: number, code: string, headers: Record<string, string> = {}): ScriptedAnswer {
  return { status, headers, body: JSON.stringify({ detail: { code } }) };
}
