/** Home Assistant as the broker sees it: subscribes to all, and keeps the latest messages. */
import { connectAsync, type MqttClient } from 'mqtt';

export interface DiscoveredComponent {
  readonly platform: string;
  readonly unique_id?: string;
  readonly command_topic?: string;
  readonly state_topic?: string;
  readonly [field: string]: unknown;
}

export interface DiscoveredDevice {
  readonly device: { readonly identifiers: readonly string[]; readonly name: string; readonly serial_number: string };
  readonly components: Readonly<Record<string, DiscoveredComponent>>;
  readonly availability: readonly { readonly topic: string }[];
}

export class HomeAssistant {
  /** The latest payloads by topic; removed ones are absent. */
  readonly messages = new Map<string, string>();
  /** Messages by topic, removals included; specs clear it to count from a moment on. */
  readonly counts = new Map<string, number>();

  private constructor(private readonly client: MqttClient) {
    client.on('message', (topic, payload) => {
      this.counts.set(topic, (this.counts.get(topic) ?? 0) + 1);
      if (payload.length === 0) this.messages.delete(topic);
      else this.messages.set(topic, payload.toString());
    });
  }

  static async connect(url: string): Promise<HomeAssistant> {
    const client = await connectAsync(url, { reconnectPeriod: 200 });
    const home = new HomeAssistant(client);
    await client.subscribeAsync(['homeassistant/#', 'flotilla/#'], { qos: 0 });
    return home;
  }

  /** The devices by id. */
  get devices(): ReadonlyMap<string, DiscoveredDevice> {
    const configs = [...this.messages].filter(([topic]) => /^homeassistant\/device\/[^/]+\/config$/.test(topic));
    const devices = configs.map(([, payload]) => JSON.parse(payload) as DiscoveredDevice);
    return new Map(devices.map((device) => [device.device.serial_number, device]));
  }

  /** The component of a device; throws if it is missing. */
  component(deviceId: string, name: string): DiscoveredComponent {
    const found = this.devices.get(deviceId)?.components[name];
    if (found === undefined) throw new Error(`There is no ${name} of ${deviceId}.`);
    return found;
  }

  /** The value that a component shows, as its template takes it from the state message. */
  valueOf(deviceId: string, name: string): unknown {
    const { state_topic: topic = '', value_template: template } = this.component(deviceId, name);
    const payload = this.messages.get(topic);
    const key = /^\{\{ value_json\['([a-z0-9_-]+)'\]/.exec(String(template))?.[1];
    if (payload === undefined || key === undefined) return payload;
    return (JSON.parse(payload) as Readonly<Record<string, unknown>>)[key];
  }

  /** Whether all availability topics of the device are `online`. */
  isAvailable(deviceId: string): boolean {
    const topics = this.devices.get(deviceId)?.availability ?? [];
    return topics.length > 0 && topics.every(({ topic }) => this.messages.get(topic) === 'online');
  }

  async command(deviceId: string, name: string, payload: string): Promise<void> {
    await this.client.publishAsync(this.component(deviceId, name).command_topic ?? '', payload, { qos: 1 });
  }

  async publish(topic: string, payload: string, retain = false): Promise<void> {
    await this.client.publishAsync(topic, payload, { qos: 1, retain });
  }

  /** Home Assistant has started: it announces itself, and waits for everything. */
  async birth(): Promise<void> {
    this.counts.clear();
    await this.publish('homeassistant/status', 'online');
  }

  async stop(): Promise<void> {
    await this.client.endAsync(true);
  }
}
