import {
  type Attributes,
  type Context,
  context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';

/** Without the SDK, which `start.ts` loads, everything here does nothing. */
const tracer = trace.getTracer('forecue');

/** Names a span of another process, as W3C Trace Context does in a header. Nothing else of a header is taken over. */
export interface TraceHeaders {
  traceparent?: string | undefined;
}

interface SpanOptions {
  kind: keyof typeof SpanKind;
  /** Names, numbers and ids; never a text of a person, a key or a token. */
  attributes?: Attributes;
  /** Its parent in another process. Left out: the current span. */
  from?: TraceHeaders;
}

/**
 * Runs `work` within a new span, which ends with it. Where the trace is not sampled, only its first span in this system is
 * made: every standard sampler decides alike for the others, and most calls are not sampled.
 */
export function inSpan<Result>(
  name: string,
  { kind, attributes = {}, from }: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const parent = from === undefined ? context.active() : contextOf(from);
  if (kind !== 'SERVER' && isUnsampled(parent)) return context.with(parent, work);
  return tracer.startActiveSpan(name, { kind: SpanKind[kind], attributes }, parent, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}

/** Adds a span of the milliseconds that have just passed. */
export function addPastSpan(
  name: string,
  { kind, attributes = {}, from = {} }: SpanOptions,
  ms: number,
): void {
  const parent = contextOf(from);
  if (isUnsampled(parent)) return;
  const now = Date.now();
  const options = { kind: SpanKind[kind], attributes, startTime: now - Math.max(0, ms) };
  tracer.startSpan(name, options, parent).end(now);
}

/** Describes the current span. */
export function describeSpan(attributes: Attributes, name?: string): void {
  const span = trace.getActiveSpan();
  span?.setAttributes(attributes);
  if (name !== undefined) span?.updateName(name);
}

/** Marks the current span as failed; `type` is a code. */
export function failSpan(type: string): void {
  trace.getActiveSpan()?.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Links the current span to one of another request or attempt. */
export function linkSpan(to: TraceHeaders): void {
  const linked = trace.getSpanContext(contextOf(to));
  if (linked !== undefined && isSpanContextValid(linked)) trace.getActiveSpan()?.addLink({ context: linked });
}

/** Checks whether the current span will be exported. */
export function isTraced(): boolean {
  return trace.getActiveSpan()?.isRecording() ?? false;
}

/** Headers that name the current span to another process; empty when there is none. */
export function traceHeaders(): { traceparent?: string } {
  const headers = {};
  propagation.inject(context.active(), headers);
  return headers;
}

/** The id by which the log joins the current trace. */
export function traceId(): string | undefined {
  return trace.getActiveSpan()?.spanContext().traceId;
}

/** Checks whether a span was left out of the export. False without a span. */
function isUnsampled(of: Context): boolean {
  const span = trace.getSpanContext(of);
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) === 0;
}

function contextOf({ traceparent }: TraceHeaders) {
  return traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
}
