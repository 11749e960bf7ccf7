import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskMessage } from './mask-message.js';

const mask = { hasPinNumbers: false, maskText: (text: string) => text };
const secret = 'hunter2-QZX';

describe('a masked message', () => {
  it('is the same text if it has no secret', () => {
    const text = '{"type":"mcp", "payload":{"method":"tools/call","params":{"name":"t","arguments":{"volume":3}}}}';
    expect(maskMessage(text, mask)).toBe(text);
    expect(maskMessage('boot: ok, heap 1234', mask)).toBe('boot: ok, heap 1234');
  });

  it('has no secret at any depth, also in JSON inside of strings', () => {
    const inner = JSON.stringify({ ssid: 'net', password: secret });
    const text = JSON.stringify({
      type: 'hello',
      udp: { server: 'h', key: secret, nonce: '01' },
      payload: { result: { content: [{ type: 'text', text: inner }] } },
      list: [[{ token: secret }]],
    });
    const masked = maskMessage(text, mask);
    expect(masked).not.toContain(secret);
    expect(JSON.parse(masked)).toMatchObject({ udp: { server: 'h', key: '***', nonce: '01' } });
  });

  it('has no secret in broken JSON and in the output of a sketch', () => {
    for (const text of [
      `{"password":"${secret} and more`,
      `wifi password: ${secret}`,
      `Authorization: Bearer ${secret}`,
      `token=${secret}; volume=3`,
      `psk='${secret} x'`,
      `boot{"params":{"password":"${secret}"}}`,
    ])
      expect(maskMessage(text, mask), text).not.toContain(secret);
    expect(maskMessage(`token=${secret}; volume=3`, mask)).toBe('token=***; volume=3');
  });

  it('keeps numbers of pins for microcontrollers, and no other PIN', () => {
    const board = { ...mask, hasPinNumbers: true };
    const write = '{"method":"gpio_write","params":{"pin":16,"value":true}}';
    expect(maskMessage(write, board)).toBe(write);
    expect(maskMessage('{"pin":1234}', board)).toBe('{"pin":"***"}');
    expect(maskMessage('{"pin":16}', mask)).toBe('{"pin":"***"}');
  });

  it('takes a time that grows with the length of the message only', () => {
    const long = 60_000;
    for (const text of ['x'.repeat(long), 'a '.repeat(long / 2), `password${' '.repeat(long)}`, '"'.repeat(long)]) {
      const startedAt = performance.now();
      maskMessage(text, mask);
      maskMessage(JSON.stringify({ data: text }), mask);
      // A quadratic search takes a minute.
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
  });

  it('masks texts without names as it was asked to', () => {
    const masked = maskMessage('{"url":"https://h/a?b"}', {
      ...mask,
      maskText: (text) => text.replace(/\?.*/, '?***'),
    });
    expect(masked).toBe('{"url":"https://h/a?***"}');
  });

  it('never has the value of a secret name, between any other values', () => {
    const names = fc.constantFrom('password', 'wifiPassword', 'api_key', 'token', 'key');
    const around = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.tuple(names, around, fc.nat(4)), ([name, value, depth]) => {
        let message: unknown = { before: value, [name]: secret, after: value };
        for (let level = 0; level < depth; level += 1)
          message = level % 2 === 0 ? { inner: message } : { text: JSON.stringify(message) };
        const masked = maskMessage(JSON.stringify(message), mask);
        expect(masked).not.toContain(secret);
        JSON.parse(masked);
      }),
      { seed: 18, numRuns: 300 },
    );
  });
});
