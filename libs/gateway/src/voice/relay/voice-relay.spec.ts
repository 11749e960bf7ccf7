import { once } from 'node:events';
import { encodeAudioFrame } from '@flotilla/voice';
import type { FramingVersion } from '@flotilla/voice';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { closeAll, listed, openServer, RelayStage } from './relay-stage.suite.js';

afterEach(closeAll);

const speech = Buffer.from('f8fffe', 'hex');
const frame = (version: FramingVersion) => Buffer.from(encodeAudioFrame(version, { payload: speech, timestamp: 0 }));

describe('a conversation over WebSocket', () => {
  it.each([1, 2, 3] as const)(
    'looks to the voice server like a connection of the device, in framing %i',
    async (version) => {
      const server = await openServer();
      const stage = await RelayStage.set({
        servers: [listed(server, { credential: { kind: 'token', token: 'hub-token' } })],
      });
      const { conversation, answer } = await stage.converse('websocket', version);
      const heard = await server.conversation();
      expect(conversation.hasVoice).toBe(true);
      expect(heard.headers).toMatchObject({
        'device-id': stage.device.deviceId,
        'client-id': stage.device.clientId,
        'protocol-version': String(version),
        authorization: 'Bearer hub-token',
      });
      expect(heard.texts).toEqual([
        `{"type":"hello","version":${version},"features":{"mcp":true},"transport":"websocket",` +
          '"audio_params":{"format":"opus","sample_rate":16000}}',
      ]);
      expect(answer.message).toEqual({
        type: 'hello',
        transport: 'websocket',
        session_id: answer.sessionId,
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
      expect(conversation.hasVoice).toBe(false);
      await once(heard.socket, 'close');
      expect(stage.relay.size).toBe(0);
      expect(stage.device.reports).toMatchObject([
        { state: 'started', transport: 'WEBSOCKET', backend: `127.0.0.1:${server.port}` },
        { state: 'ended', reason: 'device_gone', framesFromDevice: 1, framesToDevice: 1, framesDropped: 0 },
      ]);
    },
  );

  it('gives the device only the two audio parameters that it reads, of any that the voice server sends', async () => {
    const server = await openServer();
    const params = { Sample_Rate: 8_000, sample_rate: 16_000, frame_duration: '20', note: 'x'.repeat(10_000) };
    server.hello = JSON.stringify({ type: 'hello', transport: 'websocket', audio_params: params });
    const { answer } = await (await RelayStage.set({ servers: [listed(server)] })).converse('websocket', 1);
    expect(answer.message['audio_params']).toEqual({
      format: 'opus',
      sample_rate: 16_000,
      channels: 1,
      frame_duration: 60,
    });
  });

  it('converts the framing if the voice server answers with another', async () => {
    const server = await openServer();
    server.hello = '{"type":"hello","version":1,"transport":"websocket"}';
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const { conversation } = await stage.converse('websocket', 3);
    const heard = await server.conversation();
    conversation.heardAudio(frame(3));
    heard.socket.send(frame(1));
    await vi.waitFor(() => expect(stage.device.frames.map((one) => Buffer.from(one))).toEqual([frame(3)]));
    expect(heard.frames).toEqual([frame(1)]);
    expect(heard.headers.authorization).toBeUndefined();
  });

  it('closes the connection of the device when the voice server disconnects in any way', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    for (const leave of ['close', 'terminate'] as const) {
      await stage.converse('websocket', 1);
      (await server.conversation(server.conversations.length)).socket[leave]();
      await vi.waitFor(() => expect(stage.relay.size).toBe(0));
    }
    expect(stage.device.hangUps).toEqual(['conversation_ended', 'conversation_ended']);
    expect(stage.device.reports.map((report) => report['reason']).filter(Boolean)).toEqual([
      'backend_closed',
      'backend_lost',
    ]);
  });

  it('ends a conversation whose voice server answers no ping any more', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { backendPingMs: 50 } });
    await stage.converse('websocket', 1);
    let pings = 0;
    (await server.conversation()).socket.on('ping', () => (pings += 1));
    await vi.waitFor(() => expect(pings).toBeGreaterThan(3));
    expect(stage.relay.size).toBe(1);
    server.freeze();
    await vi.waitFor(() => expect(stage.relay.size).toBe(0));
    expect(stage.device.reports.at(-1)).toMatchObject({ reason: 'backend_lost' });
  });

  it('drops and counts frames with a wrong length, and relays no ambiguous message', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const { conversation } = await stage.converse('websocket', 3);
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

  it('relays a text without its glyphs where both are too large for the device, and drops what still is', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)] });
    const { answer } = await stage.converse('websocket', 1);
    const heard = await server.conversation();
    stage.device.textBytesMax = 8 * 1024;
    const send = (message: object) => heard.socket.send(JSON.stringify({ session_id: 'b-1', ...message }));
    const sentence = { type: 'tts', state: 'sentence_start', text: '我是' };
    const glyphs = (bytes: number) => ({ v: 1, glyphs: [{ codepoint: 25105, bitmap: 'A'.repeat(bytes) }] });
    send({ ...sentence, glyph_push: glyphs(100) });
    send({ ...sentence, glyph_push: glyphs(9_000) });
    send({ type: 'stt', text: 'x'.repeat(9_000), glyph_push: glyphs(100) });
    send({ type: 'llm', emotion: 'happy', text: 'x'.repeat(9_000) });
    send({ type: 'stt', text: 'on' });
    await vi.waitFor(() => expect(stage.device.said).toHaveLength(3));
    const session_id = answer.sessionId;
    expect(stage.device.said).toEqual([
      { session_id, ...sentence, glyph_push: glyphs(100) },
      { session_id, ...sentence },
      { session_id, type: 'stt', text: 'on' },
    ]);
    expect(stage.count('texts_dropped')).toBe(2);
  });

  it('ends if the voice server floods, without other effects', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({
      servers: [listed(server)],
      limits: { backendTextsBurst: 5, backendTextsPerSecondMax: 1 },
    });
    await stage.converse('websocket', 1);
    const heard = await server.conversation();
    for (let n = 0; n < 20; n += 1) heard.socket.send('{"type":"llm","emotion":"happy"}');
    await vi.waitFor(() => expect(stage.device.reports.at(-1)).toMatchObject({ reason: 'backend_flooded' }));
    expect(stage.device.said).toHaveLength(5);
  });

  it('ends if the voice server sends requests and does not read the answers', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({
      servers: [listed(server)],
      limits: { backendUnsentBytesMax: 100_000, backendStallMsMax: 100, backendTextsBurst: 1_000 },
    });
    const description = 'd'.repeat(7_000);
    const tool = { name: 'self.a', description, inputSchema: {}, userOnly: false, schemaKnown: true } as const;
    stage.device.device = { ...stage.device.device, tools: [tool] };
    await stage.converse('websocket', 1);
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

  it('makes a voice server wait if the device does not accept its long messages', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { queuedBytesMax: 100_000 } });
    await stage.converse('websocket', 1);
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

  it('makes a voice server wait for a slow device, and loses nothing', async () => {
    const server = await openServer();
    const stage = await RelayStage.set({ servers: [listed(server)], limits: { queuedItemsMax: 10 } });
    await stage.converse('websocket', 1);
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
