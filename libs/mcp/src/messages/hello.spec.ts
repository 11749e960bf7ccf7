import { describe, expect, it } from 'vitest';
import { parseDeviceHello, udpServerHello, websocketServerHello } from './hello.js';

describe('parseDeviceHello', () => {
  it('parses the hellos of both transports', () => {
    expect(parseDeviceHello({ type: 'hello', version: 1, features: { mcp: true }, transport: 'websocket' })).toEqual({
      ok: true,
      hello: { transport: 'websocket', version: 1, hasMcp: true },
    });
    expect(parseDeviceHello({ type: 'hello', version: 3, transport: 'udp', features: { mcp: true } })).toMatchObject({
      ok: true,
      hello: { transport: 'udp', version: 3 },
    });
  });

  it('recognises firmware without MCP', () => {
    for (const features of [undefined, null, {}, { mcp: false }, 'mcp']) {
      expect(parseDeviceHello({ transport: 'websocket', version: 1, features })).toMatchObject({
        ok: true,
        hello: { hasMcp: false },
      });
    }
  });

  it('names the invalid member', () => {
    expect(parseDeviceHello({ transport: 'mqtt', version: 3 })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('transport'),
    });
    expect(parseDeviceHello({ transport: 'websocket', version: 4 })).toMatchObject({
      ok: false,
      problem: expect.stringContaining('version'),
    });
  });
});

it('answers on WebSocket with the transport that devices require', () => {
  expect(websocketServerHello('s-7f3c')).toEqual({
    type: 'hello',
    transport: 'websocket',
    session_id: 's-7f3c',
    audio_params: { format: 'opus', sample_rate: 24000, channels: 1, frame_duration: 60 },
  });
});

it('answers over MQTT with a complete UDP object', () => {
  const channel = {
    server: '203.0.113.9',
    port: 8884,
    key: '8f1d2c3b4a5968778695a4b3c2d1e0ff',
    nonce: '01000000a1b2c3d40000000000000000',
  };
  expect(udpServerHello('s-91b2', channel)).toEqual({
    type: 'hello',
    version: 3,
    transport: 'udp',
    session_id: 's-91b2',
    audio_params: { format: 'opus', sample_rate: 24000, channels: 1, frame_duration: 60 },
    udp: { ...channel, encryption: 'aes-128-ctr' },
  });
});
