/**
 * Converts the poll answers of one microcontroller to the data of `device.samples` events: each
 * sample once, and bounded.
 */
import {
  clipText,
  freshSamples,
  isJsonObject,
  parseJsonText,
  sampleIntervalMsMax,
  sampleWindowMax,
} from '@flotilla/mcp';
import type { JsonObject, ToolResult } from '@flotilla/mcp';
import type { GatewayLimits } from '../gateway-limits.js';
import type { PlannedPoll } from './poll-plan.js';

type SampleLimits = Pick<GatewayLimits, 'samplesPerEventMax' | 'sampleBytesMax'>;

/** Period of a series that does not state its own, ms. [mcpu §2.5] */
const seriesIntervalMs = 1_000;
const resourceMax = 64;

export class SampleEvents {
  /** The last window of each ring, and when it was requested. */
  readonly #windows = new Map<number, { readonly values: readonly number[]; readonly at: number }>();

  constructor(private readonly limits: SampleLimits) {}

  /**
   * Returns the data of the event; undefined if there are no new or valid values. `at`: the time of
   * the request.
   */
  read({ tool, pin }: PlannedPoll, result: ToolResult | undefined, at: number): JsonObject | undefined {
    const text = result?.isError === false ? result.content.find(({ type }) => type === 'text')?.['text'] : undefined;
    if (typeof text !== 'string') return undefined;
    const value = parseResult(text);
    if (pin !== undefined) return this.#readRing(pin, value, at);
    const series = isJsonObject(value) && value['type'] === 'buffer' ? numbersOf(value['values']) : undefined;
    if (isJsonObject(value) && series !== undefined) return this.#seriesOf(tool, value, series);
    if (Buffer.byteLength(text) > this.limits.sampleBytesMax) return { tool, truncated: true };
    return { tool, value: value ?? null };
  }

  #readRing(pin: NonNullable<PlannedPoll['pin']>, value: unknown, at: number): JsonObject | undefined {
    const values = isJsonObject(value) ? numbersOf(value['values']) : undefined;
    if (values === undefined) return undefined;
    const intervalMs = pin.sampling?.intervalMs ?? seriesIntervalMs;
    const former = this.#windows.get(pin.pin);
    this.#windows.set(pin.pin, { values, at });
    const fresh = freshSamples(
      former?.values ?? [],
      values,
      former === undefined ? values.length : Math.round((at - former.at) / intervalMs),
    );
    if (fresh.values.length === 0) return undefined;
    return {
      pin: pin.pin,
      name: pin.name,
      intervalMs,
      ...this.#bounded(fresh.values),
      ...(fresh.isGap ? { gap: true } : {}),
    };
  }

  #seriesOf(tool: string, value: JsonObject, series: readonly number[]): JsonObject | undefined {
    const { resource, sample_interval_ms: intervalMs } = value;
    return {
      tool,
      resource: typeof resource === 'string' ? clipText(resource.replace(/\p{Cc}+/gu, ' '), resourceMax) : tool,
      intervalMs:
        typeof intervalMs === 'number' && intervalMs > 0 ? Math.min(intervalMs, sampleIntervalMsMax) : seriesIntervalMs,
      ...this.#bounded(series),
    };
  }

  /** The newest values, and the number of omitted older ones. */
  #bounded(values: readonly number[]): JsonObject {
    const dropped = Math.max(0, values.length - this.limits.samplesPerEventMax);
    return { values: values.slice(dropped), ...(dropped > 0 ? { dropped } : {}) };
  }
}

/** A result that is a text is a value itself; all others are JSON. */
function parseResult(text: string): unknown {
  const value = parseJsonText(text);
  return value === undefined ? text : value;
}

function numbersOf(values: unknown): readonly number[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const entries: readonly unknown[] = values.slice(-sampleWindowMax);
  return entries.filter((entry) => typeof entry === 'number');
}
