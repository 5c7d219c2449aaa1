import { ForecueError } from '../../client/src/errors.ts';
import type { Log } from '../../shared/log.ts';
import type { Fault } from '../../shared/schemas/errors.ts';
import type { Tool, ToolCall } from './tools/tool.ts';

/** The answer to `tools/call`: an object, and the same object as text for clients that read only text. */
export interface ToolAnswer extends Record<string, unknown> {
  content: { type: 'text'; text: string }[];
  /** Absent from an error: it has another shape than the tool's output schema, by which clients check it. */
  structuredContent?: Record<string, unknown>;
  isError?: true;
}

/** Runs a tool. Returns an error as an answer, so that the model reads it and can correct its call. */
export async function callTool(tool: Tool, args: unknown, call: ToolCall, log: Log): Promise<ToolAnswer> {
  const checked = tool.check(args);
  if (!checked.ok) return failureAnswer(invalidArguments(checked.faults));
  try {
    return answerOf(await tool.run(checked.value, call));
  } catch (error) {
    if (error instanceof ForecueError) return failureAnswer(explain(error));
    // An error of a cancelled call is no defect.
    if (!call.signal.aborted) log.error({ err: error, tool: tool.name }, 'defect');
    return failureAnswer({
      code: 'internal_error',
      message: 'Something went wrong on our side.',
      next: NEXT_STEPS.report,
    });
  }
}

interface Failure {
  code: string;
  message: string;
  next: string;
  retry_after?: number;
  fields?: { field: string; message: string }[];
}

const NEXT_STEPS: Record<ForecueError['remedy'], string> = {
  retry: 'Call again later.',
  authenticate: 'Start a new session with a valid key or access token.',
  upgrade: 'Tell the person: their quota or plan allows no more.',
  connect: 'Tell the person to connect again.',
  new_id: 'Call again with another id.',
  fix_request: 'Change the arguments; the same call will fail again.',
  report: 'Tell the people who run the server.',
};

export function explain(error: ForecueError): Failure {
  const { code, message, retryAfter, fields, remedy } = error;
  return {
    code,
    message,
    next: NEXT_STEPS[remedy],
    ...(retryAfter !== undefined && { retry_after: retryAfter }),
    ...(fields.length > 0 && {
      fields: fields.map(({ loc, msg }) => ({ field: fieldOf(loc), message: msg })),
    }),
  };
}

function invalidArguments(faults: readonly Fault[]): Failure {
  const fields = faults.map(({ loc, msg }) => ({ field: fieldOf(loc), message: msg }));
  const message = fields.map((one) => `${one.field}: ${one.message}`).join('; ');
  return { code: 'validation_error', message, next: NEXT_STEPS.fix_request, fields };
}

/** Returns the path of an invalid field without its first part, such as `body`. */
function fieldOf(loc: readonly (string | number)[]): string {
  return loc.slice(1).join('.') || 'arguments';
}

/** The text is no JSON as a whole, since Gemini CLI takes such a text for structured content, and checks it as that. */
function failureAnswer(error: Failure): ToolAnswer {
  return { content: [{ type: 'text', text: `Error: ${JSON.stringify(error)}` }], isError: true };
}

function answerOf(result: object): ToolAnswer {
  const structuredContent = { ...result };
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
}
