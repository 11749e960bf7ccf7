import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import type { HelloAnswer } from './conversation-host.js';
import { ListeningDevice } from './listening-device.suite.js';
import { NoVoice } from './no-voice.js';
import type { UdpHosts } from './udp-host.js';

function open(options: UdpHosts & { readonly localAddress?: string } = {}) {
  const clock = new ManualClock(0);
  const device = new ListeningDevice(options.localAddress);
  const host = new NoVoice({ clock, idleMs: 8_000, hosts: options, udpPort: () => 8884 });
  const answers: HelloAnswer[] = [];
  const conversation = host.open(
    { device, hello: { transport: 'udp', version: 3, hasMcp: true }, message: {} },
    (one) => answers.push(one),
  );
  const [answer] = answers;
  if (answer === undefined) throw new Error('the hello was not answered at once');
  return { clock, said: device.said, conversation, answer };
}

describe('NoVoice', () => {
  it('answers with a block that devices accept', () => {
    const { answer } = open({ localAddress: '192.0.2.7' });
    expect(answer.message).toMatchObject({ type: 'hello', transport: 'udp', session_id: answer.sessionId });
    expect(answer.message['udp']).toMatchObject({
      server: '192.0.2.7',
      port: 8884,
      key: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      nonce: expect.stringMatching(/^01000000[0-9a-f]{8}0{16}$/) as string,
    });
    expect(answer.sessionId).toMatch(/^[A-Za-z0-9-]+$/);
  });

  it('sends the public host if there is one', () => {
    expect(open({ publicHost: 'hub.example.net', localAddress: '192.0.2.7' }).answer.message['udp']).toMatchObject({
      server: 'hub.example.net',
    });
  });

  it('sends a host that devices can parse where they reached the hub over IPv6', () => {
    const { answer } = open({ fallbackHost: 'hub.example.net', localAddress: '2001:db8::7' });
    expect(answer.message['udp']).toMatchObject({ server: 'hub.example.net' });
  });

  it('uses a fresh key and sender number for each conversation', () => {
    expect(open().answer.message['udp']).not.toEqual(open().answer.message['udp']);
  });

  it('says that there is no voice service and goodbye, within a second', () => {
    const { answer, clock, said } = open();
    expect(said).toEqual([]);
    clock.advance(1000);
    expect(said).toMatchObject([{ type: 'alert' }, { type: 'goodbye', session_id: answer.sessionId }]);
  });

  it('says nothing more when the conversation ended before', () => {
    const { clock, said, conversation } = open();
    conversation.end('device_gone');
    clock.advance(1000);
    expect(said).toEqual([]);
  });
});
