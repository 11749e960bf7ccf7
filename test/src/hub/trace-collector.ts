/** A collector of traces that keeps what it received: OTLP over HTTP as JSON. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** Times are ms since the Unix epoch. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | undefined;
  readonly name: string;
  readonly process: string | undefined;
  readonly from: number;
  readonly until: number;
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

export class TraceCollector {
  readonly spans: ReceivedSpan[] = [];
  readonly #server: Server = createServer((request, response) => {
    void text(request).then((body) => {
      this.spans.push(...spansIn(JSON.parse(body) as OtlpRequest));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });

  /** Listens on a free port, or on the one that it had. */
  listen(port = 0): Promise<void> {
    return new Promise((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/v1/traces`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

function spansIn({ resourceSpans }: OtlpRequest): readonly ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, startTimeUnixNano, endTimeUnixNano, attributes }) => ({
        traceId,
        spanId,
        name,
        parent: parentSpanId === '' ? undefined : parentSpanId,
        process: valuesOf(resource.attributes)['service.instance.id'],
        from: Number(startTimeUnixNano) / 1e6,
        until: Number(endTimeUnixNano) / 1e6,
        attributes: valuesOf(attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));
}
