import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { groupRevision } from './device-groups.js';

describe('changing device groups', () => {
  let fixture: HubFixture;

  beforeAll(async () => (fixture = await openHub({ withWorker: false })));
  afterAll(() => fixture.close());

  it('refuses a change of another revision than it was made from', async () => {
    const { fleet, registry } = fixture.hub;
    const request = { name: 'Shops', filter: { tags: ['shop'] }, timeZone: undefined };
    const made = await fleet.createDeviceGroup({ ...request, voiceUrl: undefined }, admin);
    if ('refusal' in made) throw new TypeError(made.refusal.message);
    const { id } = made.group;
    const [stored] = await registry.deviceGroups.findMany([id]);
    expect(stored && groupRevision(stored)).toBe(groupRevision(made.group));
    const edit = (timeZone: string, expected?: string) =>
      fleet.updateDeviceGroup(id, { ...request, timeZone, voiceUrl: undefined }, admin, expected);
    const revision = groupRevision(made.group);
    expect(await edit('Europe/Berlin', revision)).toMatchObject({ group: { timeZone: 'Europe/Berlin' } });
    expect(await edit('Asia/Tokyo', revision)).toMatchObject({
      refusal: { code: 'CONFLICT', path: ['expectedRevision'] },
    });
    expect(await registry.deviceGroups.findMany([id])).toMatchObject([{ timeZone: 'Europe/Berlin' }]);
    expect(await edit('Asia/Tokyo')).toMatchObject({ group: { timeZone: 'Asia/Tokyo' } });
  });
});
