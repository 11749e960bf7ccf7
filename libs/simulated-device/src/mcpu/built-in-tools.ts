/** The tools that the firmware library brings along, as strict and as lax as it is. [mcpu §3] */
import type { BoardPin } from './board-pin.js';
import type { BoardProfile } from './board-profile.js';
import type { SketchAnswer } from './sketch-tools.js';

type Params = Readonly<Record<string, unknown>>;

const refusal = (message: string): SketchAnswer => ({ error: { code: -32_602, message } });
const badParams = refusal('Bad params');
const wrongPin = refusal('Wrong pin type');

interface BoardState {
  readonly profile: BoardProfile;
  readonly pins: readonly BoardPin[];
}

type BuiltIn = (board: BoardState, params: Params, now: number) => SketchAnswer;

/** The board keeps the lowest 8 bits: 258 is pin 2. */
function pinOf({ pins }: BoardState, { pin }: Params, types: readonly string[]): BoardPin | undefined {
  return pins.find(({ setup }) => setup.pin === (Number(pin) & 0xff) && types.includes(setup.type));
}

/** The sampling tools take a name as well. */
function sampledPinOf({ pins }: BoardState, { pin }: Params): BoardPin | undefined {
  return pins.find(({ setup }) => setup.name === pin || (typeof pin === 'number' && setup.pin === (pin & 0xff)));
}

const gpioWrite: BuiltIn = (board, params) => {
  const { pin, value } = params;
  if (!Number.isInteger(pin) || typeof value !== 'boolean') return badParams;
  const found = pinOf(board, params, ['digital_output']);
  if (!found) return wrongPin;
  found.output = value;
  return { result: { pin: found.setup.pin, name: found.setup.name, value } };
};

const gpioRead: BuiltIn = (board, params, now) => {
  if (!Number.isInteger(params['pin'])) return badParams;
  const found = pinOf(board, params, ['digital_input', 'digital_output']);
  return found ? { result: { pin: found.setup.pin, name: found.setup.name, value: found.level(now) } } : wrongPin;
};

/** Nothing checks the range of `duty`. */
const pwmWrite: BuiltIn = (board, params) => {
  const { pin, duty } = params;
  if (!Number.isInteger(pin) || !Number.isInteger(duty)) return badParams;
  const found = pinOf(board, params, ['pwm_output']);
  if (!found) return wrongPin;
  found.output = Number(duty);
  return { result: { pin: found.setup.pin, name: found.setup.name, duty } };
};

const adcRead: BuiltIn = (board, params, now) => {
  if (!Number.isInteger(params['pin'])) return badParams;
  const found = pinOf(board, params, ['adc_input']);
  if (!found) return wrongPin;
  const value = found.measure(now);
  return { result: { pin: found.setup.pin, name: found.setup.name, value, ...voltage(board.profile, value) } };
};

function voltage({ memory, analogMax }: BoardProfile, value: number): Readonly<Record<string, number>> {
  if (memory === 'rich') return { volts: (value / analogMax) * 3.3 };
  return memory === 'low' ? { mv: Math.floor((value * 3_300) / analogMax) } : {};
}

const getInfo: BuiltIn = ({ profile, pins }) => {
  const { sketch, version, memory } = profile;
  return { result: { device: sketch, version, platform: 'arduino', pin_count: pins.length, memory_profile: memory } };
};

const getPinSummary: BuiltIn = (board, params) => {
  const found = sampledPinOf(board, params);
  if (!found) return refusal('Pin not found');
  if (found.setup.sampling === undefined) return refusal('Summary not enabled for this pin');
  return { result: { pin: found.setup.pin, name: found.setup.name, ...found.summary } };
};

/**
 * Does not consume the samples, returns the oldest if a limit is given, and reports errors as
 * successes. [mcpu §2.5, §2.7]
 */
const getPinBuffer: BuiltIn = (board, params) => {
  const found = sampledPinOf(board, params);
  if (!found) return refusal('Pin not found');
  const { name, sampling } = found.setup;
  if (sampling?.bufferSize === undefined)
    return { result: { pin: name, buffer_available: false, reason: 'No buffer for this pin' } };
  const limit = params['limit'];
  const values = typeof limit === 'number' && limit >= 0 ? found.ring.slice(0, limit) : found.ring;
  return { result: { pin: name, count: found.ring.length, values } };
};

export const builtInTools: ReadonlyMap<string, BuiltIn> = new Map([
  ['gpio_write', gpioWrite],
  ['gpio_read', gpioRead],
  ['pwm_write', pwmWrite],
  ['adc_read', adcRead],
  ['get_info', getInfo],
  ['get_pin_summary', getPinSummary],
  ['get_pin_buffer', getPinBuffer],
]);
