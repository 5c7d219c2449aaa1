import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { AccountClient } from '../../client/src/api.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Log } from '../../shared/log.ts';
import { NAME_MAX } from '../../shared/schemas/limits.ts';
import { callTool } from './call-tool.ts';
import { getPrompt, prompts, readResource, resources } from './material.ts';
import { withProgress } from './progress.ts';
import { DATA } from './tools/data.ts';
import { tools } from './tools/index.ts';

/** The surroundings of every session's server. */
export interface ToolServing {
  /** The interface, with the credential of the request. */
  accountOf(ctx: ServerContext): AccountClient;
  publicUrl: string;
  log: Log;
}

const INFO = { name: 'forecue', title: 'Forecue', version: packageJson.version };
const OPTIONS = {
  capabilities: { tools: {}, resources: {}, prompts: {} },
  instructions: `Forecue predicts what the person would reply. Before you ask them, call predict_reply; act on "auto", ask on "escalated", then call send_feedback. ${DATA}`,
};
const LISTED = tools.map(({ listed }) => listed) as never;
const BY_NAME = new Map(tools.map((tool) => [tool.name, tool]));

/** The protocol's side of one client: of a session, of a request that has none, or of a pipe. */
export function createToolServer({ accountOf, publicUrl, log }: ToolServing): Server {
  const server = new Server(INFO, OPTIONS);
  const readingOf = (ctx: ServerContext) => ({ account: accountOf(ctx), signal: ctx.mcpReq.signal });
  server.setRequestHandler('tools/list', () => ({ tools: LISTED }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, ctx) => {
    const tool = BY_NAME.get(name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no tool is named ${JSON.stringify(name)}`);
    const agent = server.getClientVersion()?.name.slice(0, NAME_MAX) || 'agent';
    return withProgress(ctx, callTool(tool, args, { ...readingOf(ctx), agent, publicUrl }, log));
  });
  server.setRequestHandler('resources/list', () => ({ resources }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }, ctx) => readResource(params.uri, readingOf(ctx)));
  server.setRequestHandler('prompts/list', () => ({ prompts }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, ctx) =>
    getPrompt(name, args, readingOf(ctx)),
  );
  return server;
}
