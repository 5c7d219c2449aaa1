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

/** The source of spans. Without the SDK, which `start.ts` loads, `inSpan` only runs its work, and no span is made. */
const tracer = trace.getTracer('forecue');

/** Header by which another process names its span (W3C Trace Context). No other trace header is used. */
export interface TraceHeaders {
  traceparent?: string | undefined;
}

interface SpanOptions {
  kind: keyof typeof SpanKind;
  /** Names, numbers and ids; never a person's text, a key or a token. */
  attributes?: Attributes;
  /** The parent span, which may be in another process; for `inSpan`, the current span by default. */
  parent?: TraceHeaders;
}

/**
 * Runs `work` within a new span, which ends with it. If the trace is not sampled, only spans of kind `SERVER` are made:
 * every standard sampler would decide for the others as it did for their parent, so making them would be wasted work.
 */
export function inSpan<Result>(
  name: string,
  { kind, attributes = {}, parent }: SpanOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const parentContext = parent === undefined ? context.active() : contextOf(parent);
  if (kind !== 'SERVER' && isUnsampled(parentContext)) return context.with(parentContext, work);
  return tracer.startActiveSpan(name, { kind: SpanKind[kind], attributes }, parentContext, async (span) => {
    try {
      return await work();
    } finally {
      span.end();
    }
  });
}

/** Adds a span that began `ms` ago and ends now. Without `parent`, it is a root span. */
export function addPastSpan(
  name: string,
  { kind, attributes = {}, parent = {} }: SpanOptions,
  ms: number,
): void {
  const parentContext = contextOf(parent);
  if (isUnsampled(parentContext)) return;
  const now = Date.now();
  const options = { kind: SpanKind[kind], attributes, startTime: now - Math.max(0, ms) };
  tracer.startSpan(name, options, parentContext).end(now);
}

/** Sets attributes of the current span, and its name if given. */
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

/** Returns the headers that name the current span to another process; empty when there is no span. */
export function traceHeaders(): { traceparent?: string } {
  const headers = {};
  propagation.inject(context.active(), headers);
  return headers;
}

/** Returns the id of the current trace, by which log lines refer to it. */
export function traceId(): string | undefined {
  return trace.getActiveSpan()?.spanContext().traceId;
}

/** Checks whether a context's span is left out of the export. Returns false without a span. */
function isUnsampled(of: Context): boolean {
  const span = trace.getSpanContext(of);
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) === 0;
}

function contextOf({ traceparent }: TraceHeaders) {
  return traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
}
