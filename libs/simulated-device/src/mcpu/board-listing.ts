/**
 * The answer to `list_tools`: one frame with tools and pins; small boards leave parts out. [mcpu
 * §2.4, §3.2]
 */
import type { BoardProfile, PinSetup } from './board-profile.js';
import { builtInTools } from './built-in-tools.js';

const pin = { type: 'integer', description: 'pin no.' };

/** The members that the firmware writes. */
const parametersOf: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  gpio_write: { pin, value: { type: 'boolean', description: 'on/off' } },
  gpio_read: { pin },
  pwm_write: { pin, duty: { type: 'integer', description: '0..255' } },
  adc_read: { pin },
  get_info: {},
  get_pin_summary: { pin },
  get_pin_buffer: { pin, limit: { type: 'integer', description: 'at most' } },
};

const descriptions: Readonly<Record<string, string>> = {
  gpio_write: 'Set an output',
  gpio_read: 'Read a level',
  pwm_write: 'Set duty',
  adc_read: 'Read analog',
  get_info: 'Identity',
  get_pin_summary: 'Statistics',
  get_pin_buffer: 'Samples',
};

export function boardListing({
  sketch,
  version,
  isTerse,
  tools,
  pins,
}: BoardProfile): Readonly<Record<string, unknown>> {
  const builtIns = [...builtInTools.keys()].filter(isListedFor(pins)).map((name) => ({
    name,
    description: descriptions[name],
    ...(isTerse ? {} : { inputSchema: schemaOf(parametersOf[name] ?? {}) }),
  }));
  const own = tools.map(({ name, description, pollingMs }) => ({
    name,
    description,
    inputSchema: schemaOf({}),
    ...(pollingMs === undefined ? {} : { polling: { enabled: true, interval_ms: pollingMs } }),
  }));
  return { device: sketch, version, tools: [...builtIns, ...own], pins: pins.map((setup) => pinEntry(setup, isTerse)) };
}

/** The sampling tools are listed only if a pin uses them. [mcpu §3] */
function isListedFor(pins: readonly PinSetup[]): (name: string) => boolean {
  const unused = new Set([
    ...(pins.some(({ sampling }) => sampling !== undefined) ? [] : ['get_pin_summary']),
    ...(pins.some(({ sampling }) => sampling?.bufferSize !== undefined) ? [] : ['get_pin_buffer']),
  ]);
  return (name) => !unused.has(name);
}

function schemaOf(properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { type: 'object', required: Object.keys(properties).filter((name) => name !== 'limit'), properties };
}

function pinEntry(
  { pin: number, name, type, description, sampling }: PinSetup,
  isTerse: boolean,
): Readonly<Record<string, unknown>> {
  const entry = { pin: number, name, type, description };
  if (isTerse) return entry;
  const capabilities = { summary: sampling !== undefined, buffer: sampling?.bufferSize !== undefined, events: false };
  if (sampling === undefined) return { ...entry, capabilities };
  const { intervalMs, bufferSize } = sampling;
  const intervals = { interval_ms: intervalMs, ...(bufferSize === undefined ? {} : { buffer_size: bufferSize }) };
  return { ...entry, capabilities, sampling: intervals };
}
