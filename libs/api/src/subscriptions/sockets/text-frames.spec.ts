import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { textFrames } from './text-frames.js';

let server: WebSocketServer;

beforeAll(async () => {
  server = new WebSocketServer({ port: 0 });
  await once(server, 'listening');
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What a client of ws understands. */
async function received(frames: Buffer, count: number): Promise<readonly string[]> {
  server.once('connection', (_socket, { socket }) => void socket.write(frames));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const texts: string[] = [];
  await new Promise<void>((resolve, reject) => {
    client.on('message', (data: Buffer, isBinary) => {
      texts.push(isBinary ? 'no text' : data.toString());
      if (texts.length === count) resolve();
    });
    client.once('error', reject);
  });
  client.terminate();
  return texts;
}

function framesOf(middles: readonly string[], bytesMax: number): Generator<Buffer> {
  return textFrames(
    Buffer.from('('),
    middles.map((text) => Buffer.from(text)),
    Buffer.from(')'),
    bytesMax,
  );
}

describe('text frames', () => {
  it('are the messages that they were made of, of each class of length', async () => {
    // With the two brackets: the last of one class, and the first of the next.
    const lengths = [0, 123, 124, 65_533, 65_534, 200_000];
    const middles = lengths.map((length) => 'ä'.repeat(length >> 1).padEnd((length >> 1) + (length % 2), 'x'));
    const frames = Buffer.concat([...framesOf(middles, Infinity)]);
    expect(await received(frames, lengths.length)).toEqual(middles.map((text) => `(${text})`));
  });

  it('come in pieces that are no longer than they may be, but for a message that is longer by itself', () => {
    const messages = [...framesOf(['aa', 'bb', 'cccccc', 'd', 'e', ''], 4)].map((piece) =>
      piece.toString('latin1').match(/\(.*?\)/g),
    );
    expect(messages).toEqual([['(aa)', '(bb)'], ['(cccccc)'], ['(d)', '(e)', '()']]);
    expect([...framesOf([], 4)]).toEqual([]);
  });
});
