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

type IdsByPart = ReadonlyMap<string, readonly string[]>;

export class UnusualDeviceIds {
  #known: IdsByPart = new Map();
  /** The pass over the fleet that runs. */
  #pass: Promise<IdsByPart> | undefined;
  #begunAt = -Infinity;

  constructor(private readonly devices: Pick<Registry['devices'], 'page'>) {}

  /**
   * What `look` finds among the devices whose id has this part. If it finds nothing, the fleet is
   * read again: a device may be new.
   */
  async find<Found>(
    part: string,
    look: (ids: readonly string[]) => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    const known = this.#known;
    const found = await look(known.get(part) ?? []);
    if (found !== undefined) return found;
    // A pass may have ended meanwhile.
    const newer = this.#known === known ? await (this.#pass ?? this.#begin()) : this.#known;
    return newer && look(newer.get(part) ?? []);
  }

  /** Undefined if the latest pass was a moment ago. A failed one changes nothing. */
  #begin(): Promise<IdsByPart> | undefined {
    if (performance.now() - this.#begunAt < passEveryMs) return undefined;
    this.#begunAt = performance.now();
    this.#pass = this.#read()
      .then(
        (byPart) => (this.#known = byPart),
        (error: unknown) => {
          this.#begunAt = -Infinity;
          throw error;
        },
      )
      .finally(() => (this.#pass = undefined));
    return this.#pass;
  }

  async #read(): Promise<IdsByPart> {
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
