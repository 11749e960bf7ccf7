import { describe, expect, it } from 'vitest';
import { jsonText, printable } from './printable.js';

describe('text of a device', () => {
  it('cannot steer a terminal', () => {
    expect(printable('a\u001b[31mb\r\u009b2Jc\u202ed\te\nf ü 灯')).toBe('a\ufffd[31mb\ufffd\ufffd2Jc\ufffdd e f ü 灯');
  });

  it('keeps its meaning as JSON', () => {
    const value = { name: 'a\u001b[31m\u009b\u202e\n' };
    expect(jsonText(value)).toBe('{"name":"a\\u001b[31m\\u009b\\u202e\\n"}');
    expect(JSON.parse(jsonText(value))).toEqual(value);
  });
});
