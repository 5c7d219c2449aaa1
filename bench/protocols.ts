import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Protocol } from './wire-tap.ts';

const PARSE = 'P';
const BIND = 'B';
const QUERY = 'Q';
const NOTIFICATION = 'A';
const SHOWN_LENGTH = 70;

/** PostgreSQL's frontend/backend protocol, version 3. Identifies a statement by its name, or else by its beginning. */
export const postgresProtocol: Protocol = {
  readSent() {
    // Only the very first message has no type: it begins with its length.
    const readMessages = messages({ untyped: true });
    let unnamed = '';
    return (chunk) =>
      readMessages(chunk).flatMap(({ type, body }) => {
        if (type === QUERY) return [shorten(text(body, 0))];
        if (type === PARSE && text(body, 0) === '') unnamed = shorten(text(body, 1));
        if (type !== BIND) return [];
        const portal = text(body, 0);
        return [text(body, portal.length + 1) || unnamed];
      });
  },
  readPushed() {
    const readMessages = messages({ untyped: false });
    return (chunk) =>
      readMessages(chunk).flatMap(({ type, body }) =>
        type === NOTIFICATION ? [`notification ${text(body, 4)}`] : [],
      );
  },
};

/** The Redis protocol. BullMQ's scripts are identified by their names. */
export async function redisProtocol(): Promise<Protocol> {
  const scripts = await bullmqScripts();
  return {
    readSent() {
      let pending = '';
      return (chunk) => {
        pending += chunk.toString('latin1');
        const statements: string[] = [];
        for (let read = command(pending); read !== undefined; read = command(pending)) {
          pending = pending.slice(read.size);
          const [name = '', script = ''] = read.words;
          statements.push(
            /^evalsha$/i.test(name)
              ? `evalsha ${scripts.get(script) ?? script}`
              : read.words.slice(0, 2).join(' '),
          );
        }
        return statements.map(shorten);
      };
    },
    // Keeps no unfinished bytes, unlike `readSent`: a message as short as a wake-up arrives in one piece.
    readPushed: () => (chunk) =>
      [...chunk.toString('latin1').matchAll(/[*>]3\r\n\$7\r\nmessage\r\n\$\d+\r\n([^\r]+)/g)].map(
        ([, channel]) => `message ${channel}`,
      ),
  };
}

/** Cuts a stream of bytes into messages: a type, a length that includes itself, a body. */
function messages({ untyped }: { untyped: boolean }): (chunk: Buffer) => { type: string; body: Buffer }[] {
  let pending = Buffer.alloc(0);
  let prefix = untyped ? 0 : 1;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    const complete = [];
    while (pending.length >= prefix + 4) {
      const end = prefix + pending.readUInt32BE(prefix);
      if (pending.length < end) break;
      complete.push({ type: pending.toString('latin1', 0, prefix), body: pending.subarray(prefix + 4, end) });
      pending = pending.subarray(end);
      prefix = 1;
    }
    return complete;
  };
}

/** Parses one command (`*<words>`, then `$<length>` and the bytes of each); undefined if it is incomplete. */
function command(bytes: string): { words: string[]; size: number } | undefined {
  const [line, count] = bytes.match(/^\*(\d+)\r\n/) ?? [];
  if (line === undefined) return undefined;
  const words: string[] = [];
  let at = line.length;
  while (words.length < Number(count)) {
    const [head, length] = bytes.slice(at, at + 20).match(/^\$(\d+)\r\n/) ?? [];
    const start = at + (head?.length ?? 0);
    const end = start + Number(length);
    if (head === undefined || bytes.length < end + 2) return undefined;
    words.push(bytes.slice(start, end));
    at = end + 2;
  }
  return { words, size: at };
}

async function bullmqScripts(): Promise<Map<string, string>> {
  const folder = join(import.meta.dirname, '../node_modules/bullmq/dist/esm/scripts');
  const names = (await readdir(folder)).filter((file) => /-\d+\.js$/.test(file));
  const scripts = await Promise.all(
    names.map(
      async (file) => Object.values(await import(join(folder, file))) as { name: string; content: string }[],
    ),
  );
  return new Map(
    scripts.flat().map(({ name, content }) => [createHash('sha1').update(content).digest('hex'), name]),
  );
}

function text(body: Buffer, from: number): string {
  return body.toString('utf8', from, body.indexOf(0, from));
}

function shorten(statement: string): string {
  const line = statement.replace(/\s+/g, ' ').trim();
  return line.length > SHOWN_LENGTH ? `${line.slice(0, SHOWN_LENGTH - 1)}…` : line;
}
