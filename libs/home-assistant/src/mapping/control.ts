/** Which control a schema asks for: a slider, a switch, a list or a text field. */
import type { JsonSchema } from '@flotilla/mcp';
import type { Platform, StateValue } from './entity.js';

export interface Control {
  readonly platform: Extract<Platform, 'number' | 'select' | 'switch' | 'text'>;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly isWhole?: boolean;
}

/** Home Assistant refuses a longer state. */
export const stateLengthMax = 255;

/** The length as Home Assistant and schemas count it: an emoji is one character. */
export const lengthOf = (text: string): number => Array.from(text).length;

/** A longer text cannot be shown. */
export const fitsState = (text: string): boolean =>
  text.length <= 2 * stateLengthMax && lengthOf(text) <= stateLengthMax;
/** Bounds of numbers without a bound in the schema; they get a box instead of a slider. */
const unboundedMax = 1_000_000;
/** The smallest step that Home Assistant accepts. */
const stepMin = 0.001;
const optionsMax = 100;

/** Undefined if there is no control for such values. */
export function controlOf(schema: JsonSchema): Control | undefined {
  const options = schema['enum'];
  if (Array.isArray(options)) {
    const texts = options.filter((option) => typeof option === 'string' && option !== '');
    const isList = texts.length === options.length && texts.length > 0 && texts.length <= optionsMax;
    return isList ? { platform: 'select', fields: { options: [...new Set(texts)] } } : undefined;
  }
  switch (schema['type']) {
    case 'boolean':
      return { platform: 'switch', fields: { payload_on: 'ON', payload_off: 'OFF', state_on: 'ON', state_off: 'OFF' } };
    case 'integer':
    case 'number':
      return numberOf(schema);
    case 'string':
      return textOf(schema);
    default:
      return undefined;
  }
}

function numberOf(schema: JsonSchema): Control | undefined {
  const isWhole = schema['type'] === 'integer';
  const [least, most] = [finite(schema['minimum']), finite(schema['maximum'])];
  const min = least ?? Math.min(0, (most ?? 0) - unboundedMax);
  const max = most ?? Math.max(0, min) + unboundedMax;
  if (min >= max) return undefined;
  const multiple = finite(schema['multipleOf']);
  const step = multiple !== undefined && multiple >= stepMin ? multiple : isWhole ? 1 : 0.01;
  const isBounded = least !== undefined && most !== undefined;
  return { platform: 'number', fields: { min, max, step, mode: isBounded ? 'auto' : 'box' }, isWhole };
}

function textOf(schema: JsonSchema): Control | undefined {
  const min = finite(schema['minLength']) ?? 0;
  const max = Math.min(stateLengthMax, finite(schema['maxLength']) ?? stateLengthMax);
  return min <= max ? { platform: 'text', fields: { min, max } } : undefined;
}

function finite(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The value as the control can show it; null for all others. */
export function controlValue({ platform, fields }: Pick<Control, 'platform' | 'fields'>, value: unknown): StateValue {
  switch (platform) {
    case 'switch':
      return typeof value === 'boolean' ? (value ? 'ON' : 'OFF') : null;
    case 'select':
      return Array.isArray(fields['options']) && fields['options'].includes(value) ? String(value) : null;
    case 'number': {
      const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
      const isShown = typeof number === 'number' && number >= Number(fields['min']) && number <= Number(fields['max']);
      return isShown ? number : null;
    }
    case 'text':
      return typeof value === 'string' && fitsState(value) ? value : null;
  }
}
