import { beforeEach, describe, expect, it } from 'vitest';
import { inputOf, readAt, status, toolOf } from '../mapping/home-device.suite.js';
import { Publications } from './publications.js';

const roots = { prefix: 'homeassistant', base: 'flotilla' };
const config = 'homeassistant/device/flotilla_020000000001/config';
const state = 'flotilla/020000000001/state';

let sent: [topic: string, payload: string][];
let publications: Publications;

beforeEach(() => {
  sent = [];
  publications = new Publications(roots, (topic, payload) => sent.push([topic, payload]));
});

/** The topics that were sent since the last look. */
const topics = () => sent.splice(0).map(([topic]) => topic);

const lamp = (power: boolean, rights = {}) => {
  const tools = [toolOf('self.lamp.set', { power: { type: 'boolean' } })];
  const policies = { 'self.lamp.set': readAt('lamp.power', 'power') };
  return inputOf({ tools, reportedState: { [status]: { lamp: { power } } } }, policies, rights);
};

describe('publications', () => {
  it('send only what changed, and all again on request', () => {
    publications.put(lamp(true));
    expect(topics()).toEqual([config, 'flotilla/020000000001/availability', state]);
    publications.put(lamp(true));
    expect(topics()).toEqual([]);
    publications.put(lamp(false));
    expect(topics()).toEqual([state]);
    publications.repeat();
    expect(topics()).toHaveLength(3);
    publications.repeatState('020000000001');
    expect(topics()).not.toContain(config);
  });

  it('end an entity before it becomes another', () => {
    publications.put(lamp(true));
    topics();
    publications.put(lamp(true, { mayCall: false }));
    const [ending, present] = sent.map(([topic, payload]) => [topic, payload] as const);
    expect(ending?.[0]).toBe(config);
    expect(JSON.parse(ending?.[1] ?? '')).toMatchObject({ components: { switch_lamp_power: { platform: 'switch' } } });
    expect(JSON.parse(present?.[1] ?? '').components).not.toHaveProperty('switch_lamp_power');
  });

  it('remove a device with all its messages, once', () => {
    publications.put(lamp(true));
    topics();
    publications.remove('02:00:00:00:00:01');
    expect(sent.every(([, payload]) => payload === '')).toBe(true);
    expect(topics()).toContain(config);
    publications.remove('02:00:00:00:00:01');
    expect(topics()).toEqual([]);
    expect(publications.size).toBe(0);
  });

  it('remove what an earlier run left, and nothing else', () => {
    const kept = (change: object) =>
      JSON.stringify({
        origin: { name: 'Flotilla' },
        availability: [{ topic: 'flotilla/status' }],
        components: { number_gone: { platform: 'number' } },
        ...change,
      });
    const others = [
      kept({ origin: { name: 'Zigbee' } }),
      kept({ availability: [{ topic: 'other/status' }] }),
      '',
      '[',
      '7',
    ];
    const broken = [kept({ components: { sensor_a: null } }), kept({ components: 'none' }), kept({ components: 5 })];
    for (const payload of [...others, 'null', '{"availability":5}']) publications.reconcile(config, payload);
    publications.put(lamp(true));
    topics();
    for (const payload of broken) publications.reconcile(config, payload);
    expect(topics()).toEqual([]);
    publications.remove('02:00:00:00:00:01');
    topics();
    publications.reconcile('homeassistant/device/zigbee_1/config', kept({}));
    expect(topics()).toEqual([]);
    publications.reconcile(config, kept({}));
    expect(topics()).toContain(config);
    publications.put(lamp(true));
    topics();
    publications.reconcile(config, kept({}));
    expect(JSON.parse(sent[0]?.[1] ?? '').components['number_gone']).toEqual({ platform: 'number' });
    expect(topics()).toEqual([config, config]);
  });

  it('keep the samples that an earlier run knew until the device reports the next ones', () => {
    const former = {
      sensor_soil: { platform: 'sensor' },
      binary_sensor_wet: { platform: 'binary_sensor' },
      number_gone: { platform: 'number' },
    };
    const payload = JSON.stringify({
      origin: { name: 'Flotilla' },
      availability: [{ topic: 'flotilla/status' }],
      components: former,
    });
    publications.put(inputOf({ reportedState: {} }));
    topics();
    publications.reconcile(config, payload);
    const { components } = JSON.parse(sent[0]?.[1] ?? '');
    expect(components['number_gone']).toEqual({ platform: 'number' });
    expect(Object.keys(components)).not.toContain('sensor_soil');
    expect(Object.keys(components)).not.toContain('binary_sensor_wet');
  });
});
