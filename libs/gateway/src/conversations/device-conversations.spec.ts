import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { GatewayCounters } from '../gateway-counters.js';
import type { DeviceEnd, HelloAnswer } from './conversation-host.js';
import { DeviceConversations } from './device-conversations.js';
import { ListeningDevice } from './listening-device.suite.js';
import { LostConversations } from './lost-conversations.js';

const hello = { type: 'hello', version: 3, transport: 'udp', features: { mcp: true } };

/** A device on MQTT, whose hellos are answered when `answers` are called. */
function converseOverMqtt(lost = new LostConversations({ now: () => 0 })) {
  const answers: (() => void)[] = [];
  const ends: string[] = [];
  const host = {
    open: (_: unknown, answer: (hello: HelloAnswer) => void) => {
      const sessionId = `s-${answers.length + 1}`;
      answers.push(() => answer({ sessionId, message: { type: 'hello', session_id: sessionId } }));
      const nothing = () => undefined;
      const end = (why: DeviceEnd) => void ends.push(`${sessionId} ${why}`);
      return { hasVoice: true, ready: nothing, heard: nothing, heardAudio: nothing, used: nothing, end };
    },
  };
  const [clock, counters] = [new ManualClock(0), new GatewayCounters()];
  const device = new ListeningDevice();
  const conversations = new DeviceConversations({
    host,
    device,
    transport: 'MQTT',
    lost,
    limiting: { clock, counters, limits: { conversationsPerMinuteMax: 3 } },
    onSessionId: () => undefined,
  });
  const { said } = device;
  return { clock, conversations, counters, ends, said, opened: () => answers.length, answer: () => answers.at(-1)?.() };
}

describe('a hello of a device that may open no other conversation', () => {
  it('ends the one before, and opens none', () => {
    const { answer, clock, conversations, counters, ends, opened } = converseOverMqtt();
    for (let count = 0; count < 3; count++) {
      conversations.hello(hello);
      answer();
    }
    expect(conversations.hello(hello)).toBe(true);
    expect(ends).toEqual(['s-1 superseded', 's-2 superseded', 's-3 superseded']);
    expect(conversations.isConversing).toBe(false);
    expect(counters.list()).toEqual([{ name: 'anomaly_hellos_dropped', count: 1 }]);
    clock.advance(20_000);
    conversations.hello(hello);
    expect([conversations.isConversing, opened()]).toEqual([true, 4]);
  });
});

describe('a goodbye of a device', () => {
  it('ends the conversation that it names, or names none', () => {
    for (const session_id of ['s-1', '', undefined]) {
      const { answer, ends, conversations } = converseOverMqtt();
      conversations.hello(hello);
      answer();
      conversations.goodbye({ type: 'goodbye', ...(session_id !== undefined && { session_id }) });
      expect(ends).toEqual(['s-1 device_goodbye']);
    }
  });

  it('for an earlier conversation does not end the next one', () => {
    const { answer, ends, conversations } = converseOverMqtt();
    conversations.hello(hello);
    answer();
    conversations.hello(hello);
    answer();
    expect(ends).toEqual(['s-1 superseded']);
    conversations.goodbye({ type: 'goodbye', session_id: 's-1' });
    expect(ends).toHaveLength(1);
    conversations.goodbye({ type: 'goodbye', session_id: 's-2' });
    expect(ends).toEqual(['s-1 superseded', 's-2 device_goodbye']);
  });

  it('takes back a hello that was not answered yet, under the name of the conversation before', () => {
    const { answer, ends, conversations } = converseOverMqtt();
    conversations.hello(hello);
    answer();
    conversations.hello(hello);
    conversations.goodbye({ type: 'goodbye', session_id: 's-1' });
    expect(ends).toEqual(['s-1 superseded', 's-2 device_goodbye']);
  });
});

describe('a device that loses its connection in a conversation', () => {
  const goodbye = { session_id: 's-1', type: 'goodbye' };

  /** Ends a session after its hello, and returns what the device hears on its next two. */
  function heardAfter(leave: (before: ReturnType<typeof converseOverMqtt>) => void): readonly unknown[] {
    const lost = new LostConversations({ now: () => 0 });
    const before = converseOverMqtt(lost);
    before.conversations.hello(hello);
    leave(before);
    return [1, 2].map(() => {
      const { conversations, said } = converseOverMqtt(lost);
      conversations.begin();
      return said;
    });
  }

  it('gets a goodbye for it on the next one, once', () => {
    const heard = heardAfter(({ answer, conversations }) => {
      answer();
      conversations.end('device_gone');
    });
    expect(heard).toEqual([[goodbye], []]);
  });

  it('gets none if the conversation had not begun, was over, or ended with the session by the hub', () => {
    const unanswered = heardAfter(({ conversations }) => conversations.end('device_gone'));
    const over = heardAfter(({ answer, conversations }) => {
      answer();
      conversations.goodbye(goodbye);
      conversations.end('device_gone');
    });
    const byHub = heardAfter(({ answer, conversations }) => {
      answer();
      conversations.end('hub_closed');
    });
    expect([unanswered, over, byHub]).toEqual([
      [[], []],
      [[], []],
      [[], []],
    ]);
  });
});

describe('a device that speaks without a conversation', () => {
  const listen = { session_id: 's-old', type: 'listen', state: 'start', mode: 'manual' };

  it('gets a goodbye for the conversation that it believes in', () => {
    const { conversations, said } = converseOverMqtt();
    conversations.heard(listen);
    expect(said).toEqual([{ session_id: 's-old', type: 'goodbye' }]);
  });

  it('gets none if it names no conversation, stops speaking, or has a conversation', () => {
    const { answer, conversations, said } = converseOverMqtt();
    conversations.heard({ ...listen, session_id: '' });
    conversations.heard({ ...listen, state: 'stop' });
    conversations.heard({ session_id: 's-old', type: 'abort' });
    conversations.hello(hello);
    conversations.heard(listen);
    answer();
    conversations.heard(listen);
    expect(said).toEqual([{ type: 'hello', session_id: 's-1' }]);
  });
});
