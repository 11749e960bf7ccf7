/**
 * The MQTT messages about one device: device-based discovery, availability, state and update, all
 * retained. Field names are those of Home Assistant's documentation.
 */
import { componentOf } from './entity.js';
import type { Entity, Platform } from './entity.js';
import type { HomeDevice } from './home-device.js';
import { deviceSlug } from './slug.js';

/** The topics of one bridge. */
export interface TopicRoots {
  /** The discovery prefix of Home Assistant. */
  readonly prefix: string;
  /** Above all other topics of the bridge. */
  readonly base: string;
}

interface MqttMessage {
  readonly topic: string;
  readonly payload: string;
}

export const originName = 'Flotilla';

export const statusTopic = ({ base }: TopicRoots): string => `${base}/status`;
export const birthTopic = ({ prefix }: TopicRoots): string => `${prefix}/status`;
export const commandFilter = ({ base }: TopicRoots): string => `${base}/+/+/set`;
export const configFilter = ({ prefix }: TopicRoots): string => `${prefix}/device/+/config`;
export const configTopic = ({ prefix }: TopicRoots, slug: string): string => `${prefix}/device/flotilla_${slug}/config`;

/** The slug and component of a command; undefined for other topics. */
export function parseCommandTopic({ base }: TopicRoots, topic: string) {
  if (!topic.startsWith(`${base}/`) || !topic.endsWith('/set')) return undefined;
  const [slug, component, ...more] = topic.slice(base.length + 1, -'/set'.length).split('/');
  return slug === undefined || component === undefined || more.length > 0 ? undefined : { slug, component };
}

/** The topics below which a device has its messages. */
const topicsOf = ({ base }: TopicRoots, slug: string) => ({
  availability: `${base}/${slug}/availability`,
  state: `${base}/${slug}/state`,
  update: `${base}/${slug}/update`,
  command: (component: string) => `${base}/${slug}/${component}/set`,
});

const isMac = /^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/;

/** Everything about a device. Discovery is first: Home Assistant subscribes after it. */
export function messagesOf(roots: TopicRoots, device: HomeDevice, entities: readonly Entity[]): readonly MqttMessage[] {
  const slug = deviceSlug(device.id);
  const topics = topicsOf(roots, slug);
  const state = Object.fromEntries(
    entities.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value] as const])),
  );
  const update = { installed_version: device.firmwareVersion, latest_version: device.latestVersion };
  return [
    { topic: configTopic(roots, slug), payload: JSON.stringify(discoveryOf(roots, device, entities)) },
    { topic: topics.availability, payload: device.isOnline ? 'online' : 'offline' },
    { topic: topics.state, payload: JSON.stringify(state) },
    ...(entities.some(({ platform }) => platform === 'update')
      ? [{ topic: topics.update, payload: JSON.stringify(update) }]
      : []),
  ];
}

/** Empty retained messages remove a device from Home Assistant and from the broker. */
export function removalOf(roots: TopicRoots, slug: string): readonly MqttMessage[] {
  const { availability, state, update } = topicsOf(roots, slug);
  return [configTopic(roots, slug), availability, state, update].map((topic) => ({ topic, payload: '' }));
}

interface Discovery {
  readonly device: Readonly<Record<string, unknown>>;
  readonly origin: { readonly name: string };
  readonly availability: readonly { readonly topic: string }[];
  readonly availability_mode: 'all';
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export function discoveryOf(roots: TopicRoots, device: HomeDevice, entities: readonly Entity[]): Discovery {
  const slug = deviceSlug(device.id);
  const bridge = { topic: statusTopic(roots) };
  const components = entities.map((entity) => {
    const component = componentOf(entity);
    const config = {
      platform: entity.platform,
      unique_id: `flotilla_${slug}_${component}`,
      name: entity.name,
      ...entity.fields,
      ...stateFields(roots, slug, entity),
      ...(entity.writer !== undefined && { command_topic: topicsOf(roots, slug).command(component), qos: 1 }),
      // Whether the device is connected is known while it is not.
      ...(isConnectivity(entity) && { availability: [bridge] }),
    };
    return [component, config] as const;
  });
  return {
    device: {
      identifiers: [`flotilla_${slug}`],
      name: device.name ?? device.model ?? device.id,
      serial_number: device.id,
      ...(device.model !== undefined && { model: device.model }),
      ...(device.firmwareVersion !== undefined && { sw_version: device.firmwareVersion }),
      ...(isMac.test(device.id) && { connections: [['mac', device.id]] }),
    },
    origin: { name: originName },
    availability: [bridge, { topic: topicsOf(roots, slug).availability }],
    availability_mode: 'all',
    components: Object.fromEntries(components),
  };
}

const isConnectivity = ({ platform, value }: Entity): boolean => platform === 'binary_sensor' && value === undefined;

function stateFields(roots: TopicRoots, slug: string, entity: Entity): Readonly<Record<string, unknown>> {
  const { availability, state, update } = topicsOf(roots, slug);
  if (entity.platform === 'button') return {};
  if (entity.platform === 'update') return { state_topic: update };
  if (isConnectivity(entity)) return { state_topic: availability };
  return { state_topic: state, value_template: templateOf(entity) };
}

/** A text field would show an unknown value as the word None. */
function templateOf({ key, platform }: Entity): string {
  return `{{ value_json['${key}']${platform === 'text' ? " | default('', true)" : ''} }}`;
}

/**
 * A discovery message that also removes components: Home Assistant takes one with only a platform
 * as its end. Undefined if `former` has no component that `present` lacks.
 */
export function withoutFormer(present: Discovery, former: ReadonlyMap<string, Platform>): string | undefined {
  const ended = [...former].filter(([component]) => !Object.hasOwn(present.components, component));
  if (ended.length === 0) return undefined;
  const removed = Object.fromEntries(ended.map(([component, platform]) => [component, { platform }]));
  return JSON.stringify({ ...present, components: { ...present.components, ...removed } });
}
