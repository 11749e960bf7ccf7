import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { traceCalls, type OpenTracer } from './trace-calls.js';

const logger = pino({ level: 'silent' });
const outer = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const parent = `00-${outer.traceId}-${outer.spanId}-01`;

describe('recorded calls', () => {
  const received: string[] = [];
  let server: Server;
  let url: string;
  beforeEach(async () => {
    received.length = 0;
    server = createServer((request, response) => {
      void text(request).then((body) => {
        received.push(body);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  });
  afterEach(() => void server.close());

  const open = (sample: number): OpenTracer =>
    traceCalls({ url, sample }, { version: '9.9.9', processId: 'p1' }, logger);

  it('are those of recorded callers, with any share', async () => {
    const tracer = open(0);
    expect(tracer.begin('call', undefined, {})).toBeUndefined();
    const span = tracer.begin('call', parent, { 'gen_ai.tool.name': 'self.a' });
    expect(span?.context).toMatch(new RegExp(`^00-${outer.traceId}-[0-9a-f]{16}-01$`));
    span?.addPart('device', 1_795_000_001_000, 1_795_000_002_500, {});
    span?.end({ outcome: 'FAILED', errorCode: 'DEVICE_ERROR' });
    await tracer.close();
    const body = received.join('');
    expect(body).toContain(outer.spanId);
    expect(body).toContain('DEVICE_ERROR');
    expect(body).toContain('"9.9.9"');
    expect(body).toMatch(/"startTimeUnixNano":"1795000001000000000","endTimeUnixNano":"1795000002500000000"/);
  });

  it.each([
    ['that is not recorded', `00-${outer.traceId}-${outer.spanId}-00`, false],
    ['with nonsense', 'nonsense', true],
    ['with zeros', `00-${'0'.repeat(32)}-${outer.spanId}-01`, true],
    ['that is very long', parent.padEnd(10_000, 'x'), true],
  ])('follow a caller %s', async (_name, given, isRecorded) => {
    const tracer = open(1);
    const span = tracer.begin('call', given, {});
    expect(span !== undefined).toBe(isRecorded);
    expect(span?.context ?? '').not.toContain(outer.traceId);
    span?.end({ outcome: 'SUCCEEDED' });
    await tracer.close();
  });

  it('are a share of the others', async () => {
    const tracer = open(0.25);
    const recorded = Array.from({ length: 4_000 }, () => tracer.begin('call', undefined, {})).filter(Boolean);
    for (const span of recorded) span?.end({ outcome: 'SUCCEEDED' });
    // Seven standard deviations.
    expect(Math.abs(recorded.length - 1_000)).toBeLessThan(200);
    await tracer.close();
  });

  it('delay no stop for long where nothing receives them', async () => {
    await new Promise((resolve) => server.close(resolve));
    const tracer = open(1);
    tracer.begin('call', undefined, {})?.end({ outcome: 'SUCCEEDED' });
    await expect(tracer.close()).resolves.toBeUndefined();
  });
});
