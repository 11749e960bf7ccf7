import type { DeviceId, JsonObject } from '@flotilla/mcp';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { NoVoice } from './no-voice.js';

function open(options: { readonly publicHost?: string; readonly localAddress?: string } = {}) {
  const clock = new ManualClock(0);
  const said: JsonObject[] = [];
  const host = new NoVoice({ clock, publicHost: options.publicHost, udpPort: () => 8884 });
  const say = (message: JsonObject) => said.push(message) > 0;
  const conversation = host.open({ deviceId: 'd' as DeviceId, localAddress: options.localAddress, say });
  return { clock, said, conversation };
}

describe('NoVoice', () => {
  it('answers with a block that devices accept', () => {
    const { conversation } = open({ localAddress: '192.0.2.7' });
    expect(conversation.answer).toMatchObject({ type: 'hello', transport: 'udp', session_id: conversation.sessionId });
    expect(conversation.answer['udp']).toMatchObject({
      server: '192.0.2.7',
      port: 8884,
      key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      nonce: expect.stringMatching(/^01000000[0-9a-f]{8}0{16}$/) as string,
    });
    expect(conversation.sessionId).toMatch(/^[A-Za-z0-9-]+$/);
  });

  it('tells the public host where there is one', () => {
    expect(open({ publicHost: 'hub.example.net', localAddress: '192.0.2.7' }).conversation.answer['udp']).toMatchObject({
      server: 'hub.example.net',
    });
  });

  it('uses a fresh key and sender number for each conversation', () => {
    expect(open().conversation.answer['udp']).not.toEqual(open().conversation.answer['udp']);
  });

  it('says that there is no voice service and goodbye, within a second', () => {
    const { clock, said, conversation } = open();
    expect(said).toEqual([]);
    clock.advance(1000);
    expect(said).toMatchObject([{ type: 'alert' }, { type: 'goodbye', session_id: conversation.sessionId }]);
  });

  it('says nothing more when the conversation ended before', () => {
    const { clock, said, conversation } = open();
    conversation.end();
    clock.advance(1000);
    expect(said).toEqual([]);
  });
});
