import { describe, expect, it } from 'vitest';
import { ConfigError } from '../environment/config-error.js';
import { readConfig } from './config.js';

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const broker = { FLOTILLA_HOME_ASSISTANT_BROKER: 'mqtt://home.local:1883', FLOTILLA_HOME_ASSISTANT_KEY: 'secret' };

describe('the settings of Home Assistant', () => {
  it('are off without a broker, and have defaults with one', () => {
    expect(readConfig({}).homeAssistant).toBeUndefined();
    expect(readConfig(broker).homeAssistant).toEqual({
      broker: { url: 'mqtt://home.local:1883', username: undefined, password: undefined },
      key: 'secret',
      prefix: 'homeassistant',
      base: 'flotilla',
    });
  });

  it('leave out the line break at the end of key, user and password, as in secrets from files', () => {
    const account = { FLOTILLA_HOME_ASSISTANT_USERNAME: 'flotilla\n', FLOTILLA_HOME_ASSISTANT_PASSWORD: 'pw\n' };
    expect(
      readConfig({ ...broker, ...account, FLOTILLA_HOME_ASSISTANT_KEY: 'secret\r\n' }).homeAssistant,
    ).toMatchObject({
      broker: { username: 'flotilla', password: 'pw' },
      key: 'secret',
    });
  });

  it.each(['home.local', 'http://home.local', 'mqtt://', 'mqtt://home.local/path', 'mqtt://me:pw@home.local'])(
    'refuse the broker %s, and never repeat a password',
    (url) => {
      const [problem, ...more] = problemsOf({ ...broker, FLOTILLA_HOME_ASSISTANT_BROKER: url });
      expect(problem).toContain('FLOTILLA_HOME_ASSISTANT_BROKER must be mqtt://host:port or mqtts://host:port');
      expect(problem).not.toContain('pw');
      expect(more).toEqual([]);
    },
  );

  it.each(['a/', '/a', 'a//b', 'a/+', '#', 'ä'])('refuse the topic %s', (topic) => {
    expect(problemsOf({ ...broker, FLOTILLA_HOME_ASSISTANT_TOPIC: topic })[0]).toContain('must be a topic');
    expect(problemsOf({ ...broker, FLOTILLA_HOME_ASSISTANT_PREFIX: topic })[0]).toContain('must be a topic');
  });

  it('refuse what lacks a part, and topics that meet', () => {
    expect(problemsOf({ FLOTILLA_HOME_ASSISTANT_BROKER: broker.FLOTILLA_HOME_ASSISTANT_BROKER })).toEqual([
      'FLOTILLA_HOME_ASSISTANT_BROKER needs FLOTILLA_HOME_ASSISTANT_KEY, a key of this hub.',
    ]);
    expect(problemsOf({ FLOTILLA_HOME_ASSISTANT_KEY: 'x', FLOTILLA_HOME_ASSISTANT_TOPIC: 'y' })).toEqual([
      'FLOTILLA_HOME_ASSISTANT_KEY needs FLOTILLA_HOME_ASSISTANT_BROKER.',
      'FLOTILLA_HOME_ASSISTANT_TOPIC needs FLOTILLA_HOME_ASSISTANT_BROKER.',
    ]);
    expect(problemsOf({ ...broker, FLOTILLA_HOME_ASSISTANT_PASSWORD: 'x' })[0]).toContain('_USERNAME');
    expect(problemsOf({ ...broker, FLOTILLA_HOME_ASSISTANT_TOPIC: 'homeassistant' })[0]).toContain('must differ');
  });
});
