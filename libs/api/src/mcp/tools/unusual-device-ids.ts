/**
 * Finds devices whose id cannot be read from the names of their tools, by the hashed part of the
 * name. It reads the fleet again for unknown names, but not for each one.
 */
import type { Registry } from '@flotilla/registry';
import { devicePartOf, isUnusualId } from './agent-tool-names.js';

/** Devices read with one statement. */
const pageRows = 500;
/** Ids kept; most fleets have none of this kind. */
const unusualIdsMax = 10_000;
/** Ms between two reads of the fleet, so that invented names cost no more than this. */
const passEveryMs = 5_000;

export class UnusualDeviceIds {
  #byPart: Promise<ReadonlyMap<string, readonly string[]>> = Promise.resolve(new Map());
  #readAt = -Infinity;

  constructor(private readonly devices: Registry['devices']) {}

  async idsOf(part: string): Promise<readonly string[]> {
    const known = (await this.#byPart).get(part);
    if (known !== undefined || performance.now() - this.#readAt < passEveryMs) return known ?? [];
    this.#readAt = performance.now();
    const pass = this.#read();
    // A failed read rejects for its caller and keeps the known ids.
    pass.then(
      () => (this.#byPart = pass),
      () => (this.#readAt = -Infinity),
    );
    return (await pass).get(part) ?? [];
  }

  async #read(): Promise<ReadonlyMap<string, readonly string[]>> {
    const byPart = new Map<string, string[]>();
    let count = 0;
    for (let after: string | undefined, more = true; more && count < unusualIdsMax;) {
      const page = await this.devices.page(undefined, 'ID_ASC', {
        first: pageRows,
        ...(after === undefined ? {} : { after }),
      });
      for (const { id } of page.rows) {
        if (!isUnusualId(id)) continue;
        count += 1;
        byPart.set(devicePartOf(id), [...(byPart.get(devicePartOf(id)) ?? []), id]);
      }
      after = page.cursors.at(-1);
      more = page.hasNextPage;
    }
    return byPart;
  }
}
