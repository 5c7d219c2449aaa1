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

/** Makes no span unless `start.ts` has loaded the SDK. */
const tracer = trace.getTracer('forecue');

/** Headers that identify a span to another process (W3C Trace Context). */
export interface TraceHeaders {
  traceparent?: string | undefined;
}

interface SpanOptions {
  kind: keyof typeof SpanKind;
  /** Names, numbers and ids; never a person's text, a key or a token. */
  attributes?: Attributes;
  /** Parent span, which may be in another process. Without it, `inSpan` uses the current span. */
  parent?: TraceHeaders;
}

/**
 * Runs `work` in a new span. In an unsampled trace, creates only `SERVER` spans, whose parent is the client's: the
 * sampler would drop any other span as it dropped the parent.
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

export function describeSpan(attributes: Attributes, name?: string): void {
  const span = trace.getActiveSpan();
  span?.setAttributes(attributes);
  if (name !== undefined) span?.updateName(name);
}

/** Marks the current span as failed. `type` is an error code. */
export function failSpan(type: string): void {
  trace.getActiveSpan()?.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR });
}

export function linkSpan(to: TraceHeaders): void {
  const linked = trace.getSpanContext(contextOf(to));
  if (linked !== undefined && isSpanContextValid(linked)) trace.getActiveSpan()?.addLink({ context: linked });
}

export function isTraced(): boolean {
  return trace.getActiveSpan()?.isRecording() ?? false;
}

/** Returns an empty object if there is no span. */
export function traceHeaders(): { traceparent?: string } {
  const headers = {};
  propagation.inject(context.active(), headers);
  return headers;
}

export function traceId(): string | undefined {
  return trace.getActiveSpan()?.spanContext().traceId;
}

/** Returns false without a span. */
function isUnsampled(of: Context): boolean {
  const span = trace.getSpanContext(of);
  return span !== undefined && (span.traceFlags & TraceFlags.SAMPLED) === 0;
}

function contextOf({ traceparent }: TraceHeaders) {
  return traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
}
