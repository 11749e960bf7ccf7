/** The parser agrees with JSON.parse on well-formed, unambiguous JSON, and with cJSON elsewhere. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';
import { FirmwareObject, readFirmwareJson } from './firmware-json.js';

describe('readFirmwareJson', () => {
  it('reads numbers, strings and arrays as JSON.parse does', () => {
    const plain = fc
      .string({ unit: 'grapheme' })
      .filter((text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text));
    const value = fc.oneof(plain, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.array(fc.oneof(value, fc.array(value))), (items) => {
        expect(readFirmwareJson(JSON.stringify(items))).toEqual(JSON.parse(JSON.stringify(items)));
      }),
    );
  });

  it('takes the first of several members, regardless of case', () => {
    const object = readFirmwareJson('{"URL":"a","url":"b","K":1}');
    expect(object instanceof FirmwareObject && [object.get('url'), object.get('k'), object.get('\u212a')]).toEqual([
      'a',
      1,
      undefined,
    ]);
  });

  it.each([
    ['{"a":1} and more', true],
    ['\ufeff [1]', true],
    ['"a\\u0000b"', true],
    ['"raw\nline"', true],
    ['"\\ud800"', false],
    ['"\\x"', false],
    ['NaN', false],
    ['[1,]', false],
    ['{"a":1', false],
    ['{a:1}', false],
    ['"open', false],
    ['', false],
    ['['.repeat(1000) + ']'.repeat(1000), true],
    ['['.repeat(1001) + ']'.repeat(1001), false],
  ])('of %j is accepted: %s', (text, isAccepted) => {
    expect(readFirmwareJson(text) !== undefined).toBe(isAccepted);
  });
});

describe('a device under random input', () => {
  const method = fc.constantFrom('initialize', 'tools/list', 'tools/call', 'ping', 'notifications/x');
  const params = fc.oneof(
    fc.jsonValue(),
    fc.record({
      name: fc.constantFrom('self.get_device_status', 'self.reboot', 'self.nope'),
      arguments: fc.jsonValue(),
      cursor: fc.jsonValue(),
    }),
  );
  const payload = fc.record(
    { jsonrpc: fc.constantFrom('2.0', 2), id: fc.oneof(fc.double(), fc.string()), method, params },
    { requiredKeys: [] },
  );
  const message = fc.oneof(
    fc.string(),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc
      .record({
        type: fc.constantFrom('mcp', 'hello', 'goodbye', 'system'),
        payload: fc.oneof(payload, fc.jsonValue()),
        transport: fc.jsonValue(),
      })
      .map((value) => JSON.stringify(value)),
  );

  it('never throws, and sends at most one reply to a message', () => {
    fc.assert(
      fc.property(fc.constantFrom('mqtt', 'websocket'), fc.array(message, { maxLength: 20 }), (transport, messages) => {
        const bench = new DeviceOnBench({ transport });
        for (const text of messages) bench.receive(text);
        bench.waitUntil(100_000);
        expect(bench.replyTimes.length).toBeLessThanOrEqual(messages.length);
      }),
    );
  });
});
