import { createCipheriv, createDecipheriv } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { makeUdpHeader } from '@flotilla/voice';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { HelloAnswer } from '../../conversations/conversation-host.js';
import { closeAll, closeLater, listed, openServer, RelayStage } from './relay-stage.suite.js';
import type { VoiceLimits } from '../voice-limits.js';

afterEach(closeAll);

const speech = Buffer.from('f8fffe', 'hex');

describe('a conversation over MQTT and UDP', () => {
  /** The device's side of the UDP channel. */
  class Speaker {
    readonly heard: Buffer[] = [];
    readonly headers: string[] = [];
    #sequence = 0;

    private constructor(
      private readonly socket: Socket,
      private readonly channel: { readonly port: number; readonly key: Buffer; readonly ssrc: number },
    ) {
      socket.on('message', (datagram) => {
        this.headers.push(datagram.subarray(0, 16).toString('hex'));
        const decipher = createDecipheriv('aes-128-ctr', channel.key, datagram.subarray(0, 16));
        this.heard.push(decipher.update(datagram.subarray(16)));
      });
    }

    static async open(answer: HelloAnswer, address = '127.0.0.1'): Promise<Speaker> {
      const { port, key, nonce } = answer.message['udp'] as { port: number; key: string; nonce: string };
      const socket = createSocket('udp4').bind(0, address);
      await once(socket, 'listening');
      closeLater(() => void socket.close());
      return new Speaker(socket, { port, key: Buffer.from(key, 'hex'), ssrc: Number.parseInt(nonce.slice(8, 16), 16) });
    }

    /** The same device with another port. */
    async rebound(): Promise<Speaker> {
      const socket = createSocket('udp4').bind(0, '127.0.0.1');
      await once(socket, 'listening');
      closeLater(() => void socket.close());
      const speaker = new Speaker(socket, this.channel);
      speaker.#sequence = this.#sequence;
      return speaker;
    }

    speak(payload: Uint8Array, sequence = ++this.#sequence): void {
      const { key, port, ssrc } = this.channel;
      const header = makeUdpHeader({ length: payload.length, ssrc, timestamp: 60 * sequence, sequence });
      const cipher = createCipheriv('aes-128-ctr', key, header);
      this.send(Buffer.concat([header, cipher.update(payload)]), port);
    }

    send(datagram: Uint8Array, port = this.channel.port): void {
      this.socket.send(datagram, port, '127.0.0.1');
    }
  }

  async function converse(limits: Partial<VoiceLimits> = {}, host = '127.0.0.1', hello?: string) {
    const server = await openServer();
    server.hello = hello ?? server.hello;
    const stage = await RelayStage.set({ servers: [listed(server)], limits, host });
    const { answer, conversation } = await stage.converse('udp', 3);
    return { answer, conversation, stage, heard: await server.conversation(), speaker: await Speaker.open(answer) };
  }

  it('is a WebSocket conversation to the voice server, and has its own key', async () => {
    const { answer, heard, stage } = await converse();
    expect(heard.headers).toMatchObject({ 'protocol-version': '1', 'client-id': stage.device.clientId });
    expect(heard.texts[0]).toBe(
      '{"type":"hello","version":1,"features":{"mcp":true},"transport":"websocket",' +
        '"audio_params":{"format":"opus","sample_rate":16000}}',
    );
    expect(answer.message).toMatchObject({
      type: 'hello',
      version: 3,
      transport: 'udp',
      session_id: answer.sessionId,
      audio_params: { sample_rate: 16_000 },
      udp: { server: '127.0.0.1', port: stage.udp.port, encryption: 'aes-128-ctr' },
    });
    const again = await stage.converse('udp', 3);
    expect(again.answer.message['udp']).not.toEqual(answer.message['udp']);
  });

  it.each([['127.0.0.1'], ['::']])('carries speech in both directions, through a port on %s', async (host) => {
    const { heard, speaker, stage } = await converse({}, host);
    speaker.speak(speech);
    speaker.speak(Buffer.from([1, 2]));
    await vi.waitFor(() => expect(heard.frames).toEqual([speech, Buffer.from([1, 2])]));
    for (const byte of [1, 2, 3]) heard.socket.send(Buffer.from([byte]));
    await vi.waitFor(() => expect(speaker.heard).toEqual([Buffer.from([1]), Buffer.from([2]), Buffer.from([3])]));
    expect(stage.count('frames_dropped_malformed')).toBe(0);
    expect([...stage.udp.drops]).toEqual([]);
  });

  it.each([
    [1, 'f8fffe', 'f8fffe'],
    [2, '00020000000000000000003c00000003f8fffe', '00020000000000000000abcd00000003f8fffe'],
    [3, '00000003f8fffe', '00000003f8fffe'],
  ])('uses the framing version %i of the server, byte by byte', async (version, frame, answer) => {
    const hello = `{"type":"hello","version":${version},"transport":"websocket","session_id":"b-1"}`;
    const { answer: reply, conversation, heard, speaker, stage } = await converse({}, '127.0.0.1', hello);
    speaker.speak(speech);
    await vi.waitFor(() => expect(heard.frames.map((one) => one.toString('hex'))).toEqual([frame]));
    conversation.heard({ session_id: reply.sessionId, type: 'listen', state: 'start', mode: 'auto' });
    heard.socket.send('{"type":"tts","state":"start","session_id":"b-1"}');
    heard.socket.send(Buffer.from(answer, 'hex'));
    heard.socket.send(Buffer.from(answer, 'hex'));
    await vi.waitFor(() => expect(speaker.heard).toEqual([speech, speech]));
    const { nonce } = reply.message['udp'] as { nonce: string };
    // Type 1, no flags, 3 bytes, the number of the hello, the time in ms, sequence from 1.
    const times = version === 2 ? ['0000abcd', '0000abcd'] : ['0000003c', '00000078'];
    expect(speaker.headers).toEqual(
      times.map((time, index) => `01000003${nonce.slice(8, 16)}${time}0000000${index + 1}`),
    );
    expect(heard.texts[1]).toBe('{"session_id":"b-1","type":"listen","state":"start","mode":"auto"}');
    expect(JSON.stringify(stage.device.said)).toBe(
      `[{"type":"tts","state":"start","session_id":"${reply.sessionId}"}]`,
    );
  });

  it('counts lost packets, and audio for a device that has not sent any yet', async () => {
    const { conversation, heard, speaker, stage } = await converse();
    heard.socket.send(speech);
    await vi.waitFor(() => expect(stage.count('frames_dropped_device_not_found')).toBe(1));
    speaker.speak(speech, 1);
    speaker.speak(speech, 4);
    await vi.waitFor(() => expect(heard.frames).toHaveLength(2));
    expect(stage.count('frames_lost')).toBe(2);
    heard.socket.send(Buffer.alloc(1_485));
    await vi.waitFor(() => expect(stage.count('frames_dropped_too_long')).toBe(1));
    conversation.end('device_goodbye');
    expect(stage.device.reports.at(-1)).toMatchObject({ framesFromDevice: 2, framesDropped: 2, packetsLost: 2 });
  });

  it('drops and counts forged, replayed or truncated packets, and follows the device to another port', async () => {
    const { answer, heard, speaker, stage } = await converse({ packetsAheadMax: 100 });
    speaker.speak(speech);
    await vi.waitFor(() => expect(heard.frames).toHaveLength(1));
    speaker.speak(speech, 1);
    speaker.speak(speech, 0xffff_ffff);
    speaker.send(Buffer.from('0100', 'hex'));
    (await Speaker.open(answer, '127.0.0.2')).speak(speech, 2);
    speaker.send(Buffer.from('01000001ffffffff000000000000000901', 'hex'));
    const { nonce } = answer.message['udp'] as { nonce: string };
    const [ssrc, tail] = [nonce.slice(8, 16), '0000007800000002f8'];
    // Packets of the right device with the next sequence: another type, a length that is too large,
    // too small, or 0.
    for (const type of ['0200', '0000']) speaker.send(Buffer.from(`${type}0001${ssrc}${tail}`, 'hex'));
    for (const length of ['0002', 'ffff', '0000']) speaker.send(Buffer.from(`0100${length}${ssrc}${tail}`, 'hex'));
    speaker.send(Buffer.alloc(1_501, 1));
    await vi.waitFor(() =>
      expect([...stage.udp.drops].sort()).toEqual([
        ['replayed', 1],
        ['too_far', 1],
        ['too_long', 1],
        ['truncated', 1],
        ['unknown_sender', 1],
        ['wrong_address', 1],
        ['wrong_length', 3],
        ['wrong_type', 2],
      ]),
    );
    expect(heard.frames).toHaveLength(1);
    const elsewhere = await speaker.rebound();
    elsewhere.speak(Buffer.from([9]));
    await vi.waitFor(() => expect(heard.frames).toHaveLength(2));
    heard.socket.send(Buffer.from([7]));
    await vi.waitFor(() => expect(elsewhere.heard).toEqual([Buffer.from([7])]));
    expect(speaker.heard).toEqual([]);
  });

  it('drops a packet that claims to come from port 0, where no answer could go', async () => {
    const { heard, speaker, stage } = await converse();
    speaker.speak(speech);
    await vi.waitFor(() => expect(heard.frames).toHaveLength(1));
    const channel = stage.udp.openChannel({
      address: undefined,
      packetsAheadMax: 10,
      onPacket: () => undefined,
      onMissed: () => undefined,
    });
    const header = { length: 1, ssrc: channel.ssrc, timestamp: 60, sequence: 1 };
    const datagram = Buffer.concat([makeUdpHeader(header), Buffer.from([1])]);
    expect(channel.receive(datagram, header, { address: '127.0.0.1', port: 0 })).toBe('wrong_address');
    expect(channel.sendAudio({ payload: speech, timestamp: 60 })).toBe('device_not_found');
    stage.udp.closeChannel(channel);
  });

  it('sends audio at the speed of speech, with texts in their place', async () => {
    const { heard, speaker, stage } = await converse({ leadFrames: 2 });
    speaker.speak(speech);
    await vi.waitFor(() => expect(heard.frames).toHaveLength(1));
    const from = Date.now();
    for (let n = 0; n < 8; n += 1) heard.socket.send(Buffer.from([n]));
    heard.socket.send('{"type":"tts","state":"stop"}');
    await vi.waitFor(() => expect(stage.device.said).toEqual([{ type: 'tts', state: 'stop' }]));
    expect(Date.now() - from).toBeGreaterThan(4 * 60);
    expect(stage.count('frames_to_device')).toBe(8);
  });

  it('drops and counts queued audio when the user interrupts', async () => {
    const { conversation, heard, speaker, stage } = await converse({ leadFrames: 1 });
    speaker.speak(speech);
    await vi.waitFor(() => expect(heard.frames).toHaveLength(1));
    for (let n = 0; n < 50; n += 1) heard.socket.send(Buffer.from([n]));
    // Is answered at once, after the queued frames.
    heard.socket.send('{"type":"mcp","payload":{"jsonrpc":"2.0","id":1,"method":"ping"}}');
    await vi.waitFor(() => expect(heard.texts).toHaveLength(2));
    expect(stage.count('frames_to_device')).toBeGreaterThan(0);
    conversation.heard({ type: 'abort' });
    conversation.end('device_goodbye');
    expect(stage.count('frames_to_device') + stage.count('frames_dropped_interrupted')).toBe(50);
  });

  it('drops what arrives of an interrupted answer later, up to the next one', async () => {
    const { conversation, heard, speaker, stage } = await converse({ leadFrames: 1, queuedItemsMax: 10 });
    speaker.speak(speech);
    await vi.waitFor(() => expect(heard.frames).toHaveLength(1));
    const tts = (state: string) => heard.socket.send(JSON.stringify({ type: 'tts', state }));
    tts('start');
    // More than the queue takes: the rest waits in buffers.
    for (let n = 0; n < 400; n += 1) heard.socket.send(Buffer.from([1]));
    await vi.waitFor(() => expect(speaker.heard.length).toBeGreaterThan(0));
    conversation.heard({ type: 'abort' });
    for (const state of ['stop', 'start']) tts(state);
    heard.socket.send(Buffer.from([2]));
    await vi.waitFor(() => expect(speaker.heard.at(-1)).toEqual(Buffer.from([2])));
    const [relayed, dropped] = [stage.count('frames_to_device'), stage.count('frames_dropped_interrupted')];
    expect(relayed + dropped).toBe(401);
    expect(dropped).toBeGreaterThan(300);
  });

  it('ends with a goodbye from either side, and closes the channel', async () => {
    const { answer, conversation, heard, stage } = await converse();
    heard.socket.close();
    await vi.waitFor(() => expect(stage.device.said).toEqual([{ session_id: answer.sessionId, type: 'goodbye' }]));
    expect(stage.udp.size).toBe(0);
    conversation.end('device_gone');

    const second = await converse();
    second.conversation.end('device_goodbye');
    await once(second.heard.socket, 'close');
    expect(second.stage.device.said).toEqual([]);
    expect(second.stage.udp.size).toBe(0);
  });
});
