import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRegistryFixture, type RegistryFixture } from '../registry-fixture.suite.js';

const HOUR = 3_600_000;
const by = { actor: 'spec', remoteAddress: undefined };

let fixture: RegistryFixture;
beforeAll(async () => {
  fixture = await openRegistryFixture();
});
afterAll(() => fixture.close());

describe('recording rules', () => {
  const path = 'samples:soil';
  const save = (id: string, at: number, isNew: boolean) =>
    fixture.registry.recordingRules.save(
      { id, path, devices: { all: true }, deadband: 0, minIntervalSeconds: 60, savedBy: 'spec' },
      { at, by, isNew, rulesMax: 100 },
    );
  const listed = async () => {
    const rules = await fixture.registry.recordingRules.list();
    return rules.filter((rule) => rule.path === path).map(({ id }) => id);
  };

  it('are listed latest saved first, also after a clock was set back', async () => {
    const now = Date.now();
    const [one, other] = [v7(), v7()];
    await save(one, now, true);
    const answer = await save(other, now - HOUR, true);
    expect(await listed()).toEqual([other, one]);
    expect(answer).toMatchObject({ kind: 'saved', rule: { savedAt: now + 1 } });
    expect(await save(one, now - HOUR, false)).toMatchObject({ kind: 'saved', rule: { savedAt: now + 2 } });
    expect(await listed()).toEqual([one, other]);
    await save(other, now + HOUR, false);
    const [latest] = await fixture.registry.recordingRules.list();
    expect(latest).toMatchObject({ id: other, savedAt: now + HOUR });
  });
});
