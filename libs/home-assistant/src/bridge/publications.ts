/**
 * What the bridge has published. Sends only what changed, everything again on request, and removes
 * what an earlier run left on the broker.
 */
import { entitiesOf } from '../mapping/entities.js';
import { componentOf } from '../mapping/entity.js';
import type { Entity, Platform } from '../mapping/entity.js';
import type { HomeDevice, MappingInput } from '../mapping/home-device.js';
import { configTopic, discoveryOf, messagesOf, originName, removalOf, withoutFormer } from '../mapping/messages.js';
import type { TopicRoots } from '../mapping/messages.js';
import { deviceSlug } from '../mapping/slug.js';

interface Published {
  readonly device: HomeDevice;
  readonly entities: ReadonlyMap<string, Entity>;
  /** Payloads by topic. */
  readonly messages: ReadonlyMap<string, string>;
}

type Publish = (topic: string, payload: string) => void;

export class Publications {
  readonly #bySlug = new Map<string, Published>();

  constructor(
    private readonly roots: TopicRoots,
    private readonly publish: Publish,
  ) {}

  get size(): number {
    return this.#bySlug.size;
  }

  /** The ids of all published devices. */
  get ids(): readonly string[] {
    return [...this.#bySlug.values()].map(({ device }) => device.id);
  }

  find(slug: string): Published | undefined {
    return this.#bySlug.get(slug);
  }

  /** Sends what differs from the messages before. */
  put(input: MappingInput): void {
    const { device } = input;
    const slug = deviceSlug(device.id);
    const entities = entitiesOf(input);
    const messages = new Map(messagesOf(this.roots, device, entities).map(({ topic, payload }) => [topic, payload]));
    const former = this.#bySlug.get(slug);
    const byComponent = new Map(entities.map((entity) => [componentOf(entity), entity]));
    this.#bySlug.set(slug, { device, entities: byComponent, messages });
    if (former !== undefined) this.#endComponents(device, entities, platformsOf(former.entities));
    for (const [topic, payload] of messages) if (former?.messages.get(topic) !== payload) this.publish(topic, payload);
  }

  remove(deviceId: string): void {
    const slug = deviceSlug(deviceId);
    if (this.#bySlug.delete(slug)) this.#removeSlug(slug);
  }

  /** Sends everything again, as at a connect and after a start of Home Assistant. */
  repeat(): void {
    for (const { messages } of this.#bySlug.values())
      for (const [topic, payload] of messages) this.publish(topic, payload);
  }

  /** Sends the state of one device again, so that Home Assistant shows the true value. */
  repeatState(slug: string): void {
    const config = configTopic(this.roots, slug);
    for (const [topic, payload] of this.#bySlug.get(slug)?.messages ?? [])
      if (topic !== config) this.publish(topic, payload);
  }

  /** Forgets all without a message: another process publishes from now on. */
  clear(): void {
    this.#bySlug.clear();
  }

  /** Takes a discovery message that the broker kept, and removes what is no longer there. */
  reconcile(topic: string, payload: string): void {
    const slug = /\/device\/flotilla_([a-z0-9_-]+)\/config$/.exec(topic)?.[1];
    if (slug === undefined || topic !== configTopic(this.roots, slug)) return;
    const former = parseFormer(this.roots, payload);
    if (former === undefined) return;
    const known = this.#bySlug.get(slug);
    if (known === undefined) this.#removeSlug(slug);
    else this.#endComponents(known.device, [...known.entities.values()], withoutSamples(known.device, former));
  }

  #endComponents(device: HomeDevice, entities: readonly Entity[], former: ReadonlyMap<string, Platform>): void {
    const present = discoveryOf(this.roots, device, entities);
    const ending = withoutFormer(present, former);
    if (ending === undefined) return;
    const topic = configTopic(this.roots, deviceSlug(device.id));
    this.publish(topic, ending);
    this.publish(topic, JSON.stringify(present));
  }

  #removeSlug(slug: string): void {
    for (const { topic, payload } of removalOf(this.roots, slug)) this.publish(topic, payload);
  }
}

/**
 * Samples are not stored. After a start, this process learns a series from its next sample. Until
 * then Home Assistant keeps the entities, with the names and places that people gave them.
 */
function withoutSamples(
  { reportedState }: HomeDevice,
  former: ReadonlyMap<string, Platform>,
): ReadonlyMap<string, Platform> {
  // Only boards with a status tool report a state, and they have no samples.
  if (Object.keys(reportedState).length > 0) return former;
  return new Map([...former].filter(([, platform]) => platform !== 'sensor' && platform !== 'binary_sensor'));
}

function platformsOf(entities: ReadonlyMap<string, Entity>): ReadonlyMap<string, Platform> {
  return new Map([...entities].map(([component, { platform }]) => [component, platform]));
}

/** The components of a message of this bridge; undefined for those of others. */
function parseFormer({ base }: TopicRoots, payload: string): ReadonlyMap<string, Platform> | undefined {
  let message: unknown;
  try {
    message = JSON.parse(payload);
  } catch {
    return undefined;
  }
  const { origin, availability, components } = (message ?? {}) as {
    readonly origin?: { readonly name?: unknown };
    readonly availability?: readonly { readonly topic?: unknown }[];
    readonly components?: Readonly<Record<string, { readonly platform?: Platform } | null>>;
  };
  const isOurs =
    origin?.name === originName && Array.isArray(availability) && availability[0]?.topic === `${base}/status`;
  if (!isOurs) return undefined;
  return new Map(
    Object.entries(components ?? {}).flatMap(([component, former]) =>
      typeof former?.platform === 'string' ? [[component, former.platform] as const] : [],
    ),
  );
}
