import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const fileOf = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

/** The one style sheet of the pages that the server renders. */
export const STYLE = `\n${fileOf('base.css')}${fileOf('card.css')}`;

/** Hash by which the Content-Security-Policy lets it through. */
export const STYLE_SOURCE = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
