import type { DeviceId } from '@flotilla/mcp';
import { describe, expect, it, vi } from 'vitest';
import { realClock, silentLogger } from '../../ingress.suite.js';
import { AttemptLimiter } from '../../overload/attempt-limiter.js';
import { EventLog } from '../../sessions/event-log.js';
import { ask, newMac, openEndpoint, otherUuid, setUpStage, stage, uuid } from '../ota/ota-stage.suite.js';
import type { FormerAnswer, FormerRequest } from './former-server.js';
import { PassThrough } from './pass-through.js';

setUpStage();

const settings = {
  server_time: { timestamp: 1, timeZone: 'Asia/Shanghai', timezone_offset: 480 },
  websocket: { url: 'ws://old.example:8000/xiaozhi/v1/', token: 'former-secret' },
};
const bound = answerOf(settings);
const unbound = answerOf({ ...settings, activation: { code: '654321', message: 'x', challenge: 'x' } });
const broken = answerOf({ code: 500, msg: 'a version that it cannot read' });

function answerOf(body: unknown): FormerAnswer {
  const type = { contentType: 'application/json;charset=UTF-8', contentEncoding: undefined };
  return { status: 200, ...type, body: Buffer.from(`${JSON.stringify(body)} \n`) };
}

/** The endpoint with a former server that gives these answers in turn, the last one for ever. */
async function openWithFormer(...answers: readonly (FormerAnswer | undefined)[]) {
  const asked: FormerRequest[] = [];
  const port = await openEndpoint({
    former: {
      ask: (request) => {
        asked.push(request);
        return Promise.resolve(answers[Math.min(asked.length, answers.length) - 1]);
      },
    },
  });
  return { port, asked };
}

async function boardOf(mac: string) {
  const { rows } = await stage.registry.movingBoards.page({ first: 1_000 });
  return rows.find(({ deviceId }) => deviceId === mac);
}

describe('a board that has not moved', () => {
  it('gets the answer of its former server byte for byte, and is listed', async () => {
    const { asked, port } = await openWithFormer(bound);
    const mac = newMac();
    const body = '{"application":{"version":"2.4.2"},"note":"caf\u00e9"}';
    const answer = await ask(port, mac, { path: '/ota/?v=1', body });
    expect(answer.text).toBe(Buffer.from(bound.body).toString());
    expect(answer.headers.get('content-type')).toBe(bound.contentType);
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(asked).toMatchObject([{ method: 'POST', suffix: '/?v=1', address: '127.0.0.1' }]);
    expect(Buffer.from(asked[0]?.body ?? []).toString()).toBe(body);
    expect(await boardOf(mac)).toMatchObject({ state: 'NOT_MOVED', boundThere: true, firmwareVersion: '2.4.2' });
    expect((await stage.registry.enrolments.page({ first: 100 })).rows.map(({ deviceId }) => deviceId)).not.toContain(
      mac,
    );
  });

  it('gets 502 while that server has no usable answer, and never an earlier one', async () => {
    const { port } = await openWithFormer(bound, undefined);
    const mac = newMac();
    expect((await ask(port, mac)).status).toBe(200);
    const answer = await ask(port, mac);
    expect(answer.status).toBe(502);
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(answer.text).not.toContain('former-secret');
    expect((await boardOf(mac))?.boundThere).toBe(true);
  });

  it('may ask for its activation there once that server has answered it', async () => {
    const { asked, port } = await openWithFormer(unbound);
    const mac = newMac();
    expect((await ask(port, mac, { path: '/ota/activate' })).status).toBe(202);
    expect(asked).toEqual([]);
    await ask(port, mac);
    expect((await boardOf(mac))?.boundThere).toBe(false);
    await ask(port, mac, { path: '/ota/activate' });
    expect(asked.map(({ suffix }) => suffix)).toEqual(['/', '/activate']);
  });

  it('is not passed on with a body that is too long, nor with the address of a link', async () => {
    const { asked, port } = await openWithFormer(bound);
    const long = await ask(port, newMac(), { body: JSON.stringify({ filler: 'x'.repeat(70_000) }) });
    expect(long.status).toBe(502);
    const { token } = await stage.registry.enrolments.createLink({
      name: 'hall',
      tags: [],
      maxDevices: 5,
      expiresAt: Date.now() + 3_600_000,
    });
    expect((await ask(port, newMac(), { path: `/ota/${token}/` })).body.mqtt?.['password']).toBeDefined();
    expect(asked).toEqual([]);
  });
});

describe('a board that was moved', () => {
  it('is admitted by the hub at its next request, and another Client-Id is not', async () => {
    const { asked, port } = await openWithFormer(bound);
    const mac = newMac();
    await ask(port, mac);
    await stage.registry.movingBoards.move([mac], 'operator');
    const impostor = await ask(port, mac, { client: otherUuid });
    expect(impostor.body.activation?.code).toMatch(/^\d{6}$/);
    const answer = await ask(port, mac);
    expect(answer.body.mqtt?.['password']).toBeDefined();
    expect(answer.body.activation).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it('gets its settings also while PostgreSQL does not say whether it goes back', async () => {
    const { asked, port } = await openWithFormer(bound);
    const { movingBoards } = stage.registry;
    const mac = newMac();
    await ask(port, mac);
    await movingBoards.move([mac], 'operator');
    const { client_id: clientId } = (await ask(port, mac)).body.mqtt ?? {};
    vi.spyOn(movingBoards, 'routeOf').mockReturnValue(new Promise(() => undefined));
    const answer = await ask(port, mac);
    expect(answer).toMatchObject({ status: 200, body: { mqtt: { client_id: clientId } } });
    expect((await ask(port, newMac())).status, 'of a board that is not enrolled').toBe(503);
    expect(asked).toHaveLength(1);
  });

  it('goes back when it was moved back, and loses its credential only with an answer from there', async () => {
    const { port } = await openWithFormer(bound, undefined, broken, bound);
    const { credentials, movingBoards } = stage.registry;
    const mac = newMac();
    const isKnown = async () =>
      (await credentials.recognise({ ...contact, deviceId: mac, at: Date.now() })).kind === 'proven';
    await ask(port, mac);
    await movingBoards.move([mac], 'operator');
    await ask(port, mac);
    await movingBoards.moveBack([mac]);
    for (const status of [502, 200]) {
      expect((await ask(port, mac)).status).toBe(status);
      expect(await isKnown()).toBe(true);
    }
    expect((await ask(port, mac)).text).toBe(Buffer.from(bound.body).toString());
    expect(await isKnown()).toBe(false);
    expect(await boardOf(mac)).toMatchObject({ state: 'NOT_MOVED', isHere: false, boundThere: true });
    await expect.poll(() => stage.events.map(({ type }) => type)).toContain('board.released');
  });

  it('is not released by another Client-Id', async () => {
    const { asked, port } = await openWithFormer(bound);
    const mac = newMac();
    await ask(port, mac);
    await stage.registry.movingBoards.move([mac], 'operator');
    await ask(port, mac);
    await stage.registry.movingBoards.moveBack([mac]);
    await ask(port, mac, { client: otherUuid });
    expect(asked).toHaveLength(1);
    expect(await boardOf(mac)).toMatchObject({ isHere: true });
  });
});

describe('a network that invents boards', () => {
  it('adds only some of them to the list, and all get an answer', async () => {
    const { bus, registry } = stage;
    const passThrough = new PassThrough({
      server: { ask: () => Promise.resolve(bound) },
      boards: registry.movingBoards,
      credentials: registry.credentials,
      feed: bus.feed,
      clock: realClock,
      logger: silentLogger,
      events: new EventLog({ events: registry.events, feed: bus.feed, clock: realClock }),
      limiter: new AttemptLimiter({ burst: 2, perSecond: 0, addressesMax: 10 }),
    });
    const request = { method: 'POST', suffix: '/', rawHeaders: [], body: Buffer.from('{}'), address: undefined };
    const pass = (deviceId: DeviceId, remoteAddress: string, firmwareVersion = '1.0.0') => {
      const asked = { ...contact, deviceId, remoteAddress, firmwareVersion, at: Date.now() };
      return passThrough.pass({ request, contact: asked, isActivation: false, way: 'there' });
    };
    const [known, second, invented, elsewhere] = [newMac(), newMac(), newMac(), newMac()];
    for (const mac of [known, known, known, second, invented]) expect(await pass(mac, '192.0.2.1')).toBe(bound);
    await pass(known, '192.0.2.1', '1.1.0');
    await pass(elsewhere, '198.51.100.1');
    expect(await boardOf(invented)).toBeUndefined();
    for (const mac of [second, elsewhere]) expect(await boardOf(mac)).toBeDefined();
    expect(await boardOf(known)).toMatchObject({ firmwareVersion: '1.1.0' });
  });
});

describe('a device that enrolled at the hub', () => {
  it('is answered by the hub', async () => {
    const { asked, port } = await openWithFormer(bound);
    const mac = newMac();
    await stage.registry.enrolments.admit({ ...contact, deviceId: mac, at: Date.now() });
    expect((await ask(port, mac)).body.mqtt).toBeDefined();
    expect(asked).toEqual([]);
  });
});

const contact = { clientUuid: uuid, model: undefined, firmwareVersion: undefined, remoteAddress: undefined };
