import type { IncomingHttpHeaders } from 'node:http';
import { projectOf } from '../../shared/domain/project.ts';
import { SOURCE_DETAIL_MAX } from '../../shared/schemas/limits.ts';

/** Returns the project that the header `Forecue-Project` names; undefined if there is none. */
export function requestedProject({ 'forecue-project': value }: IncomingHttpHeaders): string | undefined {
  return value === undefined
    ? undefined
    : (projectOf(decode(String(value)).slice(0, SOURCE_DETAIL_MAX)) ?? undefined);
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
