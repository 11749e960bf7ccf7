/** Metrics of the bridge to Home Assistant. */
import { Gauge, type Registry } from 'prom-client';
import { addTotals } from './metric-kinds.js';

/** Sources about the bridge to Home Assistant. */
export interface HomeAssistantSources {
  readonly commands: ReadonlyMap<string, number>;
  readonly devices: number;
  readonly isConnected: boolean;
}

export function addHomeAssistantMetrics(registry: Registry, bridge: HomeAssistantSources): void {
  const commands = {
    name: 'flotilla_home_assistant_commands_total',
    help: 'Commands of Home Assistant by result.',
    label: 'result',
  };
  addTotals(registry, commands, () => bridge.commands);
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
