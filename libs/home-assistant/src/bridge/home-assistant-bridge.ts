/**
 * Publishes the devices of one API key to Home Assistant, and carries out its commands. Of all
 * workers only the oldest one does it, so that no command runs twice.
 */
import type { EventFeed, FeedEvent } from '@flotilla/bus';
import type { Fleet, FleetLogger } from '@flotilla/fleet';
import { principalRef } from '@flotilla/registry';
import type { Principal, Registry } from '@flotilla/registry';
import type { Clock } from '@flotilla/session';
import { birthTopic, commandFilter, configFilter, parseCommandTopic, statusTopic } from '../mapping/messages.js';
import type { TopicRoots } from '../mapping/messages.js';
import { deviceSlug } from '../mapping/slug.js';
import { CommandRunner } from './command-runner.js';
import type { CommandResult } from './command-runner.js';
import { DeviceReader } from './device-reader.js';
import type { ReadHome } from './device-reader.js';
import { HomeCommands } from './home-commands.js';
import { KnownValues } from './known-values.js';
import { MqttLink } from './mqtt-link.js';
import type { BrokerAccess, LinkOptions } from './mqtt-link.js';
import { Publications } from './publications.js';

/** The settings of the bridge. */
interface HomeAssistantSettings extends TopicRoots {
  readonly broker: BrokerAccess;
  /** The secret of the API key. */
  readonly key: string;
}

export interface HomeAssistantDeps {
  readonly settings: HomeAssistantSettings;
  readonly registry: Pick<Registry, 'apiKeys' | 'firmwareImages' | 'isEldest' | 'toolPolicies' | 'viewFor'>;
  readonly fleet: Pick<Fleet, 'callTool' | 'createJob'>;
  readonly feed: Pick<EventFeed, 'subscribe'>;
  readonly clock: Clock;
  readonly logger: FleetLogger;
  /** Connects to the broker over MQTT unless given. */
  readonly openLink?: (options: LinkOptions) => BrokerLink;
}

type BrokerLink = Pick<MqttLink, 'isConnected' | 'publish' | 'close'>;

/** How often a process looks whether it should publish, ms. */
const electEveryMs = 5_000;
/** Changes gather for so long, ms. */
const gatherMs = 200;
/** Groups, images and keys change without a message, ms. */
const refreshEveryMs = 60_000;
const retryMs = 5_000;
const dirtyPerReadMax = 250;
/** Home Assistant is not made for more. */
const devicesMax = 1_000;

export class HomeAssistantBridge {
  readonly #reader: DeviceReader;
  readonly #commands: HomeCommands;
  readonly #publications: Publications;
  readonly #values = new KnownValues();
  readonly #dirty = new Set<string>();
  readonly #retained = new Map<string, string>();
  readonly #cancels = new Map<string, () => void>();
  #unsubscribe: readonly (() => void)[] = [];
  #link: BrokerLink | undefined;
  #principal: Principal | undefined;
  #isFullWanted = false;
  #isWorking = false;
  #isStopped = false;
  #isCutReported = false;
  #isKeyReported = false;
  #electing: Promise<void> = Promise.resolve();

  constructor(private readonly deps: HomeAssistantDeps) {
    const { clock, fleet, logger, registry, settings } = deps;
    const valuesOf = (deviceId: string) => this.#values.of(deviceId);
    this.#reader = new DeviceReader({ registry, clock, devicesMax, valuesOf });
    this.#publications = new Publications(settings, (topic, payload) => this.#link?.publish(topic, payload));
    this.#commands = new HomeCommands({
      publications: this.#publications,
      clock,
      logger,
      runner: new CommandRunner({ fleet, reader: this.#reader, logger }),
      authenticate: () => registry.apiKeys.authenticate(settings.key),
      onSucceeded: (deviceId, call) => {
        // By now another process may set values that this one does not learn of.
        if (this.#link === undefined) return;
        if (call?.property !== undefined) this.#values.set(deviceId, call.property, call.value);
        this.#changed(deviceId);
      },
    });
  }

  /** Commands by result, for metrics. */
  get commands(): ReadonlyMap<CommandResult, number> {
    return this.#commands.counts;
  }

  get devices(): number {
    return this.#publications.size;
  }

  get isConnected(): boolean {
    return this.#link?.isConnected ?? false;
  }

  start(): void {
    const { feed } = this.deps;
    this.#unsubscribe = [
      feed.subscribe('device', ({ deviceId, presence }) => {
        // A device that came online may have restarted before its end was noticed.
        if (presence !== undefined) this.#values.forget(deviceId);
        this.#changed(deviceId);
      }),
      feed.subscribe('event', (event) => this.#sampled(event)),
      feed.subscribe('policy', () => this.#refreshSoon()),
      feed.subscribe('access', ({ principal }) => {
        if (this.#principal !== undefined && principal === principalRef(this.#principal)) this.#electSoon(0);
      }),
    ];
    this.#electSoon(0);
    this.#refreshLater();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    for (const cancel of this.#cancels.values()) cancel();
    await this.#electing;
    await this.#close();
  }

  #after(name: string, delayMs: number, work: () => void): void {
    if (this.#isStopped || this.#cancels.has(name)) return;
    const wake = (): void => {
      this.#cancels.delete(name);
      work();
    };
    this.#cancels.set(name, this.deps.clock.setTimer(delayMs, wake));
  }

  #electSoon(delayMs: number): void {
    this.#cancels.get('elect')?.();
    this.#cancels.delete('elect');
    this.#after('elect', delayMs, () => {
      this.#electing = this.#electing.then(() => this.#elect());
      void this.#electing.then(() => this.#electSoon(electEveryMs));
    });
  }

  /** Opens or closes the connection. While PostgreSQL does not answer, all stays as it is. */
  async #elect(): Promise<void> {
    const { logger, registry, settings } = this.deps;
    try {
      const principal = await registry.apiKeys.authenticate(settings.key);
      this.#principal = principal;
      if (principal === undefined && !this.#isKeyReported)
        logger.error({}, 'FLOTILLA_HOME_ASSISTANT_KEY is not a valid key of this hub: nothing is published');
      this.#isKeyReported = principal === undefined;
      const isOurs = principal !== undefined && (await registry.isEldest('worker'));
      if (this.#isStopped || isOurs === (this.#link !== undefined)) return;
      if (isOurs) this.#open();
      else await this.#close();
    } catch (error) {
      logger.warn({ err: error }, 'could not find out whether this process serves Home Assistant; tries again');
    }
  }

  #open(): void {
    const { logger, settings, openLink = (options: LinkOptions) => new MqttLink(options) } = this.deps;
    this.#link = openLink({
      access: settings.broker,
      logger,
      statusTopic: statusTopic(settings),
      clientId: `flotilla_${settings.base.replaceAll('/', '_')}`,
      filters: [commandFilter(settings), birthTopic(settings)],
      retainedFilter: configFilter(settings),
      markerTopic: `${settings.base}/marker`,
      onReady: () => {
        this.#publications.repeat();
        this.#refreshSoon();
      },
      onMessage: (topic, payload, isRetained) => this.#received(topic, payload, isRetained),
    });
  }

  async #close(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    this.#publications.clear();
    this.#values.clear();
    this.#retained.clear();
    this.#commands.clear();
    await link?.close();
  }

  #received(topic: string, payload: string, isRetained: boolean): void {
    const { settings } = this.deps;
    const command = parseCommandTopic(settings, topic);
    if (topic === birthTopic(settings)) {
      if (payload === 'online') this.#after('repeat', gatherMs, () => this.#publications.repeat());
    } else if (command === undefined) this.#retained.set(topic, payload);
    // A retained command would run again at each connect.
    else if (!isRetained) this.#commands.take({ ...command, payload });
  }

  #sampled({ type, deviceId, data }: FeedEvent): void {
    if (type !== 'device.samples' || deviceId === undefined || this.#link === undefined) return;
    if (this.#publications.find(deviceSlug(deviceId)) === undefined) return;
    if (this.#values.sampled(deviceId, data)) this.#changed(deviceId);
  }

  #changed(deviceId: string): void {
    if (this.#link === undefined) return;
    this.#dirty.add(deviceId);
    this.#after('work', gatherMs, () => void this.#work());
  }

  #refreshSoon(): void {
    this.#reader.forget();
    this.#isFullWanted = true;
    this.#after('work', gatherMs, () => void this.#work());
  }

  #refreshLater(): void {
    this.#after('refresh', refreshEveryMs, () => {
      this.#refreshSoon();
      this.#refreshLater();
    });
  }

  async #work(): Promise<void> {
    // After a failure, changes wait for the retry.
    if (this.#isWorking || this.#cancels.has('retry')) return;
    this.#isWorking = true;
    try {
      while (this.#hasWork) await this.#step();
    } catch (error) {
      this.#isFullWanted = true;
      this.deps.logger.warn({ err: error }, 'could not read the devices for Home Assistant; tries again');
      this.#after('retry', retryMs, () => void this.#work());
    } finally {
      this.#isWorking = false;
      if (this.#hasWork) this.#after('work', gatherMs, () => void this.#work());
    }
  }

  get #hasWork(): boolean {
    return this.#link !== undefined && !this.#isStopped && (this.#isFullWanted || this.#dirty.size > 0);
  }

  async #step(): Promise<void> {
    const principal = this.#principal;
    const link = this.#link;
    if (principal === undefined || link === undefined) return;
    const isFull = this.#isFullWanted;
    this.#isFullWanted = false;
    const asked = isFull ? [...this.#dirty] : [...this.#dirty].slice(0, dirtyPerReadMax);
    for (const id of asked) this.#dirty.delete(id);
    const read = await (isFull ? this.#reader.all(principal) : this.#reader.some(principal, asked));
    // Another process may publish by now.
    if (this.#link !== link) return;
    this.#publish(read, isFull ? this.#publications.ids : asked);
    if (isFull) this.#endFull(read);
  }

  /** Devices of `asked` that were not read are no longer there for the key. */
  #publish({ devices, rights, policyOf }: ReadHome, asked: readonly string[]): void {
    const present = new Set(devices.map(({ id }) => id));
    for (const id of asked) {
      if (present.has(id)) continue;
      this.#publications.remove(id);
      this.#values.drop(id);
    }
    for (const device of devices)
      if (this.#publications.size < devicesMax || this.#publications.find(deviceSlug(device.id)) !== undefined)
        this.#publications.put({ device, rights, policyOf });
  }

  #endFull({ isCut }: ReadHome): void {
    for (const [topic, payload] of this.#retained) this.#publications.reconcile(topic, payload);
    this.#retained.clear();
    if (isCut && !this.#isCutReported)
      this.deps.logger.warn({ devicesMax }, 'Home Assistant gets only the first devices of the key: limit the key');
    this.#isCutReported = isCut;
  }
}
