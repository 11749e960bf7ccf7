/** Values of devices that no table has: samples, and values that Home Assistant set. */
import type { HomeDevice } from '../mapping/home-device.js';

/** Series of one device; further ones are not shown. */
const seriesMax = 32;

interface Values {
  readonly setValues: Map<string, unknown>;
  readonly samples: Map<string, unknown>;
}

export class KnownValues {
  readonly #byDevice = new Map<string, Values>();

  of(deviceId: string): Pick<HomeDevice, 'samples' | 'setValues'> {
    return this.#byDevice.get(deviceId) ?? { setValues: new Map(), samples: new Map() };
  }

  set(deviceId: string, property: string, value: unknown): void {
    this.#valuesOf(deviceId).setValues.set(property, value);
  }

  /** Takes the data of an event `device.samples`; true if a value changed. */
  sampled(deviceId: string, { name, resource, tool, value, values }: Readonly<Record<string, unknown>>): boolean {
    const series = [name, resource, tool].find((text) => typeof text === 'string' && text !== '');
    const latest: unknown = Array.isArray(values) ? values.at(-1) : value;
    if (typeof series !== 'string' || !['number', 'string', 'boolean'].includes(typeof latest)) return false;
    const { samples } = this.#valuesOf(deviceId);
    if (samples.get(series) === latest || (samples.size >= seriesMax && !samples.has(series))) return false;
    samples.set(series, latest);
    return true;
  }

  /** What was set may be lost when a device restarts. Samples stay until there are new ones. */
  forget(deviceId: string): void {
    this.#byDevice.get(deviceId)?.setValues.clear();
  }

  /** Of a device that the key does not see any more. */
  drop(deviceId: string): void {
    this.#byDevice.delete(deviceId);
  }

  clear(): void {
    this.#byDevice.clear();
  }

  #valuesOf(deviceId: string): Values {
    const known = this.#byDevice.get(deviceId);
    if (known !== undefined) return known;
    const values: Values = { setValues: new Map(), samples: new Map() };
    this.#byDevice.set(deviceId, values);
    return values;
  }
}
