/** Discovery messages against the documented fields, over any tools and reported states. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HomeDevice, HomeTool } from './home-device.js';
import { discoverySchema } from './documented.suite.js';
import { entitiesOf } from './entities.js';
import { componentOf } from './entity.js';
import { deviceOf, inputOf, readAt, status, toolOf } from './home-device.suite.js';
import { discoveryOf, messagesOf, parseCommandTopic, removalOf, withoutFormer } from './messages.js';
import { deviceSlug } from './slug.js';

const roots = { prefix: 'homeassistant', base: 'flotilla' };
const topicPattern = /^[\w-]+(?:\/[\w-]+)+$/;

const schema = fc.oneof(
  fc.record({ type: fc.constantFrom('integer', 'number'), minimum: fc.integer(), maximum: fc.integer() }),
  fc.record({ type: fc.constantFrom('integer', 'number'), minimum: fc.double({ noNaN: true }) }),
  fc.record({ type: fc.constant('boolean') }),
  fc.record({ type: fc.constant('string'), enum: fc.array(fc.string(), { maxLength: 4 }) }),
  fc.record({ type: fc.constant('string'), maxLength: fc.nat(1_000), minLength: fc.nat(300) }),
  fc.jsonValue({ maxDepth: 2 }).map((type) => ({ type })),
);
const state = fc.dictionary(
  fc.string(),
  fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }))),
);
const anything = fc.record({ id: fc.string({ minLength: 1 }), path: fc.string({ minLength: 1 }), schema, state });

function anyInput({
  id,
  path,
  schema: of,
  state: reported,
}: typeof anything extends fc.Arbitrary<infer T> ? T : never) {
  const tools: readonly HomeTool[] = [toolOf('self.any.set', { value: of }), toolOf(`self.${path}`)];
  const device = { id, tools, reportedState: { [status]: reported }, latestVersion: '9.0.0' };
  return inputOf(device, { 'self.any.set': readAt(path, 'value') });
}

const messages = (input: ReturnType<typeof inputOf>) => messagesOf(roots, input.device, entitiesOf(input));

describe('the messages about a device', () => {
  it('have the documented fields and valid topics for any tools and states', () => {
    fc.assert(
      fc.property(anything, (made) => {
        const input = anyInput(made);
        const [config, ...others] = messages(input);
        const discovery = discoverySchema.parse(JSON.parse(config?.payload ?? ''));
        for (const { topic } of [...others, ...(config ? [config] : [])]) expect(topic).toMatch(topicPattern);
        const ids = Object.values(discovery.components).map(({ unique_id: id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const values = JSON.parse(others[1]?.payload ?? '') as Readonly<Record<string, unknown>>;
        const templates = Object.values(discovery.components).flatMap((each) =>
          'value_template' in each && each.value_template !== undefined ? [each.value_template] : [],
        );
        for (const template of templates) expect(values).toHaveProperty([/'(.*?)'/.exec(template)?.[1] ?? '']);
      }),
      { numRuns: 300 },
    );
  });

  it('are the same for the same device, and ids do not depend on values', () => {
    const ids = (reportedState: HomeDevice['reportedState']) => {
      const input = inputOf({ reportedState });
      const { components } = discoveryOf(roots, input.device, entitiesOf(input));
      return Object.values(components).map((component) => component['unique_id']);
    };
    expect(ids({ [status]: { a: { level: 1 } } })).toEqual(ids({ [status]: { a: { level: 99 } } }));
    expect(ids({ [status]: { a: { level: 1 } } })).toContain('flotilla_020000000001_sensor_a_level');
  });

  it('say where the device is and whether the hub is', () => {
    const input = inputOf({ isOnline: false, latestVersion: '2.2.0' });
    const sent = new Map(messages(input).map(({ topic, payload }) => [topic, payload]));
    expect([...sent.keys()]).toEqual([
      'homeassistant/device/flotilla_020000000001/config',
      'flotilla/020000000001/availability',
      'flotilla/020000000001/state',
      'flotilla/020000000001/update',
    ]);
    expect(sent.get('flotilla/020000000001/availability')).toBe('offline');
    const update = { installed_version: '2.1.0', latest_version: '2.2.0' };
    expect(JSON.parse(sent.get('flotilla/020000000001/update') ?? '')).toEqual(update);
    expect(removalOf(roots, '020000000001').map(({ topic }) => topic)).toEqual([...sent.keys()]);
  });

  it('take commands at topics that lead back to the entity', () => {
    const input = inputOf({ tools: [toolOf('self.wave')] });
    const [button] = entitiesOf(input).filter(({ platform }) => platform === 'button');
    const { components } = discoveryOf(roots, input.device, button === undefined ? [] : [button]);
    const topic = String(Object.values(components)[0]?.['command_topic']);
    const component = button === undefined ? '' : componentOf(button);
    expect(parseCommandTopic(roots, topic)).toEqual({ slug: '020000000001', component });
    for (const other of ['flotilla/a/set', 'flotilla/a/b/c/set', 'flotilla/a/b/state', 'other/a/b/set'])
      expect(parseCommandTopic(roots, other)).toBeUndefined();
  });

  it('end components that are no longer there', () => {
    const device = deviceOf();
    const present = discoveryOf(roots, device, entitiesOf(inputOf({})));
    expect(withoutFormer(present, new Map([['sensor_firmware', 'sensor']]))).toBeUndefined();
    const ending = withoutFormer(present, new Map([['number_volume', 'number']]));
    const { components } = JSON.parse(ending ?? '') as typeof present;
    expect(components['number_volume']).toEqual({ platform: 'number' });
    expect(components).toHaveProperty('sensor_firmware');
  });
});

describe('the id of a device', () => {
  it('differs for different devices and is part of a topic', () => {
    const id = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('a b', 'a_b', 'A_B', '02:00:00:00:00:01'));
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(deviceSlug(one)).toMatch(/^[a-z0-9_-]+$/);
        if (one !== other) expect(deviceSlug(one)).not.toBe(deviceSlug(other));
      }),
    );
    expect(deviceSlug('02:00:00:00:00:01')).not.toBe(deviceSlug('020000000001'));
  });
});
