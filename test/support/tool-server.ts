import { fork } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { bareEnvironment } from './environment.ts';
import { listen } from './listening.ts';
import { pathOf, TestProcess } from './system.ts';

export function startToolServer(upstream: string, env: Record<string, string> = {}): Promise<TestProcess> {
  const ports = { MCP_PORT: '0', OPERATOR_PORT: '0' };
  const settings = { ...bareEnvironment(), ...ports, MCP_UPSTREAM_URL: upstream, ...env };
  return new TestProcess(fork(pathOf('ingress/mcp/main.ts'), [], { env: settings, silent: true })).ready();
}

export async function openSession(
  { url }: Pick<TestProcess, 'url'>,
  credential: string,
  { mode = 'legacy', headers = {} }: { mode?: 'legacy' | 'auto'; headers?: Record<string, string> } = {},
): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: 'coder', version: '1' }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${credential}`, ...headers } },
  });
  await client.connect(transport);
  return { client, transport };
}

/** Throws if the tool reports an error. */
export async function callTool<Result = Record<string, unknown>>(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Result> {
  const answer = await client.callTool({ name, arguments: args });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
  return answer.structuredContent as Result;
}

/** Starts a proxy that passes calls on to an ingress and records the headers of every call. */
export async function startRecordingProxy(target: string) {
  const calls: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    const { method = 'GET', url: path = '/', headers } = request;
    calls.push({ path, headers });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { host: _, connection: __, 'content-length': ___, ...forwardedHeaders } = headers;
    const answer = await fetch(target + path, {
      method,
      headers: forwardedHeaders as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  return {
    ...(await listen(server)),
    calls,
  };
}
