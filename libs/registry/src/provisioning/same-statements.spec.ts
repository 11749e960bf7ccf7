import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OtaContact } from './provisioning.js';
import { admitted, newContact, openProvisioning } from './provisioning-fixture.suite.js';
import type { ProvisioningFixture } from './provisioning-fixture.suite.js';

let fixture: ProvisioningFixture;
/** A request of a board that the hub must not admit, by what the hub knows of its MAC. */
const unproven: Record<string, OtaContact> = {};

beforeAll(async () => {
  fixture = await openProvisioning();
  const { enrolments, credentials } = fixture.registry;
  const stranger = (contact: OtaContact): OtaContact => ({ ...contact, clientUuid: randomUUID() });
  const register = async (clientUuid?: string) => {
    const contact = newContact();
    await enrolments.register([
      { deviceId: contact.deviceId, name: undefined, tags: [], dialect: 'XIAOZHI', transport: 'MQTT', clientUuid },
    ]);
    return contact;
  };
  const enrolled = newContact();
  await admitted(fixture.registry, enrolled);
  const removed = newContact();
  await admitted(fixture.registry, removed);
  await enrolments.remove(removed.deviceId);
  const blocked = newContact();
  await enrolments.block({
    deviceId: blocked.deviceId,
    blockedBy: 'operator',
    blockedAt: Date.now(),
    blockedUntil: undefined,
  });
  Object.assign(unproven, {
    'a stranger': newContact(),
    'one that was registered': await register(),
    'one that was registered with its Client-Id': await register(randomUUID()),
    'a known device': stranger(enrolled),
    'a removed one': removed,
    'a blocked one': blocked,
  });
  await credentials.allKnown();
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => fixture.close());

/** The statements of a request: what runs once a second, or for events, is not among them. */
async function statementsOf(act: () => Promise<unknown>): Promise<readonly string[]> {
  const seen: string[] = [];
  const query = pg.Client.prototype.query;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...values: unknown[]) {
    const [statement] = values as [string | { readonly text: string }];
    seen.push(typeof statement === 'string' ? statement : statement.text);
    return Reflect.apply(query, this, values) as never;
  });
  await act();
  vi.restoreAllMocks();
  return seen.filter((text) => !/provisioning_change\b|process_lease|INSERT INTO event/.test(text));
}

describe('what runs in PostgreSQL is the same for known and unknown MACs', () => {
  it.each([
    ['for an OTA request', (contact: OtaContact) => fixture.registry.credentials.recognise(contact), 1],
    [
      'for one by a link that does not exist',
      (contact: OtaContact) => fixture.registry.enrolments.admitByLink('guessed', contact),
      5,
    ],
    ['for a place in the queue', (contact: OtaContact) => fixture.registry.enrolments.request(contact), 7],
    [
      'for a wrong login',
      ({ deviceId }: OtaContact) =>
        fixture.registry.credentials.checkMqtt({ clientId: 'x', username: deviceId, password: Buffer.from('wrong') }),
      1,
    ],
    [
      'for a wrong token',
      (contact: OtaContact) => fixture.registry.credentials.checkWebSocket({ ...contact, token: 'wrong' }),
      1,
    ],
  ])('%s', async (_what, act, least) => {
    const expected = await statementsOf(() => act(newContact()));
    expect(expected.length).toBeGreaterThanOrEqual(least);
    for (const [kind, contact] of Object.entries(unproven))
      expect(await statementsOf(() => act(contact)), kind).toEqual(expected);
  });

  it('for a proven device is nothing', async () => {
    const contact = newContact();
    await admitted(fixture.registry, contact);
    await fixture.registry.credentials.findKnown(contact.deviceId);
    expect(await statementsOf(() => fixture.registry.credentials.recognise(contact))).toEqual([]);
  });
});
