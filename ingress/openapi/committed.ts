import { readFileSync } from 'node:fs';
import type { Endpoint } from '../http/endpoint.ts';

export const DOCUMENT_FILE = new URL('../../docs/openapi.json', import.meta.url);

interface Media {
  example?: unknown;
}

interface Operation {
  operationId: string;
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, { content?: Record<string, Media> }>;
}

interface CommittedDocument {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
}

/** Examples of an operation's request, and of its answers by status. */
export type Examples = Partial<Record<'request' | number, unknown>>;

/** Returns an endpoint's path as the document writes it. */
export function documentPath({ path }: Pick<Endpoint, 'path'>): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** Reads the document as `npm run openapi` wrote it. */
export function readDocument(): CommittedDocument {
  return JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8'));
}

/** Reads the examples by operation. A test records them into the document, and each new document keeps them. */
export function readExamples(): Record<string, Examples> {
  const operations = Object.values(readDocument().paths).flatMap((methods) => Object.values(methods));
  return Object.fromEntries(
    operations.map(({ operationId, requestBody, responses }) => {
      const bodies = Object.entries({ request: requestBody, ...responses });
      return [
        operationId,
        Object.fromEntries(bodies.map(([name, body]) => [name, exampleIn(body?.content)])),
      ];
    }),
  );
}

/** The first type of a body has the example, of which one for an event stream is made. */
function exampleIn(content: Record<string, Media> = {}): unknown {
  return Object.values(content)[0]?.example;
}
