import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter, mcpuLineMax } from './line-splitter.js';

const split = (pieces: readonly string[]) => {
  let overlong = 0;
  const splitter = new LineSplitter(() => (overlong += 1));
  return { lines: pieces.flatMap((piece) => [...splitter.push(piece)]), overlong };
};

describe('LineSplitter', () => {
  it('produces the same lines regardless of how the input is split', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.array(fc.nat(40)), (texts, cuts) => {
        const stream = texts.map((text) => `${text}\r\n`).join('');
        const pieces: string[] = [];
        let at = 0;
        for (const cut of cuts) pieces.push(stream.slice(at, (at += cut)));
        pieces.push(stream.slice(at));
        expect(split(pieces)).toEqual(split([stream]));
      }),
    );
  });

  it('omits empty lines and holds an unfinished line', () => {
    expect(split(['\r\n\n  \n{"a":1}\r', '\n{"b"']).lines).toEqual(['{"a":1}']);
  });

  it('drops an overlong line, reports it once, and continues after its end', () => {
    const endless = Array.from({ length: 5 }, () => 'x'.repeat(mcpuLineMax / 2));
    expect(split([...endless, 'x\n{"id":1}\n'])).toEqual({ lines: ['{"id":1}'], overlong: 1 });
  });

  it.each([
    ['a frame without a line end', ['{"id":1,"result":2}'], ['{"id":1,"result":2}']],
    [
      'a frame in parts, one of which looks like another frame',
      ['{"result":{"a":{"result":1}', '},"id":1}'],
      ['{"result":{"a":{"result":1}},"id":1}'],
    ],
    ['output before a frame', ['boot ', 'ok', '{"jsonrpc":"2.0","id":1}'], ['boot ok{"jsonrpc":"2.0","id":1}']],
    ['a frame after an overlong message without a line end', ['x'.repeat(mcpuLineMax + 1), '{"id":1}'], ['{"id":1}']],
    ['no part of an overlong frame', ['x'.repeat(mcpuLineMax + 1), '"a":{}}'], []],
    ['no output before its line end', ['boot }', '\n'], []],
  ])('takes at the end of a message %s', (_what, messages, expected) => {
    const splitter = new LineSplitter(() => undefined);
    const frames = messages.flatMap((message) => {
      const lines = splitter.push(message);
      expect(lines.filter((line) => line.startsWith('{'))).toEqual([]);
      return splitter.takeFrame() ?? [];
    });
    expect(frames).toEqual(expected);
  });
});
