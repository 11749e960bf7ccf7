/** Jobs, enrolment, keys and events on the command line, against the built hub. */
import { type ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { flotilla, jsonLines } from '../src/api/command-line.js';
import { startBreakingProxy } from '../src/api/breaking-proxy.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { askOta } from '../src/devices/ota-client.js';
import { readJob } from '../src/jobs/job-api.js';
import { lampOn, startCommandLineStory, type CommandLineStory } from '../src/client/command-line-story.js';

let story: CommandLineStory;
let hub: CommandLineStory['hub'];
let lamp: string;
let run: CommandLineStory['run'];
let fileOf: CommandLineStory['fileOf'];

beforeAll(async () => {
  story = await startCommandLineStory();
  ({ hub, lamp, run, fileOf } = story);
});

afterAll(async () => expect(await story.end()).toBe(0));

describe('jobs', () => {
  it('are created, followed, listed, and their results printed', async () => {
    const preview = await run(['jobs', 'create', lampOn, '--all', '--preview', '--json']);
    expect([preview.code, jsonLines(preview)]).toMatchObject([0, [{ targetCount: 2 }]]);
    const followed = await run([
      'jobs',
      'create',
      lampOn,
      '--all',
      '--name',
      'lamps',
      '--follow',
      '--json',
      '--idempotency-key',
      'story-2',
    ]);
    expect(followed.code).toBe(0);
    expect(followed.stderr).toMatch(/SUCCEEDED: 2 of 2\n$/);
    const [job] = jsonLines<{ id: string; conclusion: string }>(followed);
    expect(job?.conclusion).toBe('SUCCEEDED');
    const id = job?.id ?? '';
    const [again, list, csv, lines] = await Promise.all([
      run(['jobs', 'create', lampOn, '--all', '--name', 'lamps', '--json', '--idempotency-key', 'story-2']),
      run(['jobs']),
      run(['jobs', 'results', id]),
      run(['jobs', 'results', id, '--json']),
    ]);
    expect(jsonLines(again)).toMatchObject([{ id }]);
    expect(list.stdout).toMatch(new RegExp(`${id} +SUCCEEDED +2/2`));
    expect(csv.stdout).toMatch(/^deviceId,.*\r\n/);
    expect(jsonLines<{ outcome: string }>(lines).map(({ outcome }) => outcome)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });

  it('whose targets failed say so with their exit code', async () => {
    const failed = await run(['jobs', 'create', 'self.lamp.explode', '--device', lamp, '--follow']);
    expect(failed.code).toBe(3);
    expect(failed.stdout).toMatch(/troubles +1 rejected/);
  });

  it('continue when the follower leaves, until they are cancelled', async () => {
    const input = JSON.stringify({ startAt: new Date(Date.now() + 3_600_000).toISOString() });
    const created = await run(['jobs', 'create', lampOn, '--all', '--json', '--input', input]);
    const [job] = jsonLines<{ id: string }>(created);
    const id = job?.id ?? '';
    const interruptOnce = (child: ChildProcess) => child.stderr?.once('data', () => child.kill('SIGINT'));
    const { code, stderr } = await run(['jobs', 'follow', id], { started: interruptOnce });
    expect([code, stderr]).toEqual([130, expect.stringContaining(`flotilla jobs cancel ${id}`)]);
    expect((await readJob(hub, id)).state).toBe('SCHEDULED');
    expect((await run(['jobs', 'cancel', id])).code).toBe(0);
    await eventually(
      () => readJob(hub, id),
      ({ conclusion }) => conclusion === 'CANCELLED',
    );
    expect((await run(['jobs', 'cancel', 'unknown'])).code).toBe(2);
  });

  it('are never for the whole fleet by accident', async () => {
    const [missing, both, waves, json, pace] = await Promise.all([
      run(['jobs', 'create', lampOn]),
      run(['jobs', 'create', lampOn, '--all', '--tag', 'x']),
      run(['jobs', 'create', lampOn, '--all', '--waves', '50,10']),
      run(['jobs', 'create', lampOn, '{volume:30}', '--all']),
      run(['jobs', 'create', lampOn, '--all', '--per-minute', 'ten']),
    ]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('--all for the whole fleet')]);
    expect([both.code, waves.code, json.code]).toEqual([1, 1, 1]);
    expect(waves.stderr).toContain('rising percentages');
    expect([pace.code, pace.stderr]).toEqual([
      1,
      expect.stringContaining('--per-minute must be a whole number from 1'),
    ]);
    expect(json.stderr).toContain('The arguments: expected JSON');
  });
});

describe('devices to come', () => {
  it('are registered from a file, a wrong line naming itself and nothing being done', async () => {
    const head = 'deviceId,name,tags,dialect,address\n';
    const good = fileOf(
      'good.csv',
      `${head}02:00:00:00:0d:01,"Lamp, left",lobby;left,,\ngreenhouse-9,,,MCPU,127.0.0.1:9\n`,
    );
    const bad = fileOf(
      'bad.csv',
      `${head}02:00:00:00:0d:03,,,,\n,,,,\n02:00:00:00:0D:03,,,,\n02:00:00:00:0d:04,,,ZIGBEE,\n`,
    );
    const flood = run(['call', lamp, lampOn, '-'], { input: 'x'.repeat(1_100_000) });
    expect(await flood).toMatchObject({
      code: 1,
      stderr: 'Standard input has more than 1048576 bytes. Send less.\n',
    });
    const [dry, wrong, columns, torn] = await Promise.all([
      run(['devices', 'import', good, '--dry-run']),
      run(['devices', 'import', bad]),
      run(['devices', 'import', '-'], { input: 'mac,name\n' }),
      run(['devices', 'import', '-'], { input: 'deviceId\n"02:' }),
    ]);
    expect([dry.code, dry.stdout]).toEqual([0, '']);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(wrong.stderr.split('\n')).toEqual([
      'Line 3: The deviceId is missing. Add it.',
      'Line 4: "02:00:00:00:0D:03" is already on line 2. Remove one of the lines.',
      'Line 5: The dialect must be XIAOZHI or MCPU, not "ZIGBEE".',
      'Nothing was registered.',
      '',
    ]);
    expect([columns.code, columns.stderr]).toEqual([1, expect.stringContaining('There is no column "mac"')]);
    expect(torn.code).toBe(1);
    const registered = jsonLines<{ deviceId: string; credential: object | null }>(
      await run(['devices', 'import', good]),
    );
    expect(registered.map(({ deviceId, credential }) => [deviceId, credential === null])).toEqual([
      ['02:00:00:00:0d:01', false],
      ['greenhouse-9', true],
    ]);
    expect(jsonLines(await run(['devices', '--json', '--tag', 'lobby']))).toMatchObject([
      { id: '02:00:00:00:0d:01', name: 'Lamp, left', tags: ['left', 'lobby'] },
    ]);
    const proofs = `deviceId,clientId\n02:00:00:00:0d:21,3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21\n02:00:00:00:0d:22,\n`;
    expect((await run(['devices', 'import', '-', '--admit-without-code-for', '2'], { input: proofs })).code).toBe(0);
    const ota = (id: string, uuid: string) =>
      askOta(hub, { mac: id, uuid }).then(({ body }) => 'password' in (body.mqtt ?? {}));
    const strange = '00000000-0000-4000-8000-000000000000';
    expect([await ota('02:00:00:00:0d:21', strange), await ota('02:00:00:00:0d:22', strange)]).toEqual([false, true]);
    expect(await ota('02:00:00:00:0d:21', '3b0c5b1e-6a43-4f0e-9a44-0d6a5f0c8e21')).toBe(true);
    const again = await run(['devices', 'import', good]);
    expect([again.code, again.stdout]).toEqual([2, '']);
    expect(again.stderr).toMatch(/^Line [23]: .*\nLines 2 to 3 and later lines were not registered/);
  });

  it('continue from the reported line after the hub went away in the middle', async () => {
    const ids = Array.from(
      { length: 1_003 },
      (_, index) =>
        `02:00:00:0e:${(index >> 8).toString(16).padStart(2, '0')}:${(index & 255).toString(16).padStart(2, '0')}`,
    );
    const file = fileOf('many.csv', `deviceId\n${ids.join('\n')}\n`);
    let registrations = 0;
    const onceOnly = await startBreakingProxy(hub, (body) => body.includes('registerDevices') && ++registrations > 1);
    const broken = await run(['devices', 'import', file], { env: { FLOTILLA_URL: onceOnly.httpUrl } });
    onceOnly.close();
    expect([broken.code, jsonLines(broken).length]).toEqual([4, 1_000]);
    expect(broken.stderr).toMatch(
      /^Lines 1002 to 1004 may be registered or not; earlier lines are\. Continue with --from-line 1002/,
    );
    const rest = jsonLines<{ deviceId: string }>(await run(['devices', 'import', file, '--from-line', '1002']));
    expect(rest.map(({ deviceId }) => deviceId)).toEqual(ids.slice(1_000));
  });

  it('come in by a link or a code', async () => {
    const [link, list, wrong] = await Promise.all([
      run(['enrol', 'link', '--name', 'shelf', '--max-devices', '3', '--tag', 'new', '--json']),
      run(['enrol', 'list']),
      run(['enrol', 'approve', '000000']),
    ]);
    expect(jsonLines(link)).toMatchObject([
      { name: 'shelf', maxDevices: 3, tags: ['new'], url: expect.stringContaining('/ota/') },
    ]);
    expect([list.code, wrong.code]).toEqual([0, 2]);
  });
});

describe('keys', () => {
  it('are made with few scopes, listed and revoked', async () => {
    const [key] = jsonLines<{ id: string; secret: string; scopes: string[] }>(
      await run(['keys', 'create', 'reporting', '--scope', 'DEVICES_READ', '--expires-in', '30', '--json']),
    );
    expect(key?.scopes).toEqual(['DEVICES_READ']);
    const env = { FLOTILLA_KEY: key?.secret ?? '' };
    const [reading, calling, list] = await Promise.all([
      run(['devices'], { env }),
      run(['call', lamp, lampOn], { env }),
      run(['keys']),
    ]);
    expect([reading.code, calling.code, calling.stderr.split(':')[0]]).toEqual([0, 5, 'FORBIDDEN']);
    expect(list.stdout).toMatch(/reporting/);
    expect(list.stdout).not.toContain(key?.secret ?? '');
    expect((await run(['keys', 'revoke', key?.id ?? '', '--yes'])).code).toBe(0);
    expect((await run(['devices'], { env })).code).toBe(5);
    expect((await run(['keys', 'create', 'x', '--scope', 'EVERYTHING'])).code).toBe(1);
  });
});

describe('events', () => {
  it('are printed as they happen', async () => {
    const query = '{ events(orderBy: AT_DESC, first: 1) { edges { cursor } } }';
    const { events } = await ask<{ events: { edges: { cursor: string }[] } }>(hub, query);
    const tail = run([
      'events',
      'tail',
      '--type',
      'device.removed',
      '--count',
      '1',
      '--json',
      '--after',
      events.edges[0]?.cursor ?? '',
    ]);
    await flotilla(hub, ['devices', 'import', '-'], { input: 'deviceId\n02:00:00:00:0d:09\n' });
    await ask(hub, 'mutation { removeDevice(deviceId: "02:00:00:00:0d:09") { userErrors { code } } }');
    const outcome = await tail;
    expect([outcome.code, outcome.stderr]).toEqual([0, '']);
    expect(jsonLines(outcome)).toMatchObject([
      { type: 'device.removed', deviceId: '02:00:00:00:0d:09', cursor: expect.any(String) },
    ]);
  });
});
