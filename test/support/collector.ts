import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen } from './listening.ts';
import { until } from './until.ts';

/** Kinds of spans, by OTLP's number. */
const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];

interface Value {
  stringValue?: string;
  intValue?: number | string;
  arrayValue?: { values: Value[] };
}

interface Attribute {
  key: string;
  value: Value;
}

interface ExportedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status?: { code?: number };
}

interface Export {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: ExportedSpan[] }[];
  }[];
}

export interface CollectedSpan {
  traceId: string;
  id: string;
  /** Empty for a root span. */
  parent: string;
  name: string;
  kind: string | undefined;
  resource: Record<string, unknown>;
  attributes: Record<string, unknown>;
  links: string[];
  failed: boolean;
}

export interface Collector extends AsyncDisposable {
  /** Value for `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  readonly received: string;
  /** Resolves with the spans of a trace once there are this many, or after 20 s with those that there are. */
  trace(traceId: string, spans: number): Promise<CollectedSpan[]>;
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const bodies: string[] = [];
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.method !== 'POST' || request.url !== '/v1/traces') return void response.writeHead(404).end();
    bodies.push(body);
    spans.push(...spansIn(JSON.parse(body)));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  const spansOf = (traceId: string) => spans.filter((span) => span.traceId === traceId);
  return {
    ...(await listen(server)),
    get received() {
      return bodies.join('\n');
    },
    async trace(traceId, count) {
      await until(() => spansOf(traceId).length >= count, 20_000).catch(() => {});
      return spansOf(traceId);
    },
  };
}

function spansIn({ resourceSpans }: Export): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const from = recordOf(resource.attributes);
    return scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({ ...readableSpan(span), resource: from })),
    );
  });
}

function readableSpan(span: ExportedSpan): Omit<CollectedSpan, 'resource'> {
  const { traceId, spanId: id, parentSpanId: parent = '', name, kind, attributes, links = [], status } = span;
  return {
    traceId,
    id,
    parent,
    name,
    kind: KINDS[kind],
    attributes: recordOf(attributes),
    links: links.map((link) => link.spanId),
    failed: status?.code === 2,
  };
}

function recordOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ stringValue, intValue, arrayValue }: Value): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map(plainValue);
  return stringValue ?? (intValue === undefined ? undefined : Number(intValue));
}
