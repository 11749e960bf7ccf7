/** Settings of the bridge to Home Assistant. It runs only with a broker. */
import type { z } from 'zod';
import { checked, secretLine } from './setting-kinds.js';

/** Topics are parts with slashes between them; `+` and `#` are wildcards of MQTT. */
const topic = checked((text) =>
  /^[\w-]+(\/[\w-]+)*$/.test(text) ? undefined : 'must be a topic of letters, digits, _ and -, such as flotilla/attic',
);

export const homeAssistantSettings = {
  FLOTILLA_HOME_ASSISTANT_BROKER: checked(brokerProblem),
  FLOTILLA_HOME_ASSISTANT_USERNAME: secretLine,
  FLOTILLA_HOME_ASSISTANT_PASSWORD: secretLine,
  FLOTILLA_HOME_ASSISTANT_KEY: secretLine,
  FLOTILLA_HOME_ASSISTANT_PREFIX: topic,
  FLOTILLA_HOME_ASSISTANT_TOPIC: topic,
};

export interface HomeAssistantConfig {
  readonly broker: {
    readonly url: string;
    readonly username: string | undefined;
    readonly password: string | undefined;
  };
  /** The secret of an API key: its filter chooses the devices, its scopes the commands. */
  readonly key: string;
  /** The discovery prefix of Home Assistant. */
  readonly prefix: string;
  /** Above all other topics; two hubs on one broker need different ones. */
  readonly base: string;
}

type Values = z.infer<z.ZodObject<typeof homeAssistantSettings>>;

function brokerProblem(text: string): string | undefined {
  const rule = 'must be mqtt://host:port or mqtts://host:port';
  if (!URL.canParse(text)) return rule;
  const { hash, hostname, password, pathname, protocol, search, username } = new URL(text);
  if (username !== '' || password !== '')
    return `${rule}; set FLOTILLA_HOME_ASSISTANT_USERNAME and FLOTILLA_HOME_ASSISTANT_PASSWORD for user and password`;
  const isPlain = hostname !== '' && hash === '' && search === '' && (pathname === '' || pathname === '/');
  return isPlain && (protocol === 'mqtt:' || protocol === 'mqtts:') ? undefined : rule;
}

export function homeAssistantOf(values: Values): HomeAssistantConfig | undefined {
  const url = values.FLOTILLA_HOME_ASSISTANT_BROKER;
  if (url === undefined) return undefined;
  return {
    broker: {
      url,
      username: values.FLOTILLA_HOME_ASSISTANT_USERNAME,
      password: values.FLOTILLA_HOME_ASSISTANT_PASSWORD,
    },
    key: values.FLOTILLA_HOME_ASSISTANT_KEY ?? '',
    prefix: values.FLOTILLA_HOME_ASSISTANT_PREFIX ?? 'homeassistant',
    base: values.FLOTILLA_HOME_ASSISTANT_TOPIC ?? 'flotilla',
  };
}

export function homeAssistantContradictions(values: Values): string[] {
  const { FLOTILLA_HOME_ASSISTANT_BROKER: broker, FLOTILLA_HOME_ASSISTANT_KEY: key, ...others } = values;
  if (broker === undefined) {
    const given = Object.entries({ FLOTILLA_HOME_ASSISTANT_KEY: key, ...others }).flatMap(([name, value]) =>
      name in homeAssistantSettings && value !== undefined ? [name] : [],
    );
    return given.map((name) => `${name} needs FLOTILLA_HOME_ASSISTANT_BROKER.`);
  }
  const problems: string[] = [];
  if (key === undefined)
    problems.push('FLOTILLA_HOME_ASSISTANT_BROKER needs FLOTILLA_HOME_ASSISTANT_KEY, a key of this hub.');
  if (others.FLOTILLA_HOME_ASSISTANT_PASSWORD !== undefined && others.FLOTILLA_HOME_ASSISTANT_USERNAME === undefined)
    problems.push('FLOTILLA_HOME_ASSISTANT_PASSWORD needs FLOTILLA_HOME_ASSISTANT_USERNAME.');
  const base = others.FLOTILLA_HOME_ASSISTANT_TOPIC ?? 'flotilla';
  if (base === (others.FLOTILLA_HOME_ASSISTANT_PREFIX ?? 'homeassistant'))
    problems.push('FLOTILLA_HOME_ASSISTANT_TOPIC must differ from FLOTILLA_HOME_ASSISTANT_PREFIX.');
  return problems;
}
