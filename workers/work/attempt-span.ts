import type { Claim } from '../../shared/db/stores/work/claim.ts';
import type { End, Traced } from '../../shared/domain/work.ts';
import { addPastSpan, describeSpan, failSpan, inSpan, type TraceHeaders } from '../../shared/tracing/span.ts';

/** Performs an attempt within its span. It goes on with the trace of the work's admission, as its time in the queue does. */
export function inAttemptSpan(claim: Claim, perform: () => Promise<void>): Promise<void> {
  const { id, kind, attempt, queuedMs } = claim;
  const from: TraceHeaders = (claim.facts as Traced).trace ?? {};
  const attributes = { 'forecue.work.id': id, 'forecue.work.kind': kind, 'forecue.work.attempt': attempt };
  if (from.traceparent !== undefined)
    addPastSpan(`queue ${kind}`, { kind: 'INTERNAL', attributes, from }, queuedMs);
  return inSpan(`process ${kind}`, { kind: 'CONSUMER', attributes, from }, perform);
}

/** Describes how the attempt ended; undefined: its work was taken away. */
export function describeEnd(end: End | undefined): void {
  const how = end?.code ?? end?.state ?? 'taken_away';
  describeSpan({ 'forecue.work.end': how });
  if (end?.state === 'failed') failSpan(how);
}
