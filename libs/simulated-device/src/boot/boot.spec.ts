/** From power-on to the first connection, against answers of a hub. [xiaozhi §7] */
import { describe, expect, it } from 'vitest';
import { BootBench, mqtt } from './boot-bench.suite.js';

const firmware = { version: '2.4.2', url: '' };
const wait = { message: 'Flotilla\n123456', code: '123456', challenge: 'abc' };

describe('a boot', () => {
  it('asks the OTA address as the firmware does, and connects with the settings of the answer', () => {
    const bench = new BootBench();
    const request = bench.requests[0]?.request;
    expect(request).toMatchObject({ method: 'POST', url: 'http://hub.example:8080/ota/' });
    expect(Object.entries(request?.headers ?? {})).toEqual([
      ['Activation-Version', '1'],
      ['Device-Id', '02:00:01:00:00:07'],
      ['Client-Id', bench.uuid],
      ['User-Agent', 'lichuang-dev/2.4.2'],
      ['Accept-Language', 'en-US'],
      ['Content-Type', 'application/json'],
    ]);
    const body = JSON.parse(String(request?.body));
    expect(body).toMatchObject({
      uuid: bench.uuid,
      chip_info: { model: 9 },
      application: { elf_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(body.partition_table.map(({ label }: { label: string }) => label)).toEqual([
      'nvs',
      'ota_0',
      'ota_1',
      'assets',
    ]);
    bench.answer({ mqtt, firmware });
    bench.wait(0);
    expect(bench.connects).toEqual([
      {
        transport: 'mqtt',
        host: 'hub.example',
        port: 1883,
        isTls: false,
        keepAliveSeconds: 45,
        clientId: 'c',
        username: 'u',
        password: 'p',
        publishTopic: 'device-server',
      },
    ]);
  });

  it('keeps what a later answer leaves out, and reconnects without asking again', () => {
    const bench = new BootBench();
    bench.answer({ mqtt, firmware });
    bench.wait(0);
    bench.do((device, now) => device.connected(now));
    bench.do((device, now) => device.disconnected(now));
    bench.wait(10_000);
    expect([bench.connects.length, bench.requests.length]).toEqual([2, 1]);
    bench.do((device, now) => device.behave({ kind: 'reboot' }, now));
    bench.wait(8_000);
    expect(bench.requests).toHaveLength(2);
    bench.answer({ mqtt: { endpoint: 'hub.example:1884' }, firmware });
    bench.wait(0);
    expect(bench.connects.at(-1)).toMatchObject({ port: 1884, clientId: 'c', password: 'p' });
  });

  it('takes WebSocket where the answer has no MQTT, stays idle, and connects for a conversation only', () => {
    const bench = new BootBench();
    const talk = () => bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    talk();
    bench.answer({ websocket: { url: 'ws://hub.example:8080/xiaozhi/v1/', token: 't', version: 1 }, firmware });
    bench.wait(3_600_000);
    expect(bench.connects).toEqual([]);
    talk();
    bench.wait(0);
    expect(bench.connects).toEqual([
      {
        transport: 'websocket',
        host: 'hub.example',
        port: 8080,
        isTls: false,
        path: '/xiaozhi/v1/',
        token: 't',
        version: 1,
      },
    ]);
    expect(bench.device.transport).toBe('websocket');
    bench.do((device, now) => device.connected(now));
    bench.do((device, now) => device.disconnected(now));
    bench.wait(3_600_000);
    expect([bench.connects.length, bench.requests.length]).toEqual([1, 1]);
  });

  it.each([
    [undefined, 1],
    [3, 3],
  ])('says hello over WebSocket in the framing of its settings: %s is %i', (version, framing) => {
    const bench = new BootBench();
    bench.answer({ websocket: { url: 'ws://hub.example:8080/xiaozhi/v1/', token: 't', version }, firmware });
    bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    bench.wait(0);
    let effects: readonly unknown[] = [];
    bench.do((device, now) => {
      const made = device.connected(now);
      effects = made;
      return made;
    });
    expect(JSON.stringify(effects)).toContain(`{\\"type\\":\\"hello\\",\\"version\\":${framing},`);
  });

  it('stays idle over WebSocket also where its Wi-Fi drops and returns', () => {
    const bench = new BootBench({ behaviours: [{ kind: 'wifiDrops', perHour: 60, seconds: 5 }] });
    bench.answer({ websocket: { url: 'ws://hub.example:8080/xiaozhi/v1/', token: 't', version: 1 }, firmware });
    bench.wait(3_600_000);
    expect(bench.connects).toEqual([]);
  });

  it('shows its code, asks every 3 s whether it is approved, and then for its settings', () => {
    const bench = new BootBench({ otaUrl: 'http://hub.example:8080/ota/token' });
    bench.answer({ mqtt: { endpoint: 'hub.example:1883' }, firmware, activation: wait });
    expect(bench.notices).toEqual([{ kind: 'code', code: '123456', message: 'Flotilla\n123456' }]);
    expect(bench.requests[1]?.request).toMatchObject({ url: 'http://hub.example:8080/ota/token/activate', body: '{}' });
    bench.answer('{}', 202);
    bench.wait(3_000);
    bench.answer('{}', 202);
    bench.wait(3_000);
    expect(bench.requests.map(({ at }) => at)).toEqual([0, 0, 3_000, 6_000]);
    bench.answer('{}');
    expect(bench.requests.at(-1)?.request.url).toBe('http://hub.example:8080/ota/token');
    expect(bench.connects).toEqual([]);
    bench.answer({ mqtt, firmware });
    bench.wait(0);
    expect(bench.connects).toHaveLength(1);
  });

  it('without a challenge waits ten times 10 s before it asks again', () => {
    const bench = new BootBench();
    bench.answer({ mqtt, firmware, activation: { message: '', code: '1' } });
    bench.wait(99_999);
    expect(bench.requests).toHaveLength(1);
    bench.wait(1);
    expect(bench.requests).toHaveLength(2);
  });

  it('tries ten times, longer and longer apart, and then goes on with what it has: here nothing', () => {
    const bench = new BootBench();
    for (let attempt = 0; attempt < 10; attempt += 1) {
      if (attempt % 2 === 0) bench.respond(undefined);
      else bench.answer('{ "broken', 200);
      bench.wait(10_000 * 2 ** attempt);
    }
    expect(bench.requests.map(({ at }) => at / 1_000)).toEqual([0, 10, 30, 70, 150, 310, 630, 1_270, 2_550, 5_110]);
    bench.wait(10_000_000);
    expect(bench.connects).toEqual([]);
    expect(bench.requests).toHaveLength(10);
  });

  it('gets a new UUID and forgets its settings when the flash is erased', () => {
    const bench = new BootBench();
    const { uuid } = bench;
    bench.answer({ mqtt, firmware });
    bench.wait(0);
    bench.do((device, now) => device.behave({ kind: 'eraseFlash' }, now));
    bench.wait(5_000);
    expect(bench.requests.at(-1)?.request.headers['Client-Id']).toBe(bench.uuid);
    expect(bench.uuid).not.toBe(uuid);
    bench.answer({ firmware });
    bench.wait(60_000);
    expect(bench.connects).toHaveLength(1);
  });

  it.each([
    ['a name that is too long', { mqtt: { ...mqtt, subscribe_topics: 'x' }, firmware }, 'mqtt.subscribe_topics'],
    ['a string that is too long', { mqtt: { ...mqtt, password: 'x'.repeat(4_000) }, firmware }, 'mqtt.password'],
    [
      'more than the flash holds',
      { mqtt: Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`k${i}`, 'x'.repeat(3_900)])) },
      'no room',
    ],
    ['a version that does not begin with a digit', { mqtt, firmware: { version: 'v2.4.3', url: '' } }, 'v2.4.3'],
    ['a version with an empty segment', { mqtt, firmware: { version: '2..1', url: '' } }, '2..1'],
    ['an endpoint with a scheme', { mqtt: { ...mqtt, endpoint: 'mqtt://hub.example:1883' } }, 'MQTT endpoint'],
    ['a WebSocket URL with a stray colon', { websocket: { url: 'ws://hub.example/a:b/' } }, 'WebSocket URL'],
  ])('crashes and boots again on %s', (_what, answer, reason) => {
    const bench = new BootBench();
    bench.answer(answer);
    bench.wait(0);
    if ('websocket' in answer) bench.do((device, now) => device.behave({ kind: 'helloNow' }, now));
    bench.wait(0);
    expect(bench.notices).toEqual([{ kind: 'crash', reason: expect.stringContaining(reason) }]);
    expect(bench.connects).toEqual([]);
    bench.wait(5_000);
    expect(bench.requests).toHaveLength(2);
  });

  it('crashes where a setting changes its type', () => {
    const bench = new BootBench();
    bench.answer({ mqtt, firmware });
    bench.do((device, now) => device.behave({ kind: 'reboot' }, now));
    bench.wait(8_000);
    bench.answer({ mqtt: { ...mqtt, keepalive: '45' }, firmware });
    expect(bench.notices).toEqual([{ kind: 'crash', reason: 'mqtt.keepalive was a number and is a string' }]);
  });
});
