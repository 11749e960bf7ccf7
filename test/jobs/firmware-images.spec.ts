/** Firmware images over the hub's API: what is accepted or refused, and what the hub keeps. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeImage as image, uploadImage } from '../src/jobs/firmware-image.js';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';

function changed(file: Uint8Array<ArrayBuffer>, at: number): Uint8Array<ArrayBuffer> {
  const copy = file.slice();
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** As `esptool merge_bin` makes it for flashing over a cable. */
function merged(): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(0x20000).fill(0xff);
  file.set(changed(image(), 32));
  file.set([0xaa, 0x50], 0x8000);
  file.set(image(), 0x10000);
  return file;
}

describe('firmware images', () => {
  let hub: HubProcess;

  beforeAll(async () => {
    hub = await startHub();
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    expect(hub.log()).not.toMatch(/unhandled/i);
    removeDataDir(hub.dataDir);
  });

  const upload = (file: Uint8Array<ArrayBuffer>) => uploadImage(hub, file);

  const keptFiles = () =>
    readdirSync(path.join(hub.dataDir, 'files'), { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );

  it.each([
    ['a merged image', merged(), 'MERGED_IMAGE', /application alone/],
    ['a text', new TextEncoder().encode('not an image'), 'NOT_AN_IMAGE', /first byte/],
    ['a bootloader', changed(image({ dataBytes: 50_000 }), 32), 'NO_APP_DESCRIPTION', /bootloader/],
    ['half an image', image({ dataBytes: 200_000 }).slice(0, 100_000), 'TRUNCATED', /after 100000 bytes/],
    ['an image with a wrong bit', changed(image(), 2000), 'CORRUPT', /checksum/],
    ['an image with a wrong hash', changed(image(), image().length - 1), 'CORRUPT', /SHA-256/],
    ['an image for an unknown chip', image({ chip: 0x7777 }), 'CHIP_UNKNOWN', /30583/],
    ['a version that restarts devices for ever', image({ version: 'v2.5.0' }), 'VERSION_UNUSABLE', /"v2.5.0"/],
    [
      'an image with something behind it',
      Uint8Array.from([...image(), 1, 2, 3]),
      'TRAILING_BYTES',
      /other data than a signature follows/,
    ],
  ])('that are %s are refused with the reason', async (_what, file, code, message) => {
    const kept = keptFiles().length;
    expect(await upload(file)).toEqual({ status: 422, body: { code, message: expect.stringMatching(message) } });
    expect(keptFiles()).toHaveLength(kept);
  });

  it('describe themselves, and are published one per board and version', async () => {
    const [first, second] = [
      await upload(image({ chip: 'esp32c3', dataBytes: 1_000_000 })),
      await upload(image({ chip: 'esp32c6' })),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(await upload(image({ chip: 'esp32c6' }))).toEqual(second);
    expect(keptFiles()).toHaveLength(2);
    const publish = async (id: string | undefined) => {
      const mutation = `mutation ($id: ID!) { publishFirmwareImage(id: $id, models: ["lamp"]) {
        firmwareImage { project version chip idfVersion models } userErrors { code message } } }`;
      return (await ask<{ publishFirmwareImage: object }>(hub, mutation, { id })).publishFirmwareImage;
    };
    expect(await publish(first.body.id)).toEqual({
      firmwareImage: { project: 'xiaozhi', version: '2.5.0', chip: 'esp32c3', idfVersion: 'v5.5.2', models: ['lamp'] },
      userErrors: [],
    });
    expect(await publish(second.body.id)).toEqual({
      firmwareImage: null,
      userErrors: [{ code: 'CONFLICT', message: expect.stringContaining(first.body.id ?? '') }],
    });
    const { auditEntries } = await ask<{ auditEntries: { nodes: { action: string; subject: string }[] } }>(
      hub,
      `{ auditEntries(filter: { action: "firmware.published" }) { nodes { action subject } } }`,
    );
    expect(auditEntries.nodes).toEqual([{ action: 'firmware.published', subject: `firmware:${first.body.id}` }]);
  });
});
