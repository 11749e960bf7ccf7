/**
 * What OTA requests of known devices change in the registry, in batches and only for the right
 * Client-Id.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ToolSetHash } from '@flotilla/mcp';
import type { NotedContact, OtaContact } from '../provisioning.js';
import { admitted, newContact, openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';

let fixture: ProvisioningFixture;
let noted: (readonly NotedContact[])[] = [];

beforeAll(async () => {
  fixture = await openProvisioning();
  fixture.registry.credentials.whenNoted((contacts) => noted.push(contacts));
});
afterAll(() => fixture.close());

async function known(): Promise<OtaContact> {
  const contact = newContact({ at: Date.now() - 10_000 });
  await admitted(fixture.registry, contact);
  return contact;
}

/** Resolves when the request is on record. */
async function asks(contact: OtaContact): Promise<void> {
  const before = noted.length;
  await fixture.registry.credentials.contacted(contact);
  await vi.waitFor(() => expect(noted.length).toBeGreaterThan(before));
}

const deviceOf = ({ deviceId }: OtaContact) => fixture.registry.devices.find(deviceId);

async function connects({ deviceId }: OtaContact, firmwareVersion: string, at: number) {
  const hash = `tools of ${deviceId}` as ToolSetHash;
  await fixture.registry.toolSets.ensure({ hash, tools: [] });
  const lease = await fixture.registry.takeLease();
  const plain = { dialect: 'XIAOZHI', transport: 'MQTT', reachability: 'ALWAYS', remoteAddress: undefined } as const;
  const { epoch } = await fixture.registry.devices.connect({ deviceId, ...plain, connectedAt: at });
  const facts = { gatewayId: lease.id, model: 'lichuang-dev', firmwareVersion, toolSetHash: hash, toolsComplete: true };
  return fixture.registry.devices.ready({ deviceId, epoch, ...facts, at });
}

describe('an OTA request of a known device', () => {
  it('changes version and last seen at once, and is reported with what was before', async () => {
    const contact = await known();
    noted = [];
    await asks({ ...contact, firmwareVersion: '2.5.0', at: contact.at + 1_000 });
    expect(await deviceOf(contact)).toMatchObject({ firmwareVersion: '2.5.0', lastSeenAt: contact.at + 1_000 });
    expect(noted).toEqual([[{ deviceId: contact.deviceId, formerVersion: '2.4.2', firmwareVersion: '2.5.0' }]]);
  });

  it('with another Client-Id changes nothing', async () => {
    const contact = await known();
    const before = await deviceOf(contact);
    noted = [];
    await asks({ ...contact, clientUuid: randomUUID(), firmwareVersion: '9.9.9', at: Date.now() });
    expect(await deviceOf(contact)).toEqual(before);
    expect(noted).toEqual([[]]);
  });

  it('that is older than the session of the device leaves the version that the session reported', async () => {
    const contact = await known();
    await connects(contact, '2.6.0', contact.at + 5_000);
    await asks({ ...contact, at: contact.at + 4_000 });
    expect(await deviceOf(contact)).toMatchObject({ firmwareVersion: '2.6.0' });
    await asks({ ...contact, firmwareVersion: '2.7.0', at: contact.at + 6_000 });
    expect(await deviceOf(contact)).toMatchObject({ firmwareVersion: '2.7.0' });
  });

  it('makes the known tools stale until a session lists them under the new version', async () => {
    const contact = await known();
    await connects(contact, '2.4.2', contact.at + 1_000);
    await asks({ ...contact, firmwareVersion: '2.5.0', at: contact.at + 2_000 });
    expect(await deviceOf(contact)).toMatchObject({ toolsStale: true });
    // The event was recorded with the request: the session finds no other version.
    expect(await connects(contact, '2.5.0', contact.at + 3_000)).toMatchObject({ previousFirmwareVersion: '2.5.0' });
    expect(await deviceOf(contact)).toMatchObject({ toolsStale: false });
    const [history = []] = await fixture.registry.devices.toolSetHistory([contact.deviceId], 5);
    expect(history.map(({ firmwareVersion }) => firmwareVersion)).toEqual(['2.5.0', '2.4.2']);
  });

  it('costs no separate statement: a storm of boards is written in a few', async () => {
    const contacts = await Promise.all(Array.from({ length: 300 }, known));
    noted = [];
    await Promise.all(
      contacts.map((contact) => fixture.registry.credentials.contacted({ ...contact, firmwareVersion: '2.8.0' })),
    );
    await vi.waitFor(() => expect(noted.flat()).toHaveLength(300));
    expect(noted.length).toBeLessThan(10);
  });
});
