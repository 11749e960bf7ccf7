import { describe, expect, it } from 'vitest';
import { commandOf } from './command.js';
import { entitiesOf } from './entities.js';
import { componentOf } from './entity.js';
import { inputOf, readAt, toolOf } from './home-device.suite.js';

const schemas = {
  number: { type: 'integer', minimum: 0, maximum: 100 },
  switch: { type: 'boolean' },
  select: { type: 'string', enum: ['light', 'dark'] },
  text: { type: 'string', minLength: 1, maxLength: 5 },
};

function entityOf(platform: string) {
  const schema = schemas[platform as keyof typeof schemas];
  const tools = [toolOf('self.lamp.set', { level: schema }), toolOf('self.wave')];
  const input = inputOf({ tools, latestVersion: '3.0.0' }, { 'self.lamp.set': readAt('lamp.level', 'level') });
  const entity = entitiesOf(input).find((each) => componentOf(each).startsWith(`${platform}_`));
  if (entity === undefined) throw new TypeError(platform);
  return entity;
}

describe('a command', () => {
  it.each([
    ['number', '0', 0],
    ['number', '-0', 0],
    ['number', '100', 100],
    ['number', '30.0', 30],
    ['switch', 'ON', true],
    ['switch', 'OFF', false],
    ['select', 'dark', 'dark'],
    ['text', 'hello', 'hello'],
    ['text', '💡💡💡💡💡', '💡💡💡💡💡'],
  ])('to a %s with %j becomes a call', (platform, payload, value) => {
    const command = commandOf(entityOf(platform), payload);
    expect(command).toMatchObject({ kind: 'call', tool: 'self.lamp.set', arguments: { level: value } });
  });

  it.each([
    ['number', ''],
    ['number', 'loud'],
    ['number', '1e1'],
    ['number', '0x10'],
    ['number', ' 5'],
    ['number', '30.5'],
    ['number', '-1'],
    ['number', '101'],
    ['number', '9'.repeat(400)],
    ['switch', 'on'],
    ['switch', 'true'],
    ['select', 'blue'],
    ['text', ''],
    ['text', 'too long'],
    ['text', '💡💡💡💡💡💡'],
    ['text', 'x'.repeat(100_000)],
    ['button', ''],
    ['button', 'ON'],
    ['update', 'latest'],
    ['sensor', '2.0'],
  ])('to a %s with the payload %j is invalid', (platform, payload) => {
    expect(commandOf(entityOf(platform), payload)).toMatchObject({ kind: 'invalid' });
  });

  it('presses a button, and installs an update', () => {
    expect(commandOf(entityOf('button'), 'PRESS')).toMatchObject({ kind: 'call', tool: 'self.wave', arguments: {} });
    expect(commandOf(entityOf('update'), 'install')).toEqual({ kind: 'install' });
  });
});
