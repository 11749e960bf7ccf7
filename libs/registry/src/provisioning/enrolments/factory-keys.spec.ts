import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {} from '../provisioning.js';
import { openProvisioning } from '../provisioning-fixture.suite.js';
import type { ProvisioningFixture } from '../provisioning-fixture.suite.js';

let fixture: ProvisioningFixture;

beforeAll(async () => {
  fixture = await openProvisioning();
});
afterAll(() => fixture.close());

describe('factory keys', () => {
  it('are found by serial, replaced by a later import, and refused as a whole where one is malformed', async () => {
    const { registry } = fixture;
    const serial = randomBytes(16).toString('hex');
    const [first, second] = [randomBytes(32), randomBytes(32)];
    expect(await registry.enrolments.factoryKeyOf(serial)).toBeUndefined();
    expect(await registry.enrolments.importFactoryKeys([{ serial, key: first }])).toBe(1);
    expect(await registry.enrolments.importFactoryKeys([{ serial, key: second }])).toBe(1);
    expect(await registry.enrolments.factoryKeyOf(serial)).toEqual(new Uint8Array(second));
    const bad = [
      { serial, key: first },
      { serial: 'short', key: first },
    ];
    await expect(registry.enrolments.importFactoryKeys(bad)).rejects.toMatchObject({ code: 'ARGUMENT_INVALID' });
    expect(await registry.enrolments.factoryKeyOf(serial)).toEqual(new Uint8Array(second));
  });
});
