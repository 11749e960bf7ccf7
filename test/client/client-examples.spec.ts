/** The examples of libs/client, run as a reader would run them. */
import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../src/api/graphql-client.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { finished, online } from '../src/jobs/job-api.js';
import { startFleet, type SimulatedFleet } from '../src/devices/simulated-fleet.js';

const examples = fileURLToPath(new URL('../../libs/client/examples/', import.meta.url));

let hub: HubProcess;
let fleet: SimulatedFleet;

beforeAll(async () => {
  hub = await startHub();
  fleet = startFleet(hub, { devices: 3, profile: 'mixed' });
  await online(hub, 3);
});

afterAll(async () => {
  await fleet.stop();
  expect(await hub.stop()).toBe(0);
  removeDataDir(hub.dataDir);
});

async function run(example: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, FLOTILLA_URL: hub.httpUrl, FLOTILLA_KEY: hub.adminKey };
  const { stdout } = await promisify(execFile)(process.execPath, [`${examples}${example}.mjs`, ...args], { env });
  return stdout.trim();
}

const volume = 'self.audio_speaker.set_volume';

describe('an example', () => {
  it('lists the fleet, calls a tool, turns everything down, and follows that', async () => {
    const lines = (await run('list-devices')).split('\n');
    expect(lines).toHaveLength(3);
    const id = lines[0]?.split('\t')[0] ?? '';
    expect(await run('call-a-tool', id, volume, '{"volume":20}')).toMatch(/^SUCCEEDED/);
    await expect(run('call-a-tool', id, volume, '{"volume":300}')).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^REJECTED/),
    });
    await expect(run('call-a-tool', 'unknown', volume)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^NOT_FOUND/),
    });
    const job = await run('bulk-volume', '10');
    expect(await run('bulk-volume', '10')).toBe(job);
    expect((await run('follow-a-job', job)).split('\n').at(-1)).toBe('SUCCEEDED: 3 of 3 decided, 3 succeeded');
    expect(await finished(hub, job)).toMatchObject({ conclusion: 'SUCCEEDED' });
  });

  it('keeps a value, once however often it runs', async () => {
    const id = await run('keep-a-value', '35');
    expect(await run('keep-a-value', '35')).toBe(id);
    const query = 'query ($id: ID!) { desiredState(id: $id) { name summary { inSync targeted } } }';
    expect(await ask(hub, query, { id })).toEqual({
      desiredState: { name: 'Volume 35', summary: { inSync: 3, targeted: 3 } },
    });
  });

  it('takes webhooks in, and believes none that is not signed', async () => {
    const secret = 'a secret of the story';
    const receiver = spawn(process.execPath, [`${examples}verify-a-webhook.mjs`], {
      env: { ...process.env, FLOTILLA_WEBHOOK_SECRET: secret },
    });
    const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
    try {
      const port = /\d+$/.exec((await lines.next()).value ?? '')?.[0];
      const body = JSON.stringify({
        id: 'e1',
        type: 'device.connected',
        deviceId: 'lamp',
        at: new Date().toISOString(),
        data: {},
      });
      const seconds = Math.floor(Date.now() / 1_000);
      const send = async (key: string) => {
        const signature = createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex');
        const headers = { 'flotilla-signature': `t=${seconds},v1=${signature}` };
        return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
      };
      expect([await send(secret), await send('another')]).toEqual([204, 400]);
      expect((await lines.next()).value).toBe('e1 device.connected lamp');
    } finally {
      receiver.kill();
      await once(receiver, 'exit');
    }
  });
});
