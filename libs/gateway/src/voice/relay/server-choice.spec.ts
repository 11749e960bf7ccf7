import { once } from 'node:events';
import { ManualClock } from '@flotilla/session';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, listed, openServer, RelayStage } from './relay-stage.suite.js';

afterEach(closeAll);

const backendTimeoutMs = 100;

describe('the choice of a voice server', () => {
  it('tries the next one if a server does not answer, and tries that server last for a while', async () => {
    const [silent, well] = [await openServer(), await openServer()];
    silent.hello = undefined;
    const servers = [silent, well].map((one) => listed(one));
    const clock = new ManualClock(1_000);
    const stage = await RelayStage.set({ servers, limits: { backendTimeoutMs }, clock });
    const first = stage.converse('websocket', 1);
    await silent.conversation();
    clock.advance(backendTimeoutMs);
    await first;
    await well.conversation();
    await stage.converse('websocket', 1);
    await well.conversation(2);
    expect(silent.conversations).toHaveLength(1);
    expect(stage.relay.health()).toMatchObject([
      { url: silent.url, state: 'UNWELL', conversations: 0, lastError: 'it did not answer in time' },
      { url: well.url, state: 'WELL', conversations: 2, lastError: undefined },
    ]);
    expect(stage.turns).toEqual([`127.0.0.1:${silent.port} UNWELL`]);
  });

  it('counts a server as well again when it answers', async () => {
    const server = await openServer();
    const { hello } = server;
    server.hello = undefined;
    const clock = new ManualClock(1_000);
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { backendTimeoutMs }, clock });
    const first = stage.converse('websocket', 1);
    await server.conversation();
    clock.advance(backendTimeoutMs);
    await first;
    server.hello = hello;
    const { conversation } = await stage.converse('websocket', 1);
    expect(stage.relay.health()).toMatchObject([
      { state: 'WELL', conversations: 1, lastError: 'it did not answer in time' },
    ]);
    conversation.end('device_gone');
    expect(stage.relay.health()).toMatchObject([{ conversations: 0 }]);
    expect(stage.turns.map((turn) => turn.split(' ')[1])).toEqual(['UNWELL', 'WELL']);
  });

  it('leaves no connection open if the hub cannot join the two sides, and counts the server as well', async () => {
    const server = await openServer();
    const udp = () => {
      throw new Error('no port');
    };
    const stage = await RelayStage.set({ servers: [listed(server)], udp });
    const { answer } = await stage.converse('udp', 3);
    expect(answer.message).toMatchObject({ type: 'hello', transport: 'udp' });
    const heard = await server.conversation();
    await vi.waitFor(() => expect(heard.socket.readyState).toBe(heard.socket.CLOSED));
    expect(stage.relay.health()).toMatchObject([{ state: 'WELL', conversations: 0 }]);
    expect(stage.device.reports).toEqual([{ state: 'unavailable', reason: 'the hub could not join the two sides' }]);
    expect(stage.relay.size).toBe(0);
  });

  it('accepts devices with ids that are not valid in headers', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    Object.assign(stage.device, { deviceId: '客厅 1', clientId: undefined });
    await stage.converse('udp', 3);
    const { headers } = await server.conversation();
    expect(headers).toMatchObject({ 'device-id': '%E5%AE%A2%E5%8E%85%201', 'client-id': '%E5%AE%A2%E5%8E%85%201' });
  });

  it('leaves the device without voice, and reports it, if no server answers', async () => {
    const stage = await RelayStage.set({ servers: [listed({ url: 'ws://127.0.0.1:1/' })] });
    const { answer, conversation } = await stage.converse('websocket', 1);
    expect(answer.message).toMatchObject({ type: 'hello', transport: 'websocket' });
    expect(stage.device.reports).toEqual([{ state: 'unavailable', reason: 'no voice server answered' }]);
    conversation.end('device_gone');
    expect(stage.relay.size).toBe(0);
  });

  it('ends when the device disconnects meanwhile', async () => {
    const server = await openServer();
    server.hello = undefined;
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const request = {
      device: stage.device,
      hello: { transport: 'websocket', version: 1, hasMcp: true } as const,
      message: { type: 'hello' },
    };
    const conversation = stage.relay.open(request, () => {
      throw new Error('no answer is expected');
    });
    const heard = await server.conversation();
    conversation.end('device_gone');
    await once(heard.socket, 'close');
    expect(stage.relay.size).toBe(0);
  });
});
