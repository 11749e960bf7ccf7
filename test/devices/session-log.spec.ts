/**
 * The log of a session over the built hub: from the API and the command line, over a restart of the
 * device, without secrets, and in the audit trail.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey } from '../src/api/api-keys.js';
import { flotilla, jsonLines } from '../src/api/command-line.js';
import { ask, subscriptions } from '../src/api/graphql-client.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { online } from '../src/jobs/job-api.js';

interface Entry {
  readonly kind: string;
  readonly text: string;
}

const LOG = 'subscription ($id: ID!) { sessionLog(deviceId: $id) { at kind text bytes isTruncated } }';
const CALL = 'mutation ($input: CallToolInput!) { callTool(input: $input) { call { outcome } } }';
const call = (hub: HubProcess, deviceId: string, tool: string, args: Readonly<Record<string, unknown>> = {}) =>
  ask(hub, CALL, { input: { deviceId, tool, arguments: args } });

describe('the log of a session', () => {
  let hub: HubProcess;
  let fleet: SimulatedFleet;
  let device: string;
  let other: string;

  beforeAll(async () => {
    // With a vision model, the greeting of the hub has a token in it.
    hub = await startHub({ env: { FLOTILLA_VISION_URL: 'http://127.0.0.1:9', FLOTILLA_VISION_MODEL: 'eyes-1' } });
    fleet = startFleet(hub, { devices: 2, profile: 'screen-camera', seed: 41 });
    await online(hub, 2);
    const { devices } = await ask<{ devices: { nodes: { id: string }[] } }>(hub, '{ devices { nodes { id } } }');
    [device = '', other = ''] = devices.nodes.map(({ id }) => id);
  });

  afterAll(async () => {
    await fleet.stop();
    expect(await hub.stop()).toBe(0);
    removeDataDir(hub.dataDir);
  });

  it('has the messages of one device in both directions, also over its restart', async () => {
    const client = subscriptions(hub);
    const seen: Entry[] = [];
    for await (const { data } of client.iterate<{ sessionLog: Entry }>({ query: LOG, variables: { id: device } })) {
      if (!data) continue;
      seen.push(data.sessionLog);
      if (data.sessionLog.kind === 'STARTED') {
        await call(hub, other, 'self.audio_speaker.set_volume', { volume: 77 });
        await call(hub, device, 'self.audio_speaker.set_volume', { volume: 33 });
        void call(hub, device, 'self.reboot');
      }
      if (data.sessionLog.text.includes('"initialize"')) break;
    }
    await client.dispose();
    const texts = seen.map(({ kind, text }) => `${kind} ${text}`);
    expect(texts.some((text) => /^SENT .*set_volume.*33/.test(text))).toBe(true);
    expect(texts.some((text) => /^RECEIVED .*"result"/.test(text))).toBe(true);
    expect(texts.join('\n')).not.toContain('"volume":77');
    const kinds = seen.map(({ kind }) => kind);
    expect(kinds.indexOf('CLOSED')).toBeLessThan(kinds.indexOf('OPENED'));
    const greeting = seen.at(-1)?.text ?? '';
    expect(greeting).toContain('"token":"***"');
    await online(hub, 2);
  });

  it('is printed by the command line', async () => {
    const printing = flotilla(hub, ['devices', 'log', device, '--output', 'jsonl', '--count', '2'], {
      started: (child) =>
        child.stdout?.once('data', () => void call(hub, device, 'self.audio_speaker.set_volume', { volume: 34 })),
    });
    const outcome = await printing;
    expect(outcome).toMatchObject({ code: 0 });
    const entries = jsonLines<Entry>(outcome);
    expect(entries.map(({ kind }) => kind)).toEqual(['STARTED', 'SENT', 'RECEIVED']);
    expect(entries[1]?.text).toContain('set_volume');
  });

  it('is for administrators, and is in the audit trail with its reader', async () => {
    const { secret } = await makeKey(hub, ['DEVICES_READ', 'DEVICES_WRITE', 'EVENTS_READ', 'TOOLS_CALL_PRIVILEGED']);
    const refused = await flotilla({ httpUrl: hub.httpUrl, adminKey: secret }, ['devices', 'log', device]);
    expect(refused.code).toBe(5);
    expect((await flotilla(hub, ['devices', 'log', 'nowhere'])).code).toBe(2);
    const { auditEntries } = await ask<{ auditEntries: { nodes: { actor: string; subject: string }[] } }>(
      hub,
      '{ auditEntries(filter: { action: "device.session_log_opened" }) { nodes { actor subject } } }',
    );
    expect(auditEntries.nodes).toEqual(Array(2).fill({ actor: 'admin', subject: `device:${device}` }));
  });
});
