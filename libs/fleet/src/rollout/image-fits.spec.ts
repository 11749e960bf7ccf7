/** Which images fit a board, over a real database and the flash layouts that xiaozhi ships. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FlashFacts } from '@flotilla/registry';
import { boardTools, openHub } from '../fleet-fixture.suite.js';
import type { HubFixture } from '../fleet-fixture.suite.js';
import { RolloutFixture } from './rollout-fixture.suite.js';

const MB = 2 ** 20;

/** All tables of xiaozhi-esp32: the slot for the next image, bytes, and a partition for assets. */
const layouts: Readonly<Record<string, { readonly slot?: number; readonly assets: boolean }>> = {
  'v1/4m': { assets: false },
  'v1/4m_esp-hi': { assets: true },
  'v1/8m': { slot: 3 * MB, assets: false },
  'v1/16m': { slot: 6 * MB, assets: false },
  'v1/16m_anima': { slot: 7 * MB, assets: false },
  'v1/16m_custom_wakeword': { slot: 6 * MB, assets: false },
  'v1/16m_echoear': { slot: 5 * MB, assets: false },
  'v1/32m': { slot: 12 * MB, assets: false },
  'v2/4m': { assets: true },
  'v2/4m_wz': { slot: 0x1a_0000, assets: true },
  'v2/8m': { slot: 3 * MB, assets: true },
  'v2/16m': { slot: 0x3f_0000, assets: true },
  'v2/16m_c3': { slot: 0x3f_0000, assets: true },
  'v2/16m_large_assets': { assets: true },
  'v2/16m_otto_robot': { slot: 0x48_0000, assets: true },
  'v2/32m': { slot: 4 * MB, assets: true },
};
const names = Object.keys(layouts);
/** Each slot, and a byte more. */
const slots = [...new Set(Object.values(layouts).flatMap(({ slot }) => slot ?? []))];
const sizes = [MB, ...slots.flatMap((slot) => [slot, slot + 1])];

describe('an image', () => {
  let fixture: HubFixture;
  let rollout: RolloutFixture;

  beforeAll(async () => {
    fixture = await openHub();
    rollout = new RolloutFixture(fixture.hub);
    for (const [name, { assets, slot }] of Object.entries(layouts))
      await board(name, { slotBytes: slot, hasAssets: assets }, slot === undefined ? 0 : 2);
  });
  afterAll(() => fixture.close());

  /** Enrols a board that reports these facts, and connects it. */
  async function board(
    id: string,
    flash: Partial<FlashFacts>,
    otaPartitions = 2,
    { version = '1.9.0', elfSha256 }: { readonly version?: string; readonly elfSha256?: string } = {},
  ): Promise<void> {
    const facts = { slotBytes: 4 * MB, flashBytes: 16 * MB, chipRevision: 2, hasAssets: true, ...flash };
    const reported = { chip: 'esp32s3', otaPartitions, elfSha256, flash: facts };
    await fixture.hub.registry.enrolments.admit(rollout.contactOf(id, { firmwareVersion: version, board: reported }));
    await fixture.hub.connect([id], boardTools, version);
  }

  /** Reasons by board. */
  async function misfits(imageId: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const found: Record<string, string> = {};
    for (const id of ids) {
      const [group] = await fixture.hub.registry.rollouts.incompatibilities(imageId, { ids: [id] });
      if (group !== undefined) found[id] = group.message;
    }
    return found;
  }

  it.each(sizes)('of %i bytes fits the layouts of xiaozhi 1 and 2 with room for it', async (sizeBytes) => {
    const image = await rollout.published(`1.1.${sizeBytes}`, ['board'], { sizeBytes });
    const found = await misfits(image.id, names);
    const tooSmall = names.filter((name) => (layouts[name]?.slot ?? Infinity) < sizeBytes);
    const withoutSlot = names.filter((name) => layouts[name]?.slot === undefined);
    expect(Object.keys(found).sort()).toEqual([...tooSmall, ...withoutSlot].sort());
    for (const name of tooSmall)
      expect(found[name]).toBe(
        `The image has ${sizeBytes} bytes, and the partition for it on the board board has ${layouts[name]?.slot}. ` +
          'Build a smaller image.',
      );
    for (const name of withoutSlot) expect(found[name]).toContain('upgraded by cable only');
  });

  it('of xiaozhi 2 does not fit the layouts of xiaozhi 1, and one of another project does', async () => {
    const second = await rollout.published('2.0.0', ['board'], { sizeBytes: MB, project: 'xiaozhi' });
    const found = await misfits(second.id, names);
    const old = names.filter((name) => layouts[name]?.assets === false && layouts[name].slot !== undefined);
    expect(Object.keys(found).filter((name) => found[name]?.includes('layout of xiaozhi 1'))).toEqual(old);
    const other = await rollout.published('2.0.1', ['board'], { sizeBytes: MB, project: 'lamp' });
    expect(await misfits(other.id, old)).toEqual({});
  });

  it('does not fit revisions of the chip outside of its range', async () => {
    await board('old-chip', { chipRevision: 1 });
    await board('new-chip', { chipRevision: 200 });
    await board('unknown-chip', { chipRevision: undefined });
    const ids = ['old-chip', 'v2/16m', 'new-chip', 'unknown-chip'];
    const image = await rollout.published('2.1.0', ['board'], { minChipRevision: 2, maxChipRevision: 199 });
    const found = await misfits(image.id, ids);
    expect(Object.keys(found)).toEqual(['old-chip', 'new-chip']);
    expect(found['new-chip']).toContain('revision v2.0');
  });

  it('signed with other keys than the running build is rejected, where both are known', async () => {
    const [first, second, other] = ['11', '22', '33'].map((byte) => byte.repeat(32)) as [string, string, string];
    const runningKeys = { signed: [first], rotated: [first, second], plain: [], unknown: undefined };
    for (const [index, [id, secureBootKeys]] of Object.entries(runningKeys).entries()) {
      const elfSha256 = `0${index}`.repeat(32);
      await rollout.published(`3.0.${index}`, ['board'], { elfSha256, secureBootKeys });
      await board(id, {}, 2, { version: `3.0.${index}`, elfSha256 });
    }
    // The same build with a second signature: the device may run either of them.
    await rollout.published('3.0.1', [], { elfSha256: '01'.repeat(32), secureBootKeys: [other] });
    const ids = [...Object.keys(runningKeys), 'v2/16m'];
    const reasonsOf = async (version: string, secureBootKeys: readonly string[] | undefined) =>
      misfits((await rollout.published(version, ['board'], { secureBootKeys })).id, ids);
    expect(await reasonsOf('3.1.0', [second])).toEqual({
      signed: expect.stringContaining('signed with another key: it does not start'),
    });
    expect(await reasonsOf('3.1.1', [])).toEqual({
      signed: expect.stringContaining('is not signed: it does not start'),
      rotated: expect.stringContaining('is not signed'),
    });
    expect(await reasonsOf('3.1.2', [first, second])).toEqual({});
    expect(await reasonsOf('3.1.3', undefined)).toEqual({});
  });

  it('with a lower secure version than the running one is rejected, and the job names the reason', async () => {
    const elfSha256 = '5e'.repeat(32);
    await rollout.published('2.2.0', ['board'], { secureVersion: 3, elfSha256 });
    await board('secured', {}, 2, { version: '2.2.0', elfSha256 });
    const older = await rollout.published('2.2.1', ['board'], { secureVersion: 2 });
    const newer = await rollout.published('2.2.2', ['board'], { secureVersion: 3 });
    expect(await misfits(older.id, ['secured', 'v2/16m'])).toEqual({
      secured: expect.stringContaining('secure version 2, and the device runs 3'),
    });
    expect(await misfits(newer.id, ['secured'])).toEqual({});
    const jobId = await rollout.started(older, ['secured']);
    expect(await fixture.hub.finished(jobId)).toMatchObject({ conclusion: 'FAILED' });
    expect((await rollout.targets(jobId)).get('secured')).toMatchObject({
      outcome: 'REJECTED',
      error: { code: 'IMAGE_DOES_NOT_FIT' },
    });
    expect(await rollout.offered('secured', { firmwareVersion: '2.2.0' })).toBeUndefined();
  });
});
