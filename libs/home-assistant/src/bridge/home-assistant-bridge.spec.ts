import { defaultToolPolicy } from '@flotilla/jobs';
import { ManualClock } from '@flotilla/session';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toolOf } from '../mapping/home-device.suite.js';
import { HomeAssistantBridge, type HomeAssistantDeps } from './home-assistant-bridge.js';
import type { LinkOptions } from './mqtt-link.js';

const slug = '020000000001';
const id = '02:00:00:00:00:01';

let clock: ManualClock;
let bridge: HomeAssistantBridge;
let link: LinkOptions;
/** Retained messages, as the broker has them. */
let kept: Map<string, string>;
let warnings: string[];
let reads: number;
let isDatabaseAway: boolean;
let isEldest: boolean;
/** Calls of the device end after it. */
let called: Promise<unknown>;
let announce: (message: { readonly deviceId: string; readonly presence?: 'ONLINE' | 'OFFLINE' }) => void;

/** Lets the promises settle that a timer or a message has begun. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function advance(ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 100) {
    clock.advance(100);
    await settled();
  }
}

function whileThere<Value>(value: Value): Promise<Value> {
  return isDatabaseAway ? Promise.reject(new Error('PostgreSQL is not available.')) : Promise.resolve(value);
}

function depsOf(): HomeAssistantDeps {
  const row = { id, presence: 'ONLINE', dialect: 'XIAOZHI', toolSetHash: 'h' };
  const setSpeed = toolOf('self.fan.set_speed', { speed: { type: 'integer', minimum: 0, maximum: 9 } });
  const readback = { tool: 'self.fan.get', path: 'speed', argument: 'speed' };
  const policy = { ...defaultToolPolicy, pattern: setSpeed.name, readback };
  const set = { tools: [toolOf('self.bell.ring', {}), setSpeed] };
  const devices = {
    page: () => {
      reads += 1;
      return whileThere({ rows: [row], cursors: ['c'], hasNextPage: false });
    },
    findMany: () => whileThere([row]),
  };
  const view = { devices, toolSets: { getMany: () => whileThere(new Map([['h', set]])) } };
  const principal = { kind: 'KEY', id: 'k', name: 'home', scopes: ['DEVICES_READ', 'TOOLS_CALL'] };
  return {
    settings: {
      prefix: 'homeassistant',
      base: 'flotilla',
      key: 'secret',
      broker: { url: 'mqtt://broker', username: undefined, password: undefined },
    },
    registry: {
      viewFor: () => view,
      isEldest: () => whileThere(isEldest),
      apiKeys: { authenticate: () => whileThere(principal) },
      firmwareImages: { page: () => whileThere({ rows: [] }) },
      toolPolicies: { all: () => whileThere([policy]) },
    },
    fleet: { callTool: () => called.then(() => ({ call: { outcome: 'SUCCEEDED' } })) },
    feed: {
      subscribe: (topic: string, listener: typeof announce) => {
        if (topic === 'device') announce = listener;
        return () => undefined;
      },
    },
    clock,
    logger: { info: () => undefined, error: () => undefined, warn: (_: object, text: string) => warnings.push(text) },
    openLink: (options: LinkOptions) => {
      link = options;
      return {
        isConnected: true,
        publish: (topic: string, payload: string) => kept.set(topic, payload),
        close: () => Promise.resolve(),
      };
    },
  } as unknown as HomeAssistantDeps;
}

beforeEach(async () => {
  [kept, warnings, reads, isDatabaseAway, isEldest] = [new Map(), [], 0, false, true];
  called = Promise.resolve();
  clock = new ManualClock(1_000_000);
  bridge = new HomeAssistantBridge(depsOf());
  bridge.start();
  await advance(100);
  link.onReady();
  await advance(1_000);
});

afterEach(() => bridge.stop());

describe('the bridge', () => {
  it('publishes the devices of the key', () => {
    expect([...kept.keys()]).toContain(`homeassistant/device/flotilla_${slug}/config`);
    expect(warnings).toEqual([]);
  });

  it('waits some seconds after a failed read, and then reads again', async () => {
    isDatabaseAway = true;
    reads = 0;
    link.onReady();
    await advance(20_000);
    expect(reads).toBeLessThanOrEqual(5);
    const failed = warnings.filter((text) => text.startsWith('could not read the devices'));
    expect(failed.length).toBeLessThanOrEqual(5);
    [isDatabaseAway, reads] = [false, 0];
    await advance(6_000);
    expect(reads).toBe(1);
  });
});

describe('a value that Home Assistant set and that the device does not report', () => {
  const state = () => Object.values(JSON.parse(kept.get(`flotilla/${slug}/state`) ?? '{}') as object) as unknown[];

  const set = (payload: string) => {
    const config = kept.get(`homeassistant/device/flotilla_${slug}/config`) ?? '';
    const { components } = JSON.parse(config) as { components: Readonly<Record<string, { command_topic?: string }>> };
    const number = Object.entries(components).find(([, component]) => 'max' in component);
    link.onMessage(number?.[1].command_topic ?? '', payload, false);
  };

  const serveAgain = async () => {
    isEldest = false;
    await advance(6_000);
    isEldest = true;
    await advance(6_000);
    link.onReady();
    await advance(1_000);
  };

  beforeEach(async () => {
    set('7');
    await advance(1_000);
    expect(state()).toContain(7);
  });

  it('is shown while the device stays connected', async () => {
    announce({ deviceId: id });
    await advance(1_000);
    expect(state()).toContain(7);
  });

  it.each(['OFFLINE', 'ONLINE'] as const)('is unknown once the device is %s, as after a restart', async (presence) => {
    announce({ deviceId: id, presence });
    await advance(1_000);
    expect(state()).not.toContain(7);
  });

  it('is unknown once another process has published meanwhile', async () => {
    await serveAgain();
    expect(state()).not.toContain(7);
  });

  it('is unknown where its command ended while another process published', async () => {
    let end: () => void = () => undefined;
    called = new Promise<void>((resolve) => (end = resolve));
    set('8');
    await advance(100);
    isEldest = false;
    await advance(6_000);
    end();
    await serveAgain();
    expect(state()).not.toContain(8);
  });
});
