import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it, onTestFinished } from 'vitest';
import { realClock } from '../../ingress.suite.js';
import type { Answer } from './ota-stage.suite.js';
import { ask, newMac, openEndpoint, otherUuid, setUpStage, stage, stoppedClock, uuid } from './ota-stage.suite.js';

setUpStage();

async function approve(code: string | undefined): Promise<void> {
  const approval = await stage.registry.enrolments.approve({
    code: code ?? '',
    approver: 'test',
    confirm: true,
    at: Date.now(),
  });
  expect(approval.kind).toBe('approved');
}

async function enrol(port: number, mac: DeviceId): Promise<Readonly<Record<string, unknown>>> {
  await approve((await ask(port, mac)).body.activation?.code);
  return (await ask(port, mac)).body.mqtt ?? {};
}

async function login(settings: Readonly<Record<string, unknown>>): Promise<string> {
  const { client_id, username, password } = settings;
  const verdict = await stage.registry.credentials.checkMqtt({
    clientId: String(client_id),
    username: String(username),
    password: Buffer.from(String(password)),
  });
  return verdict.kind;
}

describe('an unknown device', () => {
  it('shows a code, asks for its activation until an operator approves it, and then gets its credentials', async () => {
    const [port, mac] = [await openEndpoint(), newMac()];
    const first = await ask(port, mac);
    expect(first.status).toBe(200);
    expect(first.body.activation?.code).toMatch(/^\d{6}$/);
    expect(first.body.mqtt).not.toHaveProperty('password');
    expect((await ask(port, mac)).body.activation).toEqual(first.body.activation);
    expect((await ask(port, mac, { path: '/ota/activate' })).status).toBe(202);
    await approve(first.body.activation?.code);
    expect((await ask(port, mac, { path: '/ota/activate' })).status).toBe(200);
    const { mqtt, activation } = (await ask(port, mac)).body;
    expect(activation).toBeUndefined();
    expect(await login(mqtt ?? {})).toBe('granted');
    await expect.poll(() => stage.events.filter(({ type }) => type === 'enrolment.requested')).toHaveLength(1);
    expect(JSON.stringify(stage.events)).not.toContain(uuid);
  });

  it('is admitted at once in mode open, and rejected in mode closed', async () => {
    const admitted = await ask(await openEndpoint({ mode: 'open' }), newMac());
    expect(await login(admitted.body.mqtt ?? {})).toBe('granted');
    const closed = await ask(await openEndpoint({ mode: 'closed' }), newMac());
    expect(closed).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('is admitted by a link within its number of devices, and needs a code beyond it', async () => {
    const port = await openEndpoint({ mode: 'closed' });
    const link = { name: 'hall 3', tags: ['hall-3'], maxDevices: 1, expiresAt: Date.now() + 60_000 };
    const { token } = await stage.registry.enrolments.createLink(link);
    const mac = newMac();
    expect(await login((await ask(port, mac, { path: `/ota/${token}/` })).body.mqtt ?? {})).toBe('granted');
    expect((await ask(port, mac, { path: `/ota/${token}` })).status).toBe(200);
    expect((await ask(port, newMac(), { path: `/ota/${token}/` })).status).toBe(403);
    expect((await ask(port, newMac(), { path: '/ota/guessed/' })).status).toBe(403);
  });

  it('is admitted by the key of its chip if the key was imported, and only for the challenge of the hub', async () => {
    const [port, mac, key] = [await openEndpoint(), newMac(), Buffer.alloc(32, 9)];
    await stage.registry.enrolments.importFactoryKeys([{ serial: 'F'.repeat(32), key }]);
    const challenge = (await ask(port, mac)).body.activation?.challenge ?? '';
    const prove = (signed: string, serial = 'F'.repeat(32)) => {
      const hmac = createHmac('sha256', key).update(signed).digest('hex');
      const body = JSON.stringify({ algorithm: 'hmac-sha256', serial_number: serial, challenge: signed, hmac });
      return ask(port, mac, { path: '/ota/activate', body });
    };
    expect((await prove('replayed')).status).toBe(202);
    expect((await prove(challenge, 'G'.repeat(32))).status).toBe(202);
    expect((await prove(challenge)).status).toBe(200);
    expect((await ask(port, mac)).body.mqtt).toHaveProperty('password');
  });

  it('is limited per address, which never affects a known device', async () => {
    const [port, mac] = [await openEndpoint({ clock: stoppedClock() }), newMac()];
    await enrol(port, mac);
    const strangers = await Promise.all(
      Array.from({ length: 450 }, (_, n) =>
        ask(port, `06:00:00:00:0${n >> 8}:${(n & 255).toString(16).padStart(2, '0')}`),
      ),
    );
    expect(strangers.filter(({ status }) => status === 429).length).toBeGreaterThan(20);
    expect((await ask(port, mac)).body.mqtt).toHaveProperty('client_id');
  });
});

describe('a device that waits by the answer of another gateway', () => {
  it('asks for its activation without using up the attempts of its address, and no other Client-Id does', async () => {
    const [first, second] = [await openEndpoint(), await openEndpoint({ clock: stoppedClock() })];
    const mac = newMac();
    await ask(first, mac);
    const poll = async (client: string) => (await ask(second, mac, { path: '/ota/activate', client })).status;
    const strangers = await Promise.all(Array.from({ length: 399 }, () => poll(otherUuid)));
    expect(new Set(strangers)).toEqual(new Set([202]));
    expect(await poll(uuid)).toBe(202);
    expect([await poll(otherUuid), await poll(otherUuid)]).toEqual([202, 429]);
    expect(await poll(uuid)).toBe(202);
  });
});

describe('a known device', () => {
  it('receives its secret until it has used it, and the other settings always', async () => {
    const [port, mac] = [await openEndpoint(), newMac()];
    const settings = await enrol(port, mac);
    expect((await ask(port, mac)).body.mqtt).toEqual(settings);
    expect(settings['client_id']).not.toContain(uuid);
    expect(await login(settings)).toBe('granted');
    const { password, ...rest } = settings;
    expect(password).toHaveLength(43);
    expect((await ask(port, mac)).body.mqtt).toEqual(rest);
  });

  it('is a restarted device for every gateway, and no other board with its MAC is', async () => {
    const [port, mac] = [await openEndpoint(), newMac()];
    await enrol(port, mac);
    const restarted: string[] = [];
    onTestFinished(stage.bus.feed.subscribe('restarted', ({ deviceId }) => restarted.push(deviceId)));
    await ask(port, mac, { client: otherUuid });
    await ask(port, mac);
    await expect.poll(() => restarted).toEqual([mac]);
  });

  it('with another Client-Id gets a code and no secret, while its old credential stays valid', async () => {
    const [port, mac] = [await openEndpoint({ mode: 'open' }), newMac()];
    const settings = (await ask(port, mac)).body.mqtt ?? {};
    const forged = await ask(port, mac, { client: otherUuid });
    expect(forged.body.activation?.code).toMatch(/^\d{6}$/);
    expect(forged.text).not.toContain(String(settings['password']));
    expect(forged.text).not.toContain(String(settings['client_id']));
    expect((await ask(port, mac, { client: otherUuid, path: '/ota/activate' })).status).toBe(202);
    expect(await login(settings)).toBe('granted');
    await expect
      .poll(() => stage.events.find(({ type }) => type === 'enrolment.requested')?.data)
      .toMatchObject({ replaces: true });
  });

  it('with another Client-Id is not admitted by a link either', async () => {
    const [port, mac] = [await openEndpoint(), newMac()];
    await enrol(port, mac);
    const { token } = await stage.registry.enrolments.createLink({
      name: 'l',
      tags: [],
      maxDevices: 9,
      expiresAt: Date.now() + 60_000,
    });
    const { body } = await ask(port, mac, { client: otherUuid, path: `/ota/${token}/` });
    expect(body.activation).toBeDefined();
    expect(body.mqtt).not.toHaveProperty('client_id');
  });

  it('is answered from memory while PostgreSQL is unreachable, when unknown devices are asked to retry', async () => {
    const [port, mac] = [await openEndpoint(), newMac()];
    await enrol(port, mac);
    await stage.registry.close();
    expect((await ask(port, mac)).body.mqtt).toHaveProperty('client_id');
    expect(await ask(port, newMac())).toMatchObject({ status: 503, body: { code: 'OVERLOADED' } });
  });
});

describe('the OTA endpoint', () => {
  it('answers with a length, closes the connection, and stays under 6 KB', async () => {
    const { headers, text } = await ask(await openEndpoint({ mode: 'open' }), newMac());
    expect(Number(headers.get('content-length'))).toBe(Buffer.byteLength(text));
    expect(headers.get('connection')).toBe('close');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(text.length).toBeLessThan(6 * 1024);
  });

  it.each([
    ['broken JSON', '{"board":{"ssid":"my "lan""}}'],
    ['nothing', ''],
    ['more than 64 KB', `{"board":{"name":"${'x'.repeat(80 * 1024)}"}}`],
  ])('answers by the headers alone if the body is %s', async (_name, body) => {
    const answer = await ask(await openEndpoint({ mode: 'open' }), newMac(), { body });
    expect(answer.body).toMatchObject({ firmware: { version: '2.4.2', url: '' }, mqtt: { keepalive: 45 } });
  });

  it('accepts GET, and returns only public values to a request without ids', async () => {
    const port = await openEndpoint({ mode: 'open' });
    expect((await ask(port, newMac(), { method: 'GET' })).body.mqtt).toHaveProperty('password');
    const response = await fetch(`http://127.0.0.1:${port}/ota/`);
    expect(response.status).toBe(200);
    const { mqtt } = JSON.parse(await response.text()) as Answer['body'];
    expect(Object.keys(mqtt ?? {})).toEqual(['endpoint', 'publish_topic', 'subscribe_topic', 'keepalive']);
  });

  it('does not wait for a body that never ends', async () => {
    const port = await openEndpoint({
      clock: { ...realClock, setTimer: (delayMs, wake) => realClock.setTimer(Math.min(delayMs, 300), wake) },
      mode: 'open',
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /ota/ HTTP/1.1\r\nHost: x\r\nDevice-Id: ${newMac()}\r\nClient-Id: ${uuid}\r\nContent-Length: 999\r\n\r\n{`,
    );
    const [head] = (await once(socket, 'data')) as [Buffer];
    expect(head.toString()).toContain('HTTP/1.1 200 OK');
    socket.destroy();
  });
});
