import { writeFileSync } from 'node:fs';
import { committedDocument, DOCUMENT_FILE } from './committed.ts';

writeFileSync(DOCUMENT_FILE, committedDocument());
