import type { Gateway } from '@flotilla/gateway';
import { expect, it } from 'vitest';
import { createMetrics } from './metrics.js';

const createEmpty = () =>
  createMetrics({ queueDepth: () => Promise.resolve(0), busRefused: () => new Map(), writers: () => [] });

it('has calls of each outcome from the start, so that the increase by the first of them is seen', async () => {
  const metrics = createEmpty();
  const series = async (origin: string, outcome: string) =>
    (await metrics.scrape()).text.includes(`flotilla_calls_total{origin="${origin}",outcome="${outcome}"} 0\n`);
  for (const origin of ['single', 'job'])
    for (const outcome of ['SUCCEEDED', 'FAILED', 'REJECTED', 'UNKNOWN', 'NOT_SENT', 'REFUSED', 'RESTARTED'])
      expect(await series(origin, outcome), `${origin} ${outcome}`).toBe(true);
  metrics.callSettled('job', 'UNKNOWN', 5);
  expect((await metrics.scrape()).text).toContain('flotilla_calls_total{origin="job",outcome="UNKNOWN"} 1\n');
  expect(await series('single', 'UNKNOWN')).toBe(true);
});

it('has sessions of each transport from the start, so that an empty gateway counts as one', async () => {
  const metrics = createEmpty();
  const status = {
    unproven: 0,
    undiscovered: 0,
    flapping: 0,
    conversations: 0,
    udpChannels: 0,
    backends: [],
    counts: [],
  };
  let sessions: ReturnType<Gateway['status']>['sessions'] = [];
  metrics.addGateway(() => ({ ...status, sessions }));
  for (const transport of ['MQTT', 'WEBSOCKET', 'TCP'])
    expect((await metrics.scrape()).text).toContain(`flotilla_sessions{state="ready",transport="${transport}"} 0\n`);
  sessions = [{ state: 'ready', transport: 'MQTT', count: 3 }];
  expect((await metrics.scrape()).text).toContain('flotilla_sessions{state="ready",transport="MQTT"} 3\n');
  sessions = [];
  expect((await metrics.scrape()).text).toContain('flotilla_sessions{state="ready",transport="MQTT"} 0\n');
});
