import type { DERIVED_ORIGINS } from '../schemas/limits.ts';
import type { Said } from './clusters.ts';
import { extractedFrom } from './extract.ts';

/** A raw row as promotion reads it. */
export interface RawToPromote extends Said {
  role: string | null;
  origin: string;
  agent: string | null;
}

/** What an episode says. */
export interface EpisodeText {
  title: string;
  summary: string;
  tags: string[];
  /** From 0 to 1. */
  salience: number;
}

/** What promotion makes of rows, and by whom. */
export interface EpisodeDraft extends EpisodeText {
  origin: Extract<(typeof DERIVED_ORIGINS)[number], 'model' | 'extractive'>;
  model: string;
}

const SALIENCE = 0.5;

/** An episode without a model; undefined when its rows have nothing that can be shown. */
export function extractiveDraft(rows: readonly RawToPromote[]): EpisodeDraft | undefined {
  const text = extractedFrom(rows);
  return text && { ...text, tags: [], salience: SALIENCE, origin: 'extractive', model: 'local' };
}
