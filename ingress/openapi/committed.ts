import type { Endpoint } from '../endpoint.ts';
import { endpoints, type Parts } from '../routes/index.ts';
import { describeEndpoints } from './document.ts';

/** Where a development start serves. */
const ADDRESS = 'http://localhost:8080';

export const DOCUMENT_FILE = new URL('../../docs/openapi.json', import.meta.url);

/** The table of every endpoint, to be read and not run: its handlers have nothing to work with. */
export function declaredEndpoints(): Endpoint[] {
  return endpoints({} as Parts);
}

/** The document as it is committed. */
export function committedDocument(): string {
  return `${JSON.stringify(describeEndpoints(declaredEndpoints(), ADDRESS), null, 2)}\n`;
}
