import { createHash } from 'node:crypto';
import type { ContextMeta } from '../schemas/memory-context.ts';
import type { ContextBundle } from './context-bundle.ts';

/**
 * Which rows a bundle had, without any of their texts: what is stored with a prediction needs no redaction when a row is
 * deleted. The hash tells whether a row that still exists said the same.
 */
export interface BundleSnapshot {
  revision: number;
  counts: ContextMeta['counts'];
  items: { kind: 'fact' | 'episode' | 'raw'; id: string; sha256: string }[];
}

export function bundleIds({ facts, episodes, raw, meta }: ContextBundle): BundleSnapshot {
  return {
    revision: meta.revision,
    counts: meta.counts,
    items: [
      ...facts.map(({ id, text }) => ({ kind: 'fact' as const, id, sha256: hashOf(id, text) })),
      ...episodes.map(({ id, title, summary }) => ({
        kind: 'episode' as const,
        id,
        sha256: hashOf(id, title, summary),
      })),
      ...raw.map(({ id, content }) => ({ kind: 'raw' as const, id, sha256: hashOf(id, content) })),
    ],
  };
}

/** With the id, so that equal texts of different rows cannot be told. */
function hashOf(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
