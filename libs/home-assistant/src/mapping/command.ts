/** What a command message of Home Assistant asks for. Nothing of it is trusted. */
import { lengthOf, stateLengthMax } from './control.js';
import type { Entity } from './entity.js';

export type HomeCommand =
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly property: string | undefined;
      readonly value: unknown;
      readonly endsSession: boolean;
    }
  | { readonly kind: 'install' }
  | { readonly kind: 'invalid'; readonly message: string };

const decimal = /^-?\d{1,15}(?:\.\d{1,15})?$/;
/** A longer payload is not a value of any entity. */
export const payloadLengthMax = 1_024;

const invalid = (message: string): HomeCommand => ({ kind: 'invalid', message });

export function commandOf({ platform, fields, writer }: Entity, payload: string): HomeCommand {
  if (writer === undefined) return invalid('The entity is read-only.');
  if (payload.length > payloadLengthMax) return invalid('The payload is too long.');
  if (writer.kind === 'install')
    return payload === fields['payload_install'] ? { kind: 'install' } : invalid('The payload is not "install".');
  const { argument, endsSession = false, property, tool } = writer;
  if (argument === undefined)
    return payload === fields['payload_press']
      ? { kind: 'call', tool, arguments: {}, property, value: undefined, endsSession }
      : invalid('The payload is not "PRESS".');
  const parsed = valueOf(platform, fields, payload, writer.isWhole === true);
  if ('problem' in parsed) return invalid(parsed.problem);
  return { kind: 'call', tool, arguments: { [argument]: parsed.value }, property, value: parsed.value, endsSession };
}

type Parsed = { readonly value: unknown } | { readonly problem: string };

function valueOf(platform: Entity['platform'], fields: Entity['fields'], payload: string, isWhole: boolean): Parsed {
  switch (platform) {
    case 'number':
      return parseNumber(fields, payload, isWhole);
    case 'switch':
      if (payload === 'ON' || payload === 'OFF') return { value: payload === 'ON' };
      return { problem: 'The payload is neither "ON" nor "OFF".' };
    case 'select':
      if (Array.isArray(fields['options']) && fields['options'].includes(payload)) return { value: payload };
      return { problem: 'The payload is not one of the options.' };
    default:
      return parseText(fields, payload);
  }
}

function parseText(fields: Entity['fields'], payload: string): Parsed {
  const [min, max] = [Number(fields['min']), Number(fields['max'])];
  const length = lengthOf(payload);
  if (length >= min && length <= Math.min(stateLengthMax, max)) return { value: payload };
  return { problem: `The payload is not a text of ${String(min)} to ${String(max)} characters.` };
}

function parseNumber(fields: Entity['fields'], payload: string, isWhole: boolean): Parsed {
  const value = decimal.test(payload) ? Number(payload) : Number.NaN;
  const [min, max] = [Number(fields['min']), Number(fields['max'])];
  if (Number.isNaN(value) || (isWhole && !Number.isInteger(value)))
    return { problem: `The payload is not a ${isWhole ? 'whole ' : ''}number.` };
  if (value < min || value > max) return { problem: `The payload is not between ${String(min)} and ${String(max)}.` };
  // A device may treat -0 and 0 differently.
  return { value: value === 0 ? 0 : value };
}
