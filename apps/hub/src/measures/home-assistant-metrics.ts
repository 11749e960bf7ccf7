/** Metrics of the bridge to Home Assistant. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Sources about the bridge to Home Assistant. */
export interface HomeAssistantSources {
  readonly commands: ReadonlyMap<string, number>;
  readonly devices: number;
  readonly isConnected: boolean;
}

export function addHomeAssistantMetrics(registry: Registry, bridge: HomeAssistantSources): void {
  new Counter({
    name: 'flotilla_home_assistant_commands_total',
    help: 'Commands of Home Assistant by result.',
    labelNames: ['result'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [result, count] of bridge.commands) this.inc({ result }, count);
    },
  });
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge('flotilla_home_assistant_devices', 'Devices that this process publishes.', () => bridge.devices);
  gauge('flotilla_home_assistant_connected', 'Whether the broker is connected.', () => Number(bridge.isConnected));
}
