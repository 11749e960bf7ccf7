import type { GatewayPlace } from '@flotilla/registry';
import { ManualClock } from '@flotilla/session';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import { GatewayPlaces } from './gateway-places.js';

class Stage {
  readonly clock = new ManualClock();
  readonly announced: GatewayPlace[] = [];
  places: readonly GatewayPlace[] = [];
  isAway = false;
  readonly gatewayPlaces = new GatewayPlaces({
    clock: this.clock,
    logger: silentLogger,
    registry: {
      gatewayPlaces: () => (this.isAway ? Promise.reject(new Error('away')) : Promise.resolve(this.places)),
    },
    lease: { announcePlace: (place) => Promise.resolve(void this.announced.push(place)) },
  });

  async rounds(count = 1): Promise<void> {
    for (let round = 0; round < count; round++) {
      this.clock.advance(1_000);
      await new Promise(setImmediate);
    }
  }
}

const named = (stage: Stage) => ['a:1', 'b:1'].filter((endpoint) => stage.gatewayPlaces.isNamed(endpoint));

describe('the gateways that devices are sent to', () => {
  it('are all, if none announces an address', async () => {
    const stage = new Stage();
    await stage.gatewayPlaces.start();
    expect(named(stage)).toEqual(['a:1', 'b:1']);
  });

  it('are those that live and accept devices', async () => {
    const stage = new Stage();
    stage.places = [{ endpoint: 'a:1', acceptsDevices: true }];
    await stage.gatewayPlaces.start();
    expect(named(stage)).toEqual(['a:1']);
    stage.places = [
      { endpoint: 'a:1', acceptsDevices: false },
      { endpoint: 'b:1', acceptsDevices: true },
    ];
    await stage.rounds();
    expect(named(stage)).toEqual(['b:1']);
  });

  it('stay as they were while PostgreSQL is away', async () => {
    const stage = new Stage();
    stage.places = [{ endpoint: 'a:1', acceptsDevices: true }];
    await stage.gatewayPlaces.start();
    stage.isAway = true;
    stage.places = [];
    await stage.rounds(3);
    expect(named(stage)).toEqual(['a:1']);
    stage.isAway = false;
    await stage.rounds();
    expect(named(stage)).toEqual(['a:1', 'b:1']);
  });

  it('learn of this gateway when it begins or ceases to accept devices', async () => {
    const stage = new Stage();
    let acceptsDevices = true;
    await stage.gatewayPlaces.start();
    stage.gatewayPlaces.announce({ endpoint: 'a:1', acceptsDevices: () => acceptsDevices });
    await stage.rounds(3);
    acceptsDevices = false;
    await stage.rounds(3);
    expect(stage.announced).toEqual([
      { endpoint: 'a:1', acceptsDevices: true },
      { endpoint: 'a:1', acceptsDevices: false },
    ]);
    stage.gatewayPlaces.stop();
    expect(stage.clock.timers).toBe(0);
  });
});
