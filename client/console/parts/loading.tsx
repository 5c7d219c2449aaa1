import { t } from '../strings/index.ts';
import type { Loaded } from './hooks.ts';
import { ErrorNote } from './ui.tsx';

export function Skeleton({ lines = 3 }: { lines?: number | undefined }) {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">{t.loading}</span>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} />
      ))}
    </div>
  );
}

/** Stands for what is loading, with as many lines, and says why it failed. */
export function Loading({ of: { value, error, again }, lines }: { of: Loaded<unknown>; lines?: number }) {
  if (error !== undefined) return <ErrorNote error={error} again={again} />;
  return value === undefined ? <Skeleton lines={lines} /> : null;
}
