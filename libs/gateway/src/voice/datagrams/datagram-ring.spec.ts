import { describe, expect, it } from 'vitest';
import { DatagramRing } from './datagram-ring.js';

const peer = { address: '192.0.2.7', port: 40_000 };

/** Two ends of one ring of 256 bytes, as two threads have them. */
function bothEnds() {
  const memory = DatagramRing.allocate(256);
  return { writer: new DatagramRing(memory), reader: new DatagramRing(memory) };
}

function readAll(reader: DatagramRing, most = Infinity): readonly string[] {
  const heard: string[] = [];
  reader.read(most, (datagram, from) => heard.push(`${datagram.toString()} of ${from.address}:${from.port}`));
  return heard;
}

describe('a ring of datagrams', () => {
  it('gives what was written, in that order, with its sender', () => {
    const { reader, writer } = bothEnds();
    expect(writer.write(Buffer.from('one'), peer)).toBe(true);
    expect(writer.write(Buffer.from('two'), { address: '::ffff:192.0.2.8', port: 65_535 })).toBe(true);
    expect(readAll(reader)).toEqual(['one of 192.0.2.7:40000', 'two of ::ffff:192.0.2.8:65535']);
    expect(readAll(reader)).toEqual([]);
  });

  it('goes round many times, whatever the lengths', () => {
    const { reader, writer } = bothEnds();
    for (let turn = 0; turn < 1_000; turn += 1) {
      const said = [`${turn}${'a'.repeat(turn % 61)}`, `${turn}${'b'.repeat((turn * 7) % 53)}`];
      for (const text of said) expect(writer.write(Buffer.from(text), peer)).toBe(true);
      expect(readAll(reader)).toEqual(said.map((text) => `${text} of 192.0.2.7:40000`));
    }
  });

  it('takes nothing that does not fit, and loses nothing that is in it', () => {
    const { reader, writer } = bothEnds();
    const written: string[] = [];
    for (let index = 0; writer.write(Buffer.from(`datagram ${index}`), peer); index += 1)
      written.push(`datagram ${index} of 192.0.2.7:40000`);
    expect(written.length).toBeGreaterThan(4);
    expect(readAll(reader)).toEqual(written);
    expect(writer.write(Buffer.from('again'), peer)).toBe(true);
    expect(writer.write(Buffer.alloc(300), peer)).toBe(false);
    expect(readAll(reader)).toEqual(['again of 192.0.2.7:40000']);
  });

  it('gives at most so many at once, and says whether more are there', () => {
    const { reader, writer } = bothEnds();
    for (const text of ['one', 'two', 'three']) writer.write(Buffer.from(text), peer);
    expect(reader.read(2, () => undefined)).toBe(false);
    expect(reader.read(2, () => undefined)).toBe(true);
  });

  it('gives a datagram that is the reader’s own', () => {
    const { reader, writer } = bothEnds();
    const kept: Buffer[] = [];
    for (const text of ['one', 'two']) {
      writer.write(Buffer.from(text), peer);
      reader.read(1, (datagram) => kept.push(datagram));
    }
    expect(String(kept)).toBe('one,two');
  });

  it('has its reader woken once for each sleep, and lets it sleep only when all is read', () => {
    const { reader, writer } = bothEnds();
    writer.write(Buffer.from('one'), peer);
    expect(writer.rouse()).toBe(true);
    expect(writer.rouse()).toBe(false);
    expect(reader.sleep()).toBe(false);
    expect(writer.rouse()).toBe(false);
    readAll(reader);
    expect(reader.sleep()).toBe(true);
    expect(writer.rouse()).toBe(true);
  });
});
