/** The entities of one device. */
import { propertyName, writersOf } from './writers.js';
import { buttonsOf } from './buttons.js';
import { controlValue } from './control.js';
import type { Entity } from './entity.js';
import type { MappingInput } from './home-device.js';
import { leavesOf, sensorOf } from './sensors.js';
import { hashOf, slugOf, titleOf } from './slug.js';

/** Keys of the entities that each device has or may get, so that no value takes them before. */
const BUILT_IN: readonly string[] = ['firmware', 'connected', 'update'];

/** Keys are unique within the device. Of samples with one slug, the first one has it as key. */
export function entitiesOf(input: MappingInput): readonly Entity[] {
  const { device, rights } = input;
  const leaves = leavesOf(device.reportedState);
  const writers = writersOf(input);
  const entities = new Map<string, Entity>();
  const add = (property: string, path: string, make: (key: string) => Entity): void => {
    const slug = slugOf(path);
    const key = entities.has(slug) || BUILT_IN.includes(slug) ? `${slug}_${hashOf(property)}` : slug;
    entities.set(key, make(key));
  };
  for (const { property, path, control, writer } of writers) {
    const value = leaves.get(property)?.value ?? device.setValues.get(property);
    const { platform, fields } = control;
    add(property, path, (key) => ({
      platform,
      key,
      name: titleOf(path),
      fields,
      writer,
      value: controlValue(control, value),
    }));
  }
  const written = new Set(writers.map(({ property }) => property));
  for (const [property, { path, value }] of leaves)
    if (!written.has(property)) add(property, path, (key) => sensorOf(key, path, value));
  for (const [name, value] of device.samples)
    add(propertyName('samples', name), name, (key) => sensorOf(key, name, value));
  for (const { tool, name, fields, endsSession } of buttonsOf(input)) {
    const writer = { kind: 'tool', tool, argument: undefined, property: undefined, endsSession } as const;
    add(tool, name, (key) => ({ platform: 'button', key, name: titleOf(name), fields, writer }));
  }
  entities.set('firmware', {
    platform: 'sensor',
    key: 'firmware',
    name: 'Firmware version',
    fields: { entity_category: 'diagnostic' },
    value: device.firmwareVersion?.slice(0, 255) ?? null,
  });
  entities.set('connected', {
    platform: 'binary_sensor',
    key: 'connected',
    name: 'Connected',
    fields: {
      device_class: 'connectivity',
      entity_category: 'diagnostic',
      payload_on: 'online',
      payload_off: 'offline',
    },
  });
  if (device.latestVersion !== undefined && device.firmwareVersion !== undefined) {
    const update = { payload_install: 'install' };
    entities.set('update', {
      platform: 'update',
      key: 'update',
      name: 'Firmware',
      fields: { device_class: 'firmware', entity_category: 'config', ...(rights.mayUpdate && update) },
      ...(rights.mayUpdate && { writer: { kind: 'install' } as const }),
    });
  }
  return [...entities.values()];
}
