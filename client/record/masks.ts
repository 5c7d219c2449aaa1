import { stat } from 'node:fs/promises';
import { MASKED_KINDS } from '../../shared/text/secrets.ts';
import { findFiles } from '../../shared/transcripts/find-files.ts';
import { eventsOf } from '../../shared/transcripts/import-file.ts';
import { FileReport } from '../../shared/transcripts/report.ts';

const MASK = /[^\n]{0,30}\[masked ([a-z ]{1,20})\][^\n]{0,30}/g;
const SESSIONS_MAX = 20;
const EXAMPLES_MAX = 5;

/** Describes what is masked in general, and shows the masks in the latest sessions of a folder. */
export async function masksIn(folder: string): Promise<string> {
  const kinds = `Masked before anything leaves this machine, by their known shapes: ${MASKED_KINDS.map((kind) => `${kind}s`).join(', ')}.`;
  const paths = await latestIn(folder);
  if (paths.length === 0) return kinds;
  const masks: string[] = [];
  for (const path of paths)
    for await (const { event } of eventsOf(path, new FileReport(path), {
      signal: new AbortController().signal,
    }))
      for (const text of [event['prompt'], event['reply'], event['text']])
        masks.push(...(text?.match(MASK) ?? []));
  const sessions = `In your latest ${paths.length === 1 ? 'session' : `${paths.length} sessions`}`;
  if (masks.length === 0) return `${kinds}\n${sessions} nothing looks like one.`;
  const shown = masks.slice(0, EXAMPLES_MAX).map((one) => `  …${one.trim()}…`);
  const more = masks.length > shown.length ? [`  and ${masks.length - shown.length} more`] : [];
  return [kinds, `${sessions}:`, ...shown, ...more].join('\n');
}

async function latestIn(folder: string): Promise<string[]> {
  const found = (await findFiles([folder])).filter(({ isNamed }) => !isNamed);
  const dated = await Promise.all(
    found.map(async ({ path }) => ({ path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const latest = dated.sort((a, b) => b.at - a.at).slice(0, SESSIONS_MAX);
  return latest.map(({ path }) => path);
}
