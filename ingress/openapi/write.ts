import { writeFileSync } from 'node:fs';
import { endpoints } from '../routes/index.ts';
import { DOCUMENT_FILE, type Examples, readExamples } from './committed.ts';
import { describeEndpoints } from './document.ts';

export function writtenDocument(examples: Record<string, Examples> = readExamples()): string {
  return `${JSON.stringify(describeEndpoints(endpoints, examples), null, 2)}\n`;
}

if (import.meta.main) writeFileSync(DOCUMENT_FILE, writtenDocument());
