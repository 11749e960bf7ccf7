import { once } from 'node:events';
import type { JsonObject } from '@flotilla/mcp';
import type { StoredTool } from '@flotilla/registry';
import { encodeAudioFrame } from '@flotilla/voice';
import type { FramingVersion } from '@flotilla/voice';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, listed, openServer, RelayStage } from './relay-stage.suite.js';
import type { VoiceServer } from '../backend/voice-server.js';

afterEach(closeAll);

const speech = Buffer.from('f8fffe', 'hex');
const frame = (version: FramingVersion) => Buffer.from(encodeAudioFrame(version, { payload: speech, timestamp: 0 }));

describe('a conversation over WebSocket', () => {
  it.each([1, 2, 3] as const)('looks to the voice server as if the device spoke, in framing %i', async (version) => {
    const server = await openServer();
    const stage = await RelayStage.set({
      servers: [listed(server, { credential: { kind: 'token', token: 'hub-token' } })],
    });
    const { conversation, answer } = await stage.talk('websocket', version);
    const heard = await server.conversation();
    expect(heard.headers).toMatchObject({
      'device-id': stage.device.deviceId,
      'client-id': stage.device.clientId,
      'protocol-version': String(version),
      authorization: 'Bearer hub-token',
    });
    expect(heard.texts).toEqual([
      `{"type":"hello","version":${version},"features":{"mcp":true},"transport":"websocket","audio_params":{"format":"opus","sample_rate":16000}}`,
    ]);
    expect(answer.message).toEqual({
      ...{ type: 'hello', transport: 'websocket', session_id: answer.sessionId },
      audio_params: { format: 'opus', sample_rate: 16_000, channels: 1, frame_duration: 60 },
    });

    conversation.heard({ session_id: answer.sessionId, type: 'listen', state: 'start', mode: 'auto' });
    conversation.heardAudio(frame(version));
    heard.socket.send('{"type":"tts","state":"start","session_id":"b-1"}');
    heard.socket.send(frame(version));
    heard.socket.send('{"type":"llm","emotion":"happy"}');
    await vi.waitFor(() => expect(stage.device.said).toHaveLength(2));
    expect(heard.texts[1]).toBe('{"session_id":"b-1","type":"listen","state":"start","mode":"auto"}');
    expect(heard.frames).toEqual([frame(version)]);
    expect(stage.device.said).toEqual([
      { type: 'tts', state: 'start', session_id: answer.sessionId },
      { type: 'llm', emotion: 'happy' },
    ]);
    expect(stage.device.frames).toEqual([frame(version)]);

    conversation.end('device_gone');
    await once(heard.socket, 'close');
    expect(stage.relay.size).toBe(0);
    expect(stage.device.reports).toMatchObject([
      { state: 'started', transport: 'WEBSOCKET', backend: `127.0.0.1:${server.port}` },
      { state: 'ended', reason: 'device_gone', framesFromDevice: 1, framesToDevice: 1, framesDropped: 0 },
    ]);
  });

  it('changes the framing where the voice server answers in another', async () => {
    const server = await openServer();
    server.hello = '{"type":"hello","version":1,"transport":"websocket"}';
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const { conversation } = await stage.talk('websocket', 3);
    const heard = await server.conversation();
    conversation.heardAudio(frame(3));
    heard.socket.send(frame(1));
    await vi.waitFor(() => expect(stage.device.frames.map((one) => Buffer.from(one))).toEqual([frame(3)]));
    expect(heard.frames).toEqual([frame(1)]);
    expect(heard.headers.authorization).toBeUndefined();
  });

  it('closes the device when the voice server goes, in whatever way', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    for (const leave of ['close', 'terminate'] as const) {
      await stage.talk('websocket', 1);
      (await server.conversation(server.conversations.length)).socket[leave]();
      await vi.waitFor(() => expect(stage.relay.size).toBe(0));
    }
    expect(stage.device.hangUps).toEqual(['conversation_ended', 'conversation_ended']);
    expect(stage.device.reports.map((report) => report['reason']).filter(Boolean)).toEqual([
      'backend_closed',
      'backend_lost',
    ]);
  });

  it('drops and counts frames that lie about their length, and passes no message on that a device could read otherwise', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const { conversation } = await stage.talk('websocket', 3);
    const heard = await server.conversation();
    heard.socket.send(Buffer.from('0000ffff01', 'hex'));
    conversation.heardAudio(Buffer.from('0000ffff01', 'hex'));
    for (const text of [
      'no json',
      '[]',
      '{"Type":"mcp","payload":{}}',
      '{"type":"system","command":"reboot"}',
      '{"type":"hello"}',
    ])
      heard.socket.send(text);
    heard.socket.send('{"type":"stt","text":"on"}');
    await vi.waitFor(() => expect(stage.device.said).toEqual([{ type: 'stt', text: 'on' }]));
    expect(stage.count('frames_dropped_malformed')).toBe(2);
    expect(stage.count('texts_refused')).toBe(5);
    expect(stage.device.frames).toEqual([]);
  });

  it('ends a voice server that floods, and nothing else', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({
      servers: [listed(server)],
      limits: { backendTextsBurst: 5, backendTextsPerSecondMax: 1 },
    });
    await stage.talk('websocket', 1);
    const heard = await server.conversation();
    for (let n = 0; n < 20; n += 1) heard.socket.send('{"type":"llm","emotion":"happy"}');
    await vi.waitFor(() => expect(stage.device.reports.at(-1)).toMatchObject({ reason: 'backend_flooded' }));
    expect(stage.device.said).toHaveLength(5);
  });

  it('ends a voice server that asks and does not read the answers', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({
      servers: [listed(server)],
      limits: { backendUnsentBytesMax: 100_000, backendStallMsMax: 100, backendTextsBurst: 1_000 },
    });
    const description = 'd'.repeat(7_000);
    const tool = { name: 'self.a', description, inputSchema: {}, userOnly: false, schemaKnown: true } as const;
    stage.device.device = { ...stage.device.device, tools: [tool] };
    await stage.talk('websocket', 1);
    const heard = await server.conversation();
    heard.socket.pause();
    const ask = setInterval(
      () => heard.socket.send('{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}'),
      1,
    );
    try {
      await vi.waitFor(() => expect(stage.device.reports.at(-1)).toMatchObject({ reason: 'backend_stalled' }), 10_000);
    } finally {
      clearInterval(ask);
    }
    expect(stage.count('texts_dropped')).toBeGreaterThan(0);
  });

  it('makes a voice server wait whose long messages a device does not take', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { queuedBytesMax: 100_000 } });
    await stage.talk('websocket', 1);
    const heard = await server.conversation();
    stage.device.unsentBytes = 1e6;
    const message = JSON.stringify({ type: 'llm', emotion: 'e'.repeat(60_000) });
    for (let n = 0; n < 100; n += 1) heard.socket.send(message);
    await stage.lookedAtDevice();
    expect(stage.device.said).toEqual([]);
    expect(heard.socket.bufferedAmount).toBeGreaterThan(0);
    stage.device.unsentBytes = 0;
    await vi.waitFor(() => expect(stage.device.said).toHaveLength(100), 10_000);
  });

  it('makes a voice server wait for a device that does not keep up, and loses nothing', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { queuedItemsMax: 10 } });
    await stage.talk('websocket', 1);
    const heard = await server.conversation();
    stage.device.unsentBytes = 1e6;
    for (let n = 0; n < 200; n += 1) heard.socket.send(Buffer.from([1, n]));
    await stage.lookedAtDevice();
    expect(stage.device.frames).toEqual([]);
    stage.device.unsentBytes = 0;
    await vi.waitFor(() => expect(stage.device.frames).toHaveLength(200));
    expect(stage.device.frames.map((one) => one[1])).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });
});

describe('the choice of a voice server', () => {
  it('goes on to the next where one does not answer, and asks that one last for a while', async () => {
    const [silent, well] = [await openServer(), await openServer()];
    silent.hello = undefined;
    const servers = [silent, well].map((one) => listed(one));
    const stage = await RelayStage.set({ servers, limits: { backendTimeoutMs: 100 } });
    await stage.talk('websocket', 1);
    await well.conversation();
    await stage.talk('websocket', 1);
    await well.conversation(2);
    expect(silent.conversations).toHaveLength(1);
    expect(stage.relay.health()).toMatchObject([
      { url: silent.url, state: 'UNWELL', conversations: 0, lastError: 'it did not answer in time' },
      { url: well.url, state: 'WELL', conversations: 2, lastError: undefined },
    ]);
    expect(stage.turns).toEqual([`127.0.0.1:${silent.port} UNWELL`]);
  });

  it('finds one well again that answers', async () => {
    const server = await openServer();
    const { hello } = server;
    server.hello = undefined;
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { backendTimeoutMs: 100 } });
    await stage.talk('websocket', 1);
    server.hello = hello;
    const { conversation } = await stage.talk('websocket', 1);
    expect(stage.relay.health()).toMatchObject([
      { state: 'WELL', conversations: 1, lastError: 'it did not answer in time' },
    ]);
    conversation.end('device_gone');
    expect(stage.relay.health()).toMatchObject([{ conversations: 0 }]);
    expect(stage.turns.map((turn) => turn.split(' ')[1])).toEqual(['UNWELL', 'WELL']);
  });

  it('leaves no connection behind where the hub cannot join the two sides, and finds the voice server well', async () => {
    const server = await openServer();
    const udp = () => {
      throw new Error('no port');
    };
    const stage = await RelayStage.set({ servers: [listed(server)], udp });
    const { answer } = await stage.talk('udp', 3);
    expect(answer.message).toMatchObject({ type: 'hello', transport: 'udp' });
    const heard = await server.conversation();
    await vi.waitFor(() => expect(heard.socket.readyState).toBe(heard.socket.CLOSED));
    expect(stage.relay.health()).toMatchObject([{ state: 'WELL', conversations: 0 }]);
    expect(stage.device.reports).toEqual([{ state: 'unavailable', reason: 'the hub could not join the two sides' }]);
    expect(stage.relay.size).toBe(0);
  });

  it('takes devices whose ids no header could carry', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    Object.assign(stage.device, { deviceId: '客厅 1', clientId: undefined });
    await stage.talk('udp', 3);
    const { headers } = await server.conversation();
    expect(headers).toMatchObject({ 'device-id': '%E5%AE%A2%E5%8E%85%201', 'client-id': '%E5%AE%A2%E5%8E%85%201' });
  });

  it('leaves the device without voice, and says so, where none answers', async () => {
    const stage = await RelayStage.set({ servers: [listed({ url: 'ws://127.0.0.1:1/' })] });
    const { answer, conversation } = await stage.talk('websocket', 1);
    expect(answer.message).toMatchObject({ type: 'hello', transport: 'websocket' });
    expect(stage.device.reports).toEqual([{ state: 'unavailable', reason: 'no voice server answered' }]);
    conversation.end('device_gone');
    expect(stage.relay.size).toBe(0);
  });

  it('is over when the device goes meanwhile', async () => {
    const server = await openServer();
    server.hello = undefined;
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const request = {
      device: stage.device,
      hello: { transport: 'websocket', version: 1, hasMcp: true } as const,
      message: { type: 'hello' },
    };
    const conversation = stage.relay.open(request, () => {
      throw new Error('nobody waits for an answer');
    });
    const heard = await server.conversation();
    conversation.end('device_gone');
    await once(heard.socket, 'close');
    expect(stage.relay.size).toBe(0);
  });
});

describe('a voice server that speaks MCP', () => {
  const tools = [
    {
      name: 'self.lamp.turn_on',
      description: 'On.',
      inputSchema: { type: 'object', properties: {} },
      userOnly: false,
      schemaKnown: true,
    },
    {
      name: 'self.reboot',
      description: 'Reboot.',
      inputSchema: { type: 'object', properties: {} },
      userOnly: true,
      schemaKnown: true,
    },
  ] as const satisfies readonly StoredTool[];

  async function converse(rights: Partial<VoiceServer> = {}) {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server, rights)] });
    stage.device.device = { ...stage.device.device, tools };
    await stage.talk('websocket', 1);
    const heard = await server.conversation();
    const ask = async (payload: JsonObject) => {
      const before = heard.texts.length;
      heard.socket.send(JSON.stringify({ type: 'mcp', payload: { jsonrpc: '2.0', ...payload } }));
      await vi.waitFor(() => expect(heard.texts.length).toBeGreaterThan(before));
      const message = JSON.parse(heard.texts.at(-1) ?? '') as { session_id: string; payload: JsonObject };
      expect(message.session_id).toBe('b-1');
      return message.payload;
    };
    return { ask, heard, stage };
  }

  it('is answered from what the hub knows, and its ids come back as they came', async () => {
    const { ask, stage } = await converse();
    expect(await ask({ id: 'greet-1', method: 'initialize' })).toMatchObject({
      id: 'greet-1',
      result: { protocolVersion: '2024-11-05', serverInfo: { name: 'lamp', version: '2.4.2' } },
    });
    expect(await ask({ id: 0, method: 'tools/list', params: { withUserTools: true } })).toMatchObject({
      id: 0,
      result: { tools: [{ name: 'self.lamp.turn_on' }] },
    });
    expect(await ask({ id: 2.5, method: 'resources/list' })).toMatchObject({ id: 2.5, error: { code: -32_601 } });
    expect(stage.device.said).toEqual([]);
  });

  it('calls tools on the road of all calls, user-only ones only where that is allowed', async () => {
    const { ask, stage } = await converse();
    const call = { method: 'tools/call', params: { name: 'self.lamp.turn_on', arguments: { r: 1 } } };
    expect(await ask({ id: 7, ...call })).toEqual({
      ...{ jsonrpc: '2.0', id: 7 },
      result: { content: [{ type: 'text', text: 'true' }], isError: false },
    });
    expect(stage.asked).toMatchObject([
      { deviceId: stage.device.deviceId, tool: 'self.lamp.turn_on', arguments: { r: 1 } },
    ]);
    const unknown = (name: string) => ({ error: { code: -32_602, message: `Unknown tool: ${name}` } });
    expect(await ask({ id: 'none', method: 'tools/call', params: { name: 'hub.alert' } })).toMatchObject(
      unknown('hub.alert'),
    );
    expect(stage.asked, 'nothing to record').toHaveLength(1);
    stage.called = { kind: 'error', message: 'The device said no.', isInvalid: false };
    expect(await ask({ id: 9, ...call })).toMatchObject({ error: { code: -32_000, message: 'The device said no.' } });
    // Refused on the road of all calls, where it is recorded.
    expect(await ask({ id: 8, method: 'tools/call', params: { name: 'self.reboot' } })).toMatchObject({
      id: 8,
      ...unknown('self.reboot'),
    });
    expect(stage.asked).toHaveLength(3);

    const allowed = await converse({ mayCallUserOnly: true });
    expect(await allowed.ask({ id: 1, method: 'tools/call', params: { name: 'self.reboot' } })).toMatchObject({
      result: { isError: false },
    });
  });

  it('waits for the tools of a device that has just come', async () => {
    const { ask, stage } = await converse();
    const known = stage.device.device;
    stage.device.device = { ...known, tools: undefined };
    const listed = ask({ id: 1, method: 'tools/list' });
    await stage.lookedAtDevice();
    stage.device.device = known;
    expect(await listed).toMatchObject({ result: { tools: [{ name: 'self.lamp.turn_on' }] } });
  });
});
