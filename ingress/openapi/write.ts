import { writeFileSync } from 'node:fs';
import { endpoints } from '../routes/index.ts';
import { describeEndpoints } from './document.ts';

const ADDRESS = 'http://localhost:8080';

export const DOCUMENT_FILE = new URL('../../docs/openapi.json', import.meta.url);

export function committedDocument(): string {
  return `${JSON.stringify(describeEndpoints(endpoints, ADDRESS), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(DOCUMENT_FILE, committedDocument());
