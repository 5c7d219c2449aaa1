import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import manifest from '../../package.json' with { type: 'json' };
import type { Log } from '../log.ts';
import { STOP_LIMITS } from '../stop-limits.ts';
import { withTimeout } from '../timing/within.ts';

/**
 * The SDK reads the collector's address and other standard settings from the environment. This module is loaded only if
 * a collector is configured, because loading the SDK takes memory and time.
 */
export function startTracing(kind: string, log: Log): { stop(): Promise<void> } {
  const report = (reason: string) => log.warn({ reason }, 'a setting of the traces');
  diag.setLogger({ error: report, warn: report, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
  const ownAttributes = { 'service.name': `forecue-${kind}`, 'service.version': manifest.version };
  const detectedResource = detectResources({ detectors: [serviceInstanceIdDetector, envDetector] });
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(ownAttributes)).merge(detectedResource),
    spanProcessors: [new BatchSpanProcessor(withOutageLog(new OTLPTraceExporter(), log))],
  });
  // The SDK has read its settings by now. `withOutageLog` reports later errors.
  diag.disable();
  provider.register();
  return {
    // A collector that is down must not keep the process from stopping.
    stop: () => withTimeout(STOP_LIMITS.traces, () => provider.shutdown()).catch(() => {}),
  };
}

/** Logs once when the collector becomes unreachable, and once when it is back. Spans of the time between are lost. */
function withOutageLog(exporter: SpanExporter, log: Log): SpanExporter {
  let isDown = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined;
        if (hasFailed && !isDown) log.warn({ err: result.error }, 'the collector takes no traces');
        if (!hasFailed && isDown) log.info('the collector takes traces again');
        isDown = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
