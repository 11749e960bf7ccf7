/** hello, its answer and goodbye on both transports. [xiaozhi §1.3, §2.4, §2.6] */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';

const udp = { server: '127.0.0.1', port: 8884, key: '0'.repeat(32), nonce: '1'.repeat(32) };
const mqttHello = { type: 'hello', transport: 'udp', session_id: 's-1', udp };
const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize' };

describe('a conversation over MQTT', () => {
  it('is not opened by connecting', () => {
    expect(new DeviceOnBench().effects).toEqual([]);
  });

  it('holds replies back until the hello is answered; listen start leaves first', () => {
    const bench = new DeviceOnBench();
    bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    bench.mcp(initialize);
    expect(bench.sent).toHaveLength(1);
    expect(bench.sent[0]).toContain('"transport":"udp"');
    bench.receive(mqttHello);
    expect(bench.sent[1]).toBe('{"session_id":"s-1","type":"listen","state":"start","mode":"auto"}');
    expect(bench.sent[2]).toContain('{"session_id":"s-1","type":"mcp"');
  });

  it.each([
    ['without a udp block', { ...mqttHello, udp: undefined }],
    ['with a short key', { ...mqttHello, udp: { ...udp, key: 'abc' } }],
    ['with port 0', { ...mqttHello, udp: { ...udp, port: 0 } }],
    ['with another transport', { ...mqttHello, transport: 'websocket' }],
    ['without transport', { ...mqttHello, transport: undefined }],
  ])('ignores an answer %s and gives up after 10 s', (_name, answer) => {
    const bench = new DeviceOnBench();
    bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    bench.receive(answer);
    bench.mcp(initialize);
    expect(bench.sent).toHaveLength(1);
    bench.waitUntil(20_000);
    expect(bench.replyTimes).toEqual([[1, 10_000]]);
  });

  describe('of a device that is to talk', () => {
    const talk = (bench: DeviceOnBench, packets: number) =>
      bench.do((device, now) => device.behave({ kind: 'talk', packets }, now));
    const hellos = ({ sent }: DeviceOnBench) => sent.filter((text) => text.includes('"type":"hello"')).length;

    it('is one also where it is asked again before the answer, and everything is said', () => {
      const bench = new DeviceOnBench();
      talk(bench, 3);
      talk(bench, 2);
      bench.receive(mqttHello);
      bench.waitUntil(5_000);
      expect([hellos(bench), bench.device.sound.spoken]).toEqual([1, 5]);
    });

    it('begins with the connection that it needs', () => {
      const bench = new DeviceOnBench();
      bench.do((device, now) => device.disconnected(now));
      bench.waitUntil(2_000);
      talk(bench, 2);
      expect(bench.turns.at(-1)).toEqual({ at: 2_000, effect: { kind: 'reconnectAt', at: 2_000 } });
      bench.do((device, now) => device.connected(now));
      bench.receive(mqttHello);
      bench.waitUntil(5_000);
      expect([hellos(bench), bench.device.sound.spoken]).toEqual([1, 2]);
    });

    it('is given up with a connection that fails, and nothing of it is said in a later one', () => {
      const bench = new DeviceOnBench();
      bench.do((device, now) => device.disconnected(now));
      talk(bench, 2);
      bench.do((device, now) => device.disconnected(now));
      bench.do((device, now) => device.connected(now));
      expect(hellos(bench)).toBe(0);
      bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
      bench.receive(mqttHello);
      bench.waitUntil(5_000);
      expect([hellos(bench), bench.device.sound.spoken]).toEqual([1, 0]);
    });

    it('is not opened by a connection that comes too late, and nothing of it is said in a later one', () => {
      const bench = new DeviceOnBench();
      bench.do((device, now) => device.disconnected(now));
      talk(bench, 2);
      bench.waitUntil(10_001);
      bench.do((device, now) => device.connected(now));
      expect(hellos(bench)).toBe(0);
      bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
      bench.receive(mqttHello);
      bench.waitUntil(15_000);
      expect([hellos(bench), bench.device.sound.spoken]).toEqual([1, 0]);
    });

    it('that gets no answer leaves nothing to say for a later one', () => {
      const bench = new DeviceOnBench();
      talk(bench, 2);
      bench.waitUntil(20_000);
      bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
      bench.receive(mqttHello);
      bench.waitUntil(30_000);
      expect([hellos(bench), bench.device.sound.spoken]).toEqual([2, 0]);
    });
  });

  it('ends with the goodbye of the current session, and a reboot inside it says goodbye', () => {
    const bench = new DeviceOnBench();
    const open = () => {
      bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
      bench.receive(mqttHello);
    };
    open();
    bench.receive({ type: 'goodbye', session_id: 's-1' });
    bench.receive({ type: 'system', command: 'reboot' });
    expect(bench.sent.filter((text) => text.includes('goodbye'))).toEqual([]);
    bench.waitUntil(10_000);
    bench.do((device, now) => device.connected(now));
    open();
    bench.receive({ type: 'goodbye', session_id: 'of another' });
    bench.receive({ type: 'system', command: 'reboot' });
    expect(bench.sent.at(-1)).toBe('{"session_id":"s-1","type":"goodbye"}');
  });
});

describe('a conversation over WebSocket', () => {
  const hello = { type: 'hello', transport: 'websocket', session_id: 'w-1' };

  it('begins with the hello of the device and holds replies back until the answer', () => {
    const bench = new DeviceOnBench({ transport: 'websocket' });
    expect(JSON.parse(bench.sent[0] ?? '')).toMatchObject({
      type: 'hello',
      version: 1,
      transport: 'websocket',
      features: { mcp: true },
    });
    bench.mcp(initialize);
    expect(bench.sent).toHaveLength(1);
    bench.receive(hello);
    expect(bench.replyTimes).toHaveLength(1);
  });

  it('drops the socket without a close frame when no answer comes within 10 s', () => {
    const bench = new DeviceOnBench({ transport: 'websocket' });
    bench.waitUntil(20_000);
    expect(bench.turns[0]).toEqual({ at: 10_000, effect: { kind: 'close', how: 'abrupt' } });
  });

  it('crashes on a hello without transport', () => {
    const bench = new DeviceOnBench({ transport: 'websocket' });
    bench.receive({ type: 'hello', session_id: 'w-1' });
    expect(bench.turns).toEqual([
      { at: 0, effect: { kind: 'close', how: 'abrupt' } },
      { at: 0, effect: { kind: 'reconnectAt', at: 5000 } },
    ]);
  });
});
