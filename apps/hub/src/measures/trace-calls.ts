/**
 * Records traces of calls with OpenTelemetry, and sends them over OTLP. Loaded only if it is asked
 * for. The SDK reads OTEL_EXPORTER_OTLP_HEADERS itself, for collectors that need a key.
 */
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import type { Span, SpanContext, Tracer } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import type { CallSpan, CallSpanName, CallTracer, SpanAttributes } from '@flotilla/bus';
import type { Logger } from 'pino';
import type { TracesConfig } from '../settings/traces-settings.js';

/** A stop waits as long for the last spans, ms. */
const SEND_WITHIN_MS = 3_000;
/** A caller's text that is longer is no context. */
const CONTEXT_LENGTH_MAX = 512;

const kinds: Readonly<Record<CallSpanName, SpanKind>> = {
  call: SpanKind.INTERNAL,
  deliver: SpanKind.CLIENT,
  session: SpanKind.SERVER,
  device: SpanKind.CLIENT,
};

export interface TracedProcess {
  readonly version: string;
  /** The id of its lease. */
  readonly processId: string;
}

export interface OpenTracer extends CallTracer {
  /** Sends what was recorded. */
  close(): Promise<void>;
}

export function traceCalls({ url, sample }: TracesConfig, process: TracedProcess, logger: Logger): OpenTracer {
  const exporter = reporting(new OTLPTraceExporter({ url, timeoutMillis: SEND_WITHIN_MS }), new URL(url).host, logger);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'flotilla',
      'service.version': process.version,
      'service.instance.id': process.processId,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('flotilla');
  return {
    begin: (name, parent, attributes) => {
      const outer = parent === undefined || parent.length > CONTEXT_LENGTH_MAX ? undefined : parseTraceParent(parent);
      const isRecorded = outer ? (outer.traceFlags & TraceFlags.SAMPLED) !== 0 : Math.random() < sample;
      return isRecorded ? begun(tracer, name, outer ?? undefined, attributes) : undefined;
    },
    // The exporter has reported a failure already.
    close: () => provider.shutdown().catch(() => undefined),
  };
}

function begun(
  tracer: Tracer,
  name: CallSpanName,
  outer: SpanContext | undefined,
  attributes: SpanAttributes,
): CallSpan {
  const within = outer && trace.setSpanContext(ROOT_CONTEXT, { ...outer, isRemote: true });
  const span = tracer.startSpan(name, { kind: kinds[name], attributes }, within ?? ROOT_CONTEXT);
  const context = trace.setSpan(ROOT_CONTEXT, span);
  return {
    context: traceParentOf(span),
    addPart: (part, from, until, more) =>
      tracer.startSpan(part, { kind: kinds[part], startTime: from, attributes: more }, context).end(until),
    end: ({ outcome, errorCode }) => {
      span.setAttribute('flotilla.outcome', outcome);
      if (errorCode !== undefined) span.setAttribute('error.type', errorCode).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function traceParentOf(span: Span): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

/** Logs when the collector stops to answer and when it answers again, not each batch. */
function reporting(inner: SpanExporter, collector: string, logger: Logger): SpanExporter {
  let isFailing = false;
  const report = ({ code, error }: ExportResult): void => {
    const hasFailed = code !== ExportResultCode.SUCCESS;
    if (hasFailed && !isFailing)
      logger.warn({ err: error }, `traces cannot be sent to ${collector}, and are lost until they can; calls go on`);
    if (!hasFailed && isFailing) logger.info(`traces are sent to ${collector} again`);
    isFailing = hasFailed;
  };
  return {
    export: (spans: ReadableSpan[], done: (result: ExportResult) => void) =>
      inner.export(spans, (result) => {
        report(result);
        done(result);
      }),
    shutdown: () => inner.shutdown(),
    forceFlush: () => inner.forceFlush?.() ?? Promise.resolve(),
  };
}
