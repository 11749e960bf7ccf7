/**
 * Schemas of the built-in tools of MCP/U boards, for boards that omit them to save memory (AVR).
 * [mcpu §3, §3.2]
 */
import type { JsonSchema } from '../tools/tool.js';

const pin = { type: 'integer', minimum: 0, maximum: 255 };
/** The sampling tools also accept the name of a pin. */
const pinOrName = { anyOf: [pin, { type: 'string' }] };

const object = (properties: JsonSchema, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
});

export const builtinSchemas: ReadonlyMap<string, JsonSchema> = new Map([
  ['gpio_write', object({ pin, value: { type: 'boolean' } }, ['pin', 'value'])],
  ['gpio_read', object({ pin }, ['pin'])],
  ['pwm_write', object({ pin, duty: { type: 'integer', minimum: 0, maximum: 255 } }, ['pin', 'duty'])],
  ['adc_read', object({ pin }, ['pin'])],
  ['get_info', object({}, [])],
  ['get_pin_summary', object({ pin: pinOrName }, ['pin'])],
  ['get_pin_buffer', object({ pin: pinOrName, limit: { type: 'integer', minimum: 1 } }, ['pin'])],
  ['get_pin_events', object({ pin: pinOrName }, ['pin'])],
]);
