import { createHmac, randomUUID } from 'node:crypto';
import type { DeviceId } from '@flotilla/mcp';
import type { NewDevice, Registry } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import type { EnrolmentMode } from '../enrolment/enrolment-service.js';
import type { Answer, Asked } from './ota-stage.suite.js';
import { ask, newMac, openEndpoint, otherUuid, setUpStage, stage, stoppedClock, uuid } from './ota-stage.suite.js';

setUpStage();

async function register(change: Partial<NewDevice> = {}): Promise<DeviceId> {
  const device = {
    deviceId: newMac(),
    name: undefined,
    tags: [],
    dialect: 'XIAOZHI',
    transport: 'WEBSOCKET',
    ...change,
  } as const;
  expect((await stage.registry.enrolments.register([device])).kind).toBe('registered');
  return device.deviceId;
}

/**
 * MACs for which a request with `otherUuid` proves nothing, named after what the hub knows of them.
 */
async function unprovenMacs(): Promise<Readonly<Record<string, DeviceId>>> {
  const { enrolments } = stage.registry;
  const enrol = async () => {
    const contact = {
      deviceId: newMac(),
      clientUuid: uuid,
      model: undefined,
      firmwareVersion: undefined,
      remoteAddress: undefined,
    };
    expect(await enrolments.admit({ ...contact, at: Date.now() })).toBeDefined();
    return contact.deviceId;
  };
  const removed = await enrol();
  await enrolments.remove(removed);
  const blocked = newMac();
  await enrolments.block({
    deviceId: blocked,
    blockedBy: 'operator',
    blockedAt: Date.now(),
    blockedUntil: undefined,
  });
  return {
    stranger: newMac(),
    registered: await register(),
    withClientId: await register({ clientUuid: uuid }),
    known: await enrol(),
    removed,
    blocked,
  };
}

/** The registry, with a record of the calls that the endpoint makes. */
function recorded(registry: Registry): { readonly registry: Registry; readonly calls: string[] } {
  const calls: string[] = [];
  const recording = <Store extends object>(store: Store): Store =>
    new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...values: unknown[]): unknown => {
          calls.push(String(name));
          return Reflect.apply(member, target, values);
        };
      },
    });
  const { credentials, enrolments, events } = registry;
  return {
    registry: { ...registry, credentials: recording(credentials), enrolments: recording(enrolments), events },
    calls,
  };
}

/** An answer without the values that are new in each: codes, challenges and the time. */
function shapeOf({ status, headers, text }: Answer): unknown {
  const drawn = new Set(['code', 'challenge', 'message', 'timestamp', 'date']);
  const body: unknown = JSON.parse(text, (name, value: unknown) => (drawn.has(name) ? typeof value : value));
  return { status, body, headers: [...headers].filter(([name]) => !drawn.has(name)) };
}

const asked: Readonly<Record<string, Asked>> = {
  'an OTA request': {},
  'a GET': { method: 'GET' },
  'an activation': { path: '/ota/activate' },
  'a link that does not exist': { path: '/ota/guessed/' },
  'an activation of such a link': { path: '/ota/guessed/activate' },
  'a proof of an unknown chip': {
    path: '/ota/activate',
    body: JSON.stringify({
      algorithm: 'hmac-sha256',
      serial_number: 'S'.repeat(32),
      challenge: 'c',
      hmac: '0'.repeat(64),
    }),
  },
};

describe('the OTA endpoint does not disclose which MACs it knows', () => {
  it.each(['approve', 'closed'] as const)(
    'in mode %s: all get the same answers after the same queries',
    async (mode) => {
      const { registry, calls } = recorded(stage.registry);
      const macs = await unprovenMacs();
      const port = await openEndpoint({ mode, registry });
      for (const [what, request] of Object.entries(asked)) {
        const seen: unknown[] = [];
        for (const mac of Object.values(macs)) {
          calls.length = 0;
          const answer = await ask(port, mac, { ...request, client: otherUuid });
          seen.push({ ...(shapeOf(answer) as object), calls: [...calls] });
        }
        expect(seen, what).toEqual(seen.map(() => seen[0]));
      }
      const first = await ask(port, macs['registered'] ?? '', { client: otherUuid });
      expect(first.status).toBe(mode === 'closed' ? 403 : 200);
      expect(first.text).not.toMatch(/password|token|client_id/);
    },
  );

  it('in mode open: a registered device is admitted like an unknown one, and no device replaces another', async () => {
    const macs = await unprovenMacs();
    const port = await openEndpoint({ mode: 'open' });
    const settingsOf = async (kind: string) => (await ask(port, macs[kind] ?? '', { client: otherUuid })).body;
    expect((await settingsOf('stranger')).mqtt).toHaveProperty('password');
    expect((await settingsOf('registered')).websocket).toHaveProperty('token');
    for (const kind of ['withClientId', 'known', 'removed', 'blocked'])
      expect((await settingsOf(kind)).activation, kind).toBeDefined();
  });

  it.each(['approve', 'closed', 'open'] as const)(
    'in mode %s: the limit of attempts applies to all equally',
    async (mode) => {
      const macs = await unprovenMacs();
      const port = await openEndpoint({ mode, clock: stoppedClock() });
      await Promise.all(
        Array.from({ length: 400 }, () =>
          ask(port, '06:00:00:00:00:01', { path: '/ota/activate', client: randomUUID() }),
        ),
      );
      const answers = await Promise.all(Object.values(macs).map((mac) => ask(port, mac, { client: otherUuid })));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 429));
      expect(answers.map(shapeOf)).toEqual(answers.map(() => shapeOf(answers[0] as Answer)));
      expect((await ask(port, macs['known'] ?? '')).status).toBe(200);
    },
  );
});

describe('a registered device', () => {
  const admittedBy = () =>
    stage.events.filter(({ type }) => type === 'enrolment.approved').map(({ data }) => data['by']);

  it.each(['approve', 'closed'] as EnrolmentMode[])('is admitted by its Client-Id in mode %s', async (mode) => {
    const mac = await register({ clientUuid: uuid });
    const port = await openEndpoint({ mode });
    expect((await ask(port, mac, { client: otherUuid })).text).not.toContain('token');
    expect((await ask(port, mac)).body.websocket).toMatchObject({ token: expect.any(String) as unknown });
  });

  it('is admitted by the approval of its code, with the settings that it was registered with', async () => {
    const mac = await register();
    const port = await openEndpoint();
    const { activation } = (await ask(port, mac)).body;
    await stage.registry.enrolments.approve({
      code: activation?.code ?? '',
      approver: 'test',
      confirm: false,
      at: Date.now(),
    });
    expect((await ask(port, mac, { path: '/ota/activate' })).status).toBe(200);
    const { websocket } = (await ask(port, mac)).body;
    expect(websocket).toMatchObject({
      url: `ws://127.0.0.1:${String(port)}/xiaozhi/v1/`,
      version: 1,
      token: expect.any(String) as unknown,
    });
  });

  it('is admitted by a link, also in mode closed', async () => {
    const mac = await register();
    const port = await openEndpoint({ mode: 'closed' });
    const link = { name: 'hall 3', tags: [], maxDevices: 1, expiresAt: Date.now() + 60_000 };
    const { token } = await stage.registry.enrolments.createLink(link);
    expect((await ask(port, mac)).status).toBe(403);
    expect((await ask(port, mac, { path: `/ota/${token}/` })).body.websocket).toHaveProperty('token');
    await expect.poll(admittedBy).toEqual(['link']);
  });

  it('is admitted by its factory key', async () => {
    const [mac, key, serial] = [await register(), Buffer.alloc(32, 7), 'H'.repeat(32)];
    await stage.registry.enrolments.importFactoryKeys([{ serial, key }]);
    const port = await openEndpoint();
    const { challenge = '' } = (await ask(port, mac)).body.activation ?? {};
    const hmac = createHmac('sha256', key).update(challenge).digest('hex');
    const body = JSON.stringify({ algorithm: 'hmac-sha256', serial_number: serial, challenge, hmac });
    expect((await ask(port, mac, { path: '/ota/activate', body })).status).toBe(200);
    expect((await ask(port, mac)).body.websocket).toHaveProperty('token');
    await expect.poll(admittedBy).toEqual(['factory_key']);
  });

  it.each(['approve', 'closed'] as EnrolmentMode[])(
    'is admitted by trust on first use in mode %s; a second Client-Id causes one event',
    async (mode) => {
      const mac = await register({ admitWithoutCodeUntil: Date.now() + 60_000 });
      const port = await openEndpoint({ mode, clock: stoppedClock() });
      expect((await ask(port, mac, { path: '/ota/activate' })).status).toBe(202);
      expect((await ask(port, mac)).body.websocket).toHaveProperty('token');
      await expect.poll(admittedBy).toEqual(['first_use']);
      for (let times = 0; times < 3; times += 1)
        expect((await ask(port, mac, { client: otherUuid })).text).not.toContain('token');
      const ofType = (wanted: string) => stage.events.filter(({ type }) => type === wanted);
      await expect
        .poll(() => ofType('enrolment.second_client_id'))
        .toMatchObject([{ deviceId: mac, data: { model: 'lichuang-dev', remoteAddress: '127.0.0.1' } }]);
      // After the other events, because none is expected in mode approve.
      await expect.poll(() => ofType('enrolment.refused')).toHaveLength(mode === 'closed' ? 1 : 0);
      expect(JSON.stringify(stage.events)).not.toContain(otherUuid);
    },
  );

  it('shows a code when the time for trust on first use is over', async () => {
    const mac = await register({ admitWithoutCodeUntil: Date.now() - 1 });
    expect((await ask(await openEndpoint(), mac)).body.activation).toBeDefined();
    await expect.poll(() => stage.events.map(({ type }) => type)).toEqual(['enrolment.requested']);
  });
});
