import { defaultToolPolicy } from '@flotilla/jobs';
import { describe, expect, it } from 'vitest';
import { entitiesOf } from './entities.js';
import { componentOf } from './entity.js';
import { inputOf, readAt, status, toolOf } from './home-device.suite.js';

const find = (input: Parameters<typeof entitiesOf>[0], component: string) =>
  entitiesOf(input).find((entity) => componentOf(entity) === component);

describe('a property that a tool sets', () => {
  it.each([
    [{ type: 'integer', minimum: 0, maximum: 100 }, 30, 'number', { min: 0, max: 100, step: 1, mode: 'auto' }, 30],
    [{ type: 'number', minimum: 0, maximum: 1, multipleOf: 0.1 }, '0.5', 'number', { step: 0.1 }, 0.5],
    [{ type: 'integer' }, 7, 'number', { min: -1_000_000, max: 1_000_000, mode: 'box' }, 7],
    [{ type: 'integer', minimum: 0, maximum: 100 }, 101, 'number', {}, null],
    [{ type: 'boolean' }, true, 'switch', { payload_on: 'ON' }, 'ON'],
    [{ type: 'boolean' }, 'yes', 'switch', {}, null],
    [{ type: 'string', enum: ['light', 'dark'] }, 'dark', 'select', { options: ['light', 'dark'] }, 'dark'],
    [{ type: 'string', enum: ['light', 'dark'] }, 'blue', 'select', {}, null],
    [{ type: 'string', maxLength: 20 }, 'dark', 'text', { min: 0, max: 20 }, 'dark'],
  ])('with the schema %j and the value %j is a %s', (schema, value, platform, fields, shown) => {
    const tools = [toolOf('self.lamp.set', { power: schema })];
    const input = inputOf(
      { tools, reportedState: { [status]: { lamp: { power: value } } } },
      { 'self.lamp.set': readAt('lamp.power', 'power') },
    );
    const entity = find(input, `${platform}_lamp_power`);
    expect(entity).toMatchObject({ name: 'Lamp power', value: shown, writer: { tool: 'self.lamp.set' } });
    expect(entity?.fields).toMatchObject(fields);
  });

  it('is a sensor if the key may not call tools', () => {
    const tools = [toolOf('self.lamp.set', { power: { type: 'boolean' } })];
    const state = { reportedState: { [status]: { lamp: { power: true } } }, tools };
    const policies = { 'self.lamp.set': readAt('lamp.power', 'power') };
    const components = entitiesOf(inputOf(state, policies, { mayCall: false })).map(componentOf);
    expect(components).toEqual(['binary_sensor_lamp_power', 'sensor_firmware', 'binary_sensor_connected']);
  });

  it.each([
    ['needs a second argument', toolOf('self.lamp.set', { power: { type: 'boolean' }, room: { type: 'string' } })],
    ['is a secret', toolOf('self.lamp.set', { password: { type: 'string' } })],
    ['takes an object', toolOf('self.lamp.set', { power: { type: 'object' } })],
    ['has one possible number', toolOf('self.lamp.set', { power: { type: 'integer', minimum: 3, maximum: 3 } })],
  ])('has no control if it %s', (_what, tool) => {
    const argument = Object.keys(tool.inputSchema['properties'] as object)[0] ?? '';
    const policies = { 'self.lamp.set': readAt('lamp.power', argument) };
    const entities = entitiesOf(inputOf({ tools: [tool] }, policies));
    expect(entities.filter(({ writer }) => writer !== undefined)).toEqual([]);
  });

  it('shows what was set if no status tool reports it', () => {
    const tools = [toolOf('self.lamp.set', { power: { type: 'boolean' } })];
    const setValues = new Map([[`${status} lamp.power`, false]]);
    const input = inputOf({ tools, setValues }, { 'self.lamp.set': readAt('lamp.power', 'power') });
    expect(find(input, 'switch_lamp_power')?.value).toBe('OFF');
  });
});

describe('a reported value', () => {
  it('is a sensor with what its name says about it', () => {
    const battery = { level: 80, charging: false };
    const network = { ssid: 'home', password: 'secret', ips: ['10.0.0.1'] };
    const input = inputOf({ reportedState: { [status]: { battery, chip: { temperature: 40.5 }, network } } });
    expect(find(input, 'sensor_battery_level')).toMatchObject({ value: 80, fields: { unit_of_measurement: '%' } });
    expect(find(input, 'binary_sensor_battery_charging')).toMatchObject({ value: 'OFF' });
    expect(find(input, 'sensor_chip_temperature')).toMatchObject({ fields: { device_class: 'temperature' } });
    expect(find(input, 'sensor_network_ssid')).toMatchObject({ value: 'home', fields: {} });
    expect(JSON.stringify(entitiesOf(input))).not.toContain('secret');
  });

  it('keeps its key apart from another with the same letters', () => {
    const state = { 'a.b': 1, a: { b: 2 }, 'a b': 3 };
    const keys = entitiesOf(inputOf({ reportedState: { [status]: state } })).map(({ key }) => key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('of a microcontroller is its latest sample', () => {
    const entity = find(inputOf({ samples: new Map([['Room humidity', 45]]) }), 'sensor_room_humidity');
    expect(entity).toMatchObject({ name: 'Room humidity', value: 45 });
  });
});

describe('buttons', () => {
  const reboot = { ...toolOf('self.reboot'), userOnly: true };
  const policies = {
    'self.reboot': { ...defaultToolPolicy, disruptive: true, verification: 'REBOOT' },
    'self.erase': { ...defaultToolPolicy, disruptive: true },
    'self.home': { ...defaultToolPolicy, idempotent: true },
  } as const;
  const tools = [
    reboot,
    ...['self.erase', 'self.home', 'self.dog.jump', 'self.get_system_info'].map((name) => toolOf(name)),
  ];
  const buttons = (rights: Parameters<typeof inputOf>[2]) =>
    entitiesOf(inputOf({ tools }, policies, rights)).filter(({ platform }) => platform === 'button');

  it('are the restart, and tools without arguments that change something and do no harm', () => {
    expect(buttons({}).map(({ key, fields }) => [key, fields['enabled_by_default'] ?? true])).toEqual([
      ['reboot', true],
      ['home', true],
      ['dog_jump', false],
    ]);
  });

  it('need the rights of the key', () => {
    expect(buttons({ mayCallUserOnly: false }).map(({ key }) => key)).toEqual(['home', 'dog_jump']);
    expect(buttons({ mayCall: false })).toEqual([]);
  });
});

it('an update is offered only with the rights for a roll-out', () => {
  const device = { latestVersion: '2.2.0' };
  expect(find(inputOf(device), 'update_update')?.writer).toEqual({ kind: 'install' });
  expect(find(inputOf(device, {}, { mayUpdate: false }), 'update_update')).not.toHaveProperty('writer');
  expect(find(inputOf({}), 'update_update')).toBeUndefined();
});

describe('the key of an entity', () => {
  const keysWith = (...names: string[]) =>
    entitiesOf(inputOf({ samples: new Map(names.map((name) => [name, 1])) })).map(componentOf);

  it('stays, although a sample that comes later has the same name', () => {
    expect(keysWith()).toEqual(['sensor_firmware', 'binary_sensor_connected']);
    expect(keysWith('firmware', 'connected')).toEqual(expect.arrayContaining(keysWith()));
    expect(new Set(keysWith('firmware', 'connected', 'update')).size).toBe(5);
  });

  it('stays that of the first sample, although another one with the same slug comes', () => {
    expect(keysWith('room a', 'Room A')).toEqual(expect.arrayContaining(keysWith('room a')));
  });
});
