/** The simulated voice server, as the hub sees it. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { ServerConversation } from './server-conversation.js';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A client that keeps what it hears. */
async function converse() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket) => {
    new ServerConversation(socket, 'lamp', { misbehaviour: undefined, tool: undefined, isBound: true });
  });
  await once(server, 'listening');
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const heard: { texts: Readonly<Record<string, unknown>>[]; frames: number } = { texts: [], frames: 0 };
  socket.on('message', (data, isBinary) => {
    if (isBinary) heard.frames += 1;
    else heard.texts.push(JSON.parse(String(data)));
  });
  await once(socket, 'open');
  closers.push(
    () => socket.terminate(),
    () => void server.close(),
  );
  return { socket, heard };
}

describe('a simulated voice server', () => {
  it('ends its answer when the user interrupts, as xiaozhi-esp32-server does', async () => {
    const { socket, heard } = await converse();
    for (let n = 0; n < 50; n += 1) socket.send(Buffer.from([n]));
    socket.send('{"type":"listen","state":"stop"}');
    await vi.waitFor(() => expect(heard.frames).toBeGreaterThan(0));
    socket.send('{"type":"abort"}');
    await vi.waitFor(() => expect(heard.texts.at(-1)).toMatchObject({ type: 'tts', state: 'stop' }));
    expect(heard.frames).toBeLessThan(50);
  });

  it('ignores texts that are no messages, and continues', async () => {
    const { socket, heard } = await converse();
    for (const text of ['{', 'null', '[]', '"hello"', '{"type":"mcp"}', '{"type":"mcp","payload":null}'])
      socket.send(text);
    for (const result of ['null', '{"tools":7}', '{"tools":[null]}'])
      socket.send(`{"type":"mcp","payload":{"id":2,"result":${result}}}`);
    socket.send('{"type":"hello"}');
    await vi.waitFor(() => expect(heard.texts).toContainEqual(expect.objectContaining({ type: 'hello' })));
  });
});
