import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { AccountClient } from '../../client/src/api.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Log } from '../../shared/log.ts';
import { NAME_MAX } from '../../shared/schemas/limits.ts';
import { callTool } from './call-tool.ts';
import { getPrompt, prompts, readResource, resources } from './resources-and-prompts.ts';
import { fetchRow, search } from './tools/connector.ts';
import { forget, remember, stats } from './tools/memory.ts';
import { predictReply, sendFeedback } from './tools/predict.ts';
import { getContext, recall } from './tools/recall.ts';
import { recordEvents } from './tools/record.ts';
import { DATA_WARNING, type Tool } from './tools/tool.ts';

export interface ToolServerParts {
  accountOf(ctx: ServerContext): AccountClient;
  /** Name of the agent, if another request has initialized its session. */
  agent?: string;
  publicUrl: string;
  log: Log;
}

const SERVER_INFO = { name: 'forecue', title: 'Forecue', version: packageJson.version };
const SERVER_OPTIONS = {
  capabilities: { tools: {}, resources: {}, prompts: {} },
  instructions: `Forecue predicts what the person would reply. Before you ask them, call predict_reply; act on "auto", ask on "escalated", then call send_feedback. ${DATA_WARNING}`,
};

/** Every tool, in the order of the list that clients get. */
const tools: readonly Tool[] = [
  predictReply,
  sendFeedback,
  remember,
  recall,
  getContext,
  recordEvents,
  forget,
  stats,
  search,
  fetchRow,
];
const TOOL_LIST = tools.map(({ listed }) => listed) as never;
const TOOLS_BY_NAME = new Map(tools.map((tool) => [tool.name, tool]));

/** Creates the MCP server for one request, or for a stdio pipe. */
export function createToolServer({ accountOf, agent: knownAgent, publicUrl, log }: ToolServerParts): Server {
  const server = new Server(SERVER_INFO, SERVER_OPTIONS);
  const readingContext = (ctx: ServerContext) => ({ account: accountOf(ctx), signal: ctx.mcpReq.signal });
  server.setRequestHandler('tools/list', () => ({ tools: TOOL_LIST }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, ctx) => {
    const tool = TOOLS_BY_NAME.get(name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `no tool is named ${JSON.stringify(name)}`);
    const agent = (knownAgent ?? server.getClientVersion()?.name)?.slice(0, NAME_MAX) || 'agent';
    return withProgress(ctx, callTool(tool, args, { ...readingContext(ctx), agent, publicUrl }, log));
  });
  server.setRequestHandler('resources/list', () => ({ resources }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params }, ctx) =>
    readResource(params.uri, readingContext(ctx)),
  );
  server.setRequestHandler('prompts/list', () => ({ prompts }));
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, ctx) =>
    getPrompt(name, args, readingContext(ctx)),
  );
  return server;
}

const PROGRESS_EVERY_MS = 1000;

/** Reports progress each second to a caller that asked for it, so that the caller does not give up. */
async function withProgress<T>({ mcpReq }: ServerContext, call: Promise<T>): Promise<T> {
  const { progressToken } = mcpReq._meta ?? {};
  if (progressToken === undefined) return call;
  const since = performance.now();
  const timer = setInterval(() => {
    const progress = Math.round((performance.now() - since) / 1000);
    const params = { progressToken, progress, message: `Waiting for Forecue: ${progress} s` };
    // Fails if the caller is gone.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
  }, PROGRESS_EVERY_MS);
  return call.finally(() => clearInterval(timer));
}
