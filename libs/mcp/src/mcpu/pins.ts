/**
 * The pins that an MCP/U device registered, and the limits of their arguments. Devices truncate pin
 * numbers and check no ranges. [mcpu §2.4, §3]
 */
import { isJsonObject } from '../json-rpc/json-text.js';
import type { JsonObject } from '../json-rpc/json-text.js';
import { deviceText } from '../device-text.js';
import { sampleIntervalMsMax } from './sample-window.js';

/** Pins of one device. Unmodified boards have at most 16. */
const pinsMax = 256;
const pinNumberMax = 255;
/** UTF-16 code units. */
const pinNameMax = 64;
const pinDescriptionMax = 512;
/** The maximum duty of an 8-bit PWM; boards echo any value. [mcpu §3] */
const dutyMax = 255;

/** The samples that a board keeps of a pin. Without `bufferSize` it keeps only statistics. */
interface PinSampling {
  readonly intervalMs: number;
  readonly bufferSize: number | undefined;
}

export interface DevicePin {
  /** 0 to 255. */
  readonly pin: number;
  readonly name: string;
  /** `digital_output`, `digital_input`, `pwm_output`, `adc_input`, or another text of the board. */
  readonly type: string;
  readonly description: string;
  /** Set only if the board reports it; AVR boards do not. */
  readonly sampling: PinSampling | undefined;
}

/** The first of equal pin numbers counts, as on the board. Invalid entries are omitted. */
export function parsePins(pins: unknown): readonly DevicePin[] {
  if (!Array.isArray(pins)) return [];
  const entries: readonly unknown[] = pins;
  const byNumber = new Map<number, DevicePin>();
  for (const entry of entries) {
    const pin = isJsonObject(entry) ? parsePin(entry) : undefined;
    if (pin !== undefined && !byNumber.has(pin.pin) && byNumber.size < pinsMax) byNumber.set(pin.pin, pin);
  }
  return [...byNumber.values()];
}

function parsePin(entry: JsonObject): DevicePin | undefined {
  const { pin, name, type, description, sampling } = entry;
  if (!Number.isInteger(pin) || Number(pin) < 0 || Number(pin) > pinNumberMax) return undefined;
  return {
    pin: Number(pin),
    name: deviceText(name, pinNameMax),
    type: deviceText(type, pinNameMax),
    description: deviceText(description, pinDescriptionMax),
    sampling: isJsonObject(sampling) ? parseSampling(sampling) : undefined,
  };
}

function parseSampling({ interval_ms: intervalMs, buffer_size: bufferSize }: JsonObject): PinSampling | undefined {
  if (!isCount(intervalMs)) return undefined;
  return {
    intervalMs: Math.min(intervalMs, sampleIntervalMsMax),
    bufferSize: isCount(bufferSize) ? bufferSize : undefined,
  };
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}

/** The pin types that built-in tools accept; undefined: any registered pin. */
const pinTypesOf: ReadonlyMap<string, readonly string[] | undefined> = new Map([
  ['gpio_write', ['digital_output']],
  ['gpio_read', ['digital_input', 'digital_output']],
  ['pwm_write', ['pwm_output']],
  ['adc_read', ['adc_input']],
  ['get_pin_summary', undefined],
  ['get_pin_buffer', undefined],
  ['get_pin_events', undefined],
]);

/** Whether the argument `pin` of a tool is a pin of the board. */
export function isPinTool(tool: string): boolean {
  return pinTypesOf.has(tool);
}

/**
 * Checks the arguments of a built-in tool against the registered pins. Undefined if they are valid,
 * or if the board reported no pins.
 */
export function findPinProblem(
  tool: string,
  args: JsonObject,
  pins: readonly DevicePin[],
): { readonly path: 'pin' | 'duty'; readonly message: string } | undefined {
  if (!pinTypesOf.has(tool) || pins.length === 0) return undefined;
  const pin = pins.find(({ pin: number, name }) => args['pin'] === number || (args['pin'] === name && name !== ''));
  if (pin === undefined)
    return { path: 'pin', message: `The device has registered no pin ${JSON.stringify(args['pin'] ?? null)}.` };
  const types = pinTypesOf.get(tool);
  if (types !== undefined && !types.includes(pin.type)) {
    return {
      path: 'pin',
      message: `${tool} takes a pin of type ${types.join(' or ')}; pin ${pin.pin} is ${pin.type}.`,
    };
  }
  const duty = args['duty'];
  if (tool === 'pwm_write' && typeof duty === 'number' && (duty < 0 || duty > dutyMax)) {
    return { path: 'duty', message: `"duty" must be from 0 to ${dutyMax}.` };
  }
  return undefined;
}
