/** What a gateway of a spec needs of its hub: a database, a registry with a lease, and a bus. */
import { localBus } from '@flotilla/bus';
import type { Bus } from '@flotilla/bus';
import { noTicks } from '@flotilla/bus/no-ticks';
import { openRegistry } from '@flotilla/registry';
import type { ProcessLease, Registry } from '@flotilla/registry';
import { openTestDatabase } from '@flotilla/registry/test-database';
import { afterAll, beforeAll } from 'vitest';
import { GatewayStage } from './gateway-stage.suite.js';
import type { GatewayOptions } from './gateway-options.js';
import { silentLogger } from './ingress.suite.js';

export interface SpecHub {
  readonly registry: Registry;
  readonly lease: ProcessLease;
  readonly bus: Bus;
  readonly databaseUrl: string;
  openStage(change?: Partial<GatewayOptions>): Promise<GatewayStage>;
}

/** Opens the parts before the specs of a file, and closes them after the last one. */
export function openSpecHub(): SpecHub {
  const parts: Partial<Record<string, unknown>> = {};
  let close: () => Promise<void> = () => Promise.resolve();
  beforeAll(async () => {
    const database = await openTestDatabase();
    const bus = localBus(noTicks, silentLogger);
    const registry = await openRegistry({ databaseUrl: database.databaseUrl });
    const lease = await registry.takeLease();
    const openStage = (change: Partial<GatewayOptions> = {}) =>
      GatewayStage.set({ gatewayId: lease.id, registry, bus, ...change });
    Object.assign(parts, { bus, registry, lease, openStage, databaseUrl: database.databaseUrl });
    close = async () => {
      await lease.release();
      await registry.close();
      await bus.close();
      await database.close();
    };
  });
  afterAll(() => close());
  return parts as unknown as SpecHub;
}
