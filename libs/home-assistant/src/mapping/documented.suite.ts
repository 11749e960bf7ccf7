/**
 * The discovery message as Home Assistant documents it, in our words: which fields a component may
 * have, and which it must. A field that is not listed is a mistake.
 */
import { z } from 'zod';

const topic = z.string().regex(/^[\w-]+(\/[\w-]+)*$/);
/** Topics that must be `online`; a component may have its own list instead of the shared one. */
const availability = z.array(z.strictObject({ topic })).min(1);

/** Fields of every component. A device message needs `platform`, and `unique_id` for entities. */
const common = {
  unique_id: z.string().regex(/^[a-z0-9_-]+$/),
  name: z.string().min(1),
  availability: availability.optional(),
  entity_category: z.enum(['config', 'diagnostic']).optional(),
  enabled_by_default: z.boolean().optional(),
};
const template = z.string().regex(/^\{\{ value_json\['[a-z0-9_-]+'\](?: \| default\('', true\))? \}\}$/);
const state = { state_topic: topic, value_template: template.optional() };
const qos = z.union([z.literal(0), z.literal(1), z.literal(2)]).optional();
const command = { command_topic: topic, qos };

const number = z
  .strictObject({
    platform: z.literal('number'),
    ...common,
    ...state,
    ...command,
    min: z.number(),
    max: z.number(),
    step: z.number().min(0.001),
    mode: z.enum(['auto', 'box', 'slider']),
  })
  .refine(({ min, max }) => min < max, 'the maximum is above the minimum');

const binarySensor = z.strictObject({
  platform: z.literal('binary_sensor'),
  ...common,
  ...state,
  payload_on: z.string(),
  payload_off: z.string(),
  device_class: z.enum(['connectivity', 'battery_charging']).optional(),
});

const sensor = z
  .strictObject({
    platform: z.literal('sensor'),
    ...common,
    ...state,
    device_class: z.enum(['battery', 'temperature', 'humidity']).optional(),
    state_class: z.enum(['measurement']).optional(),
    unit_of_measurement: z.string().optional(),
  })
  // Home Assistant takes a sensor with a unit or a state class for a number.
  .refine(({ unit_of_measurement: unit, state_class: kind }) => unit === undefined || kind !== undefined);

const button = z.strictObject({
  platform: z.literal('button'),
  ...common,
  ...command,
  payload_press: z.string(),
  device_class: z.enum(['identify', 'restart', 'update']).optional(),
});

const component = z.discriminatedUnion('platform', [
  number,
  binarySensor,
  sensor,
  button,
  z.strictObject({
    platform: z.literal('switch'),
    ...common,
    ...state,
    ...command,
    payload_on: z.string(),
    payload_off: z.string(),
    state_on: z.string(),
    state_off: z.string(),
  }),
  z.strictObject({
    platform: z.literal('select'),
    ...common,
    ...state,
    ...command,
    options: z.array(z.string().min(1)).min(1),
  }),
  z.strictObject({
    platform: z.literal('text'),
    ...common,
    ...state,
    ...command,
    min: z.int().min(0),
    max: z.int().max(255),
  }),
  z.strictObject({
    platform: z.literal('update'),
    ...common,
    state_topic: topic,
    qos,
    device_class: z.literal('firmware'),
    // Without a command topic the update is shown, and cannot be started.
    command_topic: topic.optional(),
    payload_install: z.string().optional(),
  }),
]);

/** The message at `<prefix>/device/<id>/config`. `device` and `origin` are required. */
export const discoverySchema = z.strictObject({
  device: z.strictObject({
    // At least one of identifiers and connections.
    identifiers: z.array(z.string()).min(1),
    connections: z.array(z.tuple([z.literal('mac'), z.string()])).optional(),
    name: z.string().min(1),
    model: z.string().optional(),
    serial_number: z.string().optional(),
    sw_version: z.string().optional(),
  }),
  origin: z.strictObject({ name: z.string() }),
  availability,
  availability_mode: z.enum(['all', 'any', 'latest']),
  components: z.record(z.string().regex(/^[a-z0-9_-]+$/), component),
});
