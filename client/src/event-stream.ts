/** A server-sent event (HTML Living Standard, 9.2), in the form that the server writes. */
export interface ServerSentEvent {
  name: string;
  data: string;
  id: string | undefined;
}

/** Silence after which a stream counts as dead. The server sends something on a job's stream at least every 15 s. */
const SILENT_MS = 30_000;

/** Ends when the server ends the answer; throws if the connection breaks or falls silent. */
export async function* eventsIn(response: Response): AsyncGenerator<ServerSentEvent> {
  let fields: Record<string, string> = {};
  for await (const line of linesIn(response)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (line !== '') fields[name] = value;
    else {
      const { event, data, id } = fields;
      fields = {};
      if (event !== undefined && data !== undefined) yield { name: event, data, id };
    }
  }
}

/** Yields the lines of an answer, without any text after the last line break. */
export async function* linesIn(response: Response): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await withTimeout(SILENT_MS, reader.read());
      rest += decoder.decode(value, { stream: !done });
      const lines = rest.split(/\r?\n/);
      rest = lines.pop() ?? '';
      yield* lines;
      if (done) return;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silent = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the stream is silent')), ms);
  });
  return Promise.race([work, silent]).finally(() => clearTimeout(timer));
}
