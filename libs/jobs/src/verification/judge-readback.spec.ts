import type { ToolResult } from '@flotilla/mcp';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameValue, judgeReadback, judgeUnread, valueAt } from './judge-readback.js';

const readback = { tool: 'self.get_device_status', path: 'audio_speaker.volume', argument: 'volume' };
const says = (text: string): ToolResult => ({ content: [{ type: 'text', text }], isError: false });

describe('judgeReadback', () => {
  it.each([
    ['the value as a number', '{"audio_speaker":{"volume":70}}', 'SUCCEEDED'],
    ['the value as a text', '{"audio_speaker":{"volume":"70"}}', 'SUCCEEDED'],
    ['another value', '{"audio_speaker":{"volume":7}}', 'VERIFY_FAILED'],
    ['no value', '{"audio_speaker":{}}', 'VERIFY_FAILED'],
    ['something else', 'true', 'VERIFY_FAILED'],
    [
      'deeper nesting than code can write',
      `{"audio_speaker":{"volume":${'['.repeat(9_000)}${']'.repeat(9_000)}}}`,
      'VERIFY_FAILED',
    ],
  ])('judges a device that shows %s', (_, text, outcome) => {
    expect(judgeReadback(says(text), readback, { volume: 70 }).decision.outcome).toBe(outcome);
  });

  it('says what it found instead of what', () => {
    expect(judgeReadback(says('{"audio_speaker":{"volume":7}}'), readback, { volume: 70 }).decision.error).toEqual({
      code: 'READBACK_DIFFERS',
      message: 'audio_speaker.volume is 7 instead of 70.',
    });
  });

  it.each([
    ['values of a tool that not every reader may call', { volume: 70 }, readback, { hidesValues: true }],
    ['a secret argument', { password: 'hunter2' }, { ...readback, argument: 'password' }, {}],
    ['an argument that is read back as a secret', { code: 7070 }, { ...readback, path: 'pin', argument: 'code' }, {}],
  ])('does not quote %s', (_, args, asked, hidden) => {
    for (const told of ['7', '""', 'null', 'true']) {
      const { decision } = judgeReadback(
        says(`{"audio_speaker":{"volume":${told}},"pin":${told}}`),
        asked,
        args,
        hidden,
      );
      expect(decision.error?.message).toBe(`${asked.path} is not the value that was set.`);
    }
  });

  it('returns the end of the call where nothing could be read', () => {
    const timeout = { code: 'TIMEOUT', message: 'no answer' } as const;
    expect(judgeUnread(timeout).decision).toEqual({ outcome: 'UNKNOWN', error: timeout });
    expect(judgeUnread(undefined).decision).toMatchObject({ outcome: 'UNKNOWN', error: { code: 'NOT_VERIFIED' } });
  });

  it('finds any value where it is, and nothing elsewhere', () => {
    const name = fc.stringMatching(/^[a-z_0-9]{1,8}$/);
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), fc.jsonValue(), (names, value) => {
        const body = names.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
        expect(valueAt(body, names.join('.'))).toEqual(value);
        expect(valueAt(body, `${names.join('.')}.constructor`)).toBeUndefined();
      }),
    );
  });

  it('compares numbers as numbers, also where they are text, and texts exactly', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        (number) =>
          isSameValue(String(number), number) && isSameValue(number, `${number}.0`) && !isSameValue(number, number + 1),
      ),
    );
    expect(isSameValue('light', 'dark')).toBe(false);
    expect(isSameValue(true, 'true')).toBe(true);
    expect(isSameValue('', 0)).toBe(false);
    expect(isSameValue(null, 'null')).toBe(false);
  });
});
