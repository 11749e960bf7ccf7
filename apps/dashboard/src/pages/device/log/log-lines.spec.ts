import { describe, expect, it } from 'vitest';
import { asJsonLines, indented, type LogEntry, linesMax, matchingLines, withEntries } from './log-lines';

const entry = (text: string, kind: LogEntry['kind'] = 'SENT'): LogEntry => ({
  at: '2026-01-01T00:00:00.000Z',
  kind,
  text,
  bytes: text.length,
  isTruncated: false,
});

describe('the lines of a session log', () => {
  it('are numbered without end and kept up to a limit', () => {
    const entries = Array.from({ length: linesMax + 5 }, (_, index) => entry(String(index)));
    const lines = withEntries(withEntries([], entries), [entry('last')]);
    expect(lines).toHaveLength(linesMax);
    expect(lines[0]).toMatchObject({ number: 7, text: '6' });
    expect(lines.at(-1)).toMatchObject({ number: linesMax + 6, text: 'last' });
  });

  it('are found by words in any case, next to those about the session', () => {
    const lines = withEntries([], [entry('{"method":"tools/call"}'), entry('PONG'), entry('taken_over', 'CLOSED')]);
    expect(matchingLines(lines, 'TOOLS method').map(({ text }) => text)).toEqual([
      '{"method":"tools/call"}',
      'taken_over',
    ]);
    expect(matchingLines(lines, ' ')).toBe(lines);
  });

  it('show JSON on several lines and other texts unchanged', () => {
    expect(indented('{"a":1}')).toBe('{\n  "a": 1\n}');
    expect(indented('boot: ok')).toBe('boot: ok');
  });

  it('are written as one JSON object per line', () => {
    const text = asJsonLines(withEntries([], [entry('a\nb'), entry('3', 'DROPPED')]));
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as LogEntry),
    ).toEqual([entry('a\nb'), entry('3', 'DROPPED')]);
  });
});
