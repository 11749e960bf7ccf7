import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter, mcpuLineMax } from './line-splitter.js';

const split = (pieces: readonly string[]) => {
  let overlong = 0;
  const splitter = new LineSplitter(() => (overlong += 1));
  return { lines: pieces.flatMap((piece) => [...splitter.push(piece)]), overlong };
};

describe('LineSplitter', () => {
  it('gives the same lines however they are cut', () => {
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

  it('leaves out empty lines and keeps what has no end yet', () => {
    expect(split(['\r\n\n  \n{"a":1}\r', '\n{"b"']).lines).toEqual(['{"a":1}']);
  });

  it('drops a line that never ends, once, and goes on after its end', () => {
    const endless = Array.from({ length: 5 }, () => 'x'.repeat(mcpuLineMax / 2));
    expect(split([...endless, 'x\n{"id":1}\n'])).toEqual({ lines: ['{"id":1}'], overlong: 1 });
  });
});
