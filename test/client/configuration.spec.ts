/** The configuration of a hub as files: export, plan and apply, against the built hub. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { FlotillaClient } from '@flotilla/client';
import fc from 'fast-check';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentFor, flotillaBin } from '../src/api/command-line.js';
import { ask } from '../src/api/graphql-client.js';
import { randomConfiguration, type ConfigurationDocument, type Fields } from '../src/client/random-configuration.js';
import { removeDataDir, startHub, type HubProcess } from '../src/hub/hub-process.js';
import { makeImage } from '../src/jobs/firmware-image.js';
import { startCommandLineStory, type CommandLineStory } from '../src/client/command-line-story.js';

let story: CommandLineStory;
let run: CommandLineStory['run'];
beforeAll(async () => {
  // Each of the random configurations is some dozen requests in a second.
  story = await startCommandLineStory();
  ({ run } = story);
});
afterAll(async () => expect(await story.end()).toBe(0));

const file = (text: string) => story.fileOf('flotilla.yaml', text);
const apply = (text: string, ...more: readonly string[]) =>
  run(['apply', file(text), '--yes', '--secrets-to', path.join(story.folder, 'secrets.jsonl'), ...more]);

const first = `flotilla: 1
DeviceGroup:
  Lobby: { filter: { tags: [lobby] }, timeZone: Europe/Berlin }
ToolPolicy:
  self.lamp.*: { idempotent: true, disruptive: false }
RecurringJob:
  Dim at night:
    cron: 0 22 * * *
    timeZone: Europe/Berlin
    job: { tool: self.lamp.turn_off, devices: { group: Lobby } }
ApiKey:
  Reporting: { scopes: [EVENTS_READ, DEVICES_READ], devices: { group: Lobby } }
`;

describe('configuration as code', () => {
  it('shows a diff, makes it so, and then has nothing to do', async () => {
    const plan = await run(['plan', file(first), '--fail-on-changes']);
    expect(plan.code).toBe(2);
    expect(plan.stdout).toContain('+ create DeviceGroup "Lobby"');
    expect(plan.stdout).toContain('+timeZone: Europe/Berlin');
    expect(await run(['plan', '-', '--fail-on-changes'], { input: first })).toEqual(plan);
    expect(await run(['apply', file(first), '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--secrets-to'),
    });
    const applied = await apply(first);
    expect([applied.code, applied.stderr]).toEqual([0, expect.stringContaining('create ApiKey Reporting: done')]);
    expect(await run(['plan', file(first), '--fail-on-changes'])).toMatchObject({
      code: 0,
      stdout: 'The hub is as in the file.\n',
    });
    const secrets = path.join(story.folder, 'secrets.jsonl');
    expect(statSync(secrets).mode & 0o777).toBe(0o600);
    const { secret } = JSON.parse(readFileSync(secrets, 'utf8')) as { readonly secret: string };
    expect((await run(['devices'], { env: { FLOTILLA_KEY: secret } })).code).toBe(0);
  });

  it('reports what a person changed, and overwrites it only when asked', async () => {
    const { deviceGroups } = await ask<{ deviceGroups: { nodes: { id: string; name: string }[] } }>(
      story.hub,
      '{ deviceGroups { nodes { id name } } }',
    );
    const id = deviceGroups.nodes.find(({ name }) => name === 'Lobby')?.id ?? '';
    await run(['groups', 'edit', id, '--time-zone', 'Asia/Shanghai']);
    const conflict = await apply(first);
    expect(conflict).toMatchObject({ code: 2, stderr: expect.stringContaining('Nothing was changed') });
    expect(conflict.stdout).toContain('conflict: timeZone was changed since the last apply');
    expect(conflict.stdout).toMatch(/-timeZone: Asia\/Shanghai\n.*\+timeZone: Europe\/Berlin/);
    // A field that the file does not name belongs to people.
    const without = first.replace(', timeZone: Europe/Berlin', '');
    expect((await apply(without)).code).toBe(0);
    expect((await run(['plan', file(without)])).stdout).toBe('The hub is as in the file.\n');
    expect((await apply(first)).code).toBe(2);
    expect((await apply(first, '--force')).code).toBe(0);
    expect((await run(['groups'])).stdout).toContain('Europe/Berlin');
  });

  it('takes a key without the scope for nothing', async () => {
    const secrets = readFileSync(path.join(story.folder, 'secrets.jsonl'), 'utf8');
    const { secret } = JSON.parse(secrets.split('\n')[0] ?? '') as { readonly secret: string };
    const refused = await run(['plan', file(first)], { env: { FLOTILLA_KEY: secret } });
    expect(refused.code).toBe(5);
  });

  it('leaves out of a file what a limited key saved: for another key it would be for the whole fleet', async () => {
    const made = await ask<{ createApiKey: { secret: string } }>(
      story.hub,
      'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { secret } }',
      { input: { name: 'Shop 7', scopes: ['JOBS_READ', 'JOBS_WRITE', 'TOOLS_CALL'], devices: { ids: [story.lamp] } } },
    );
    const env = { FLOTILLA_KEY: made.createApiKey.secret };
    const schedule = ['--name', 'Shop lights', '--cron', '@daily', '--time-zone', 'UTC'];
    const created = await run(['recurring', 'create', 'self.lamp.turn_on', '--all', ...schedule], { env });
    expect(created, created.stderr).toMatchObject({ code: 0 });
    const exported = await run(['export', '--kind', 'RecurringJob']);
    expect(exported.stdout).not.toContain('Shop lights');
    expect(exported.stderr).toContain('RecurringJob "Shop lights" is left out');
    const job = '{ cron: "@daily", timeZone: UTC, job: { tool: self.lamp.turn_on, devices: { all: true } } }';
    const owned = await apply(first.replace('ApiKey:', `  Shop lights: ${job}\nApiKey:`));
    expect(owned).toMatchObject({ code: 2, stdout: expect.stringContaining('conflict: a key that is limited') });
  });

  it('deletes what the file does not have any more, and nothing else', async () => {
    await run(['groups', 'create', 'Of a person', '--tag', 'x']);
    const applied = await apply('flotilla: 1\n');
    expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('- delete ApiKey "Reporting"')]);
    const { stdout } = await run(['groups']);
    expect(stdout).toContain('Of a person');
    expect(stdout).not.toContain('Lobby');
    await run(['apply', file('flotilla: 1\nDeviceGroup: { Of a person: { filter: { tags: [x] } } }\n'), '--yes']);
    await apply('flotilla: 1\n');
  });

  it('is applied although the reader of its plan is gone, as with head', async () => {
    const group = file('flotilla: 1\nDeviceGroup: { Unread: { filter: { tags: [x] } } }\n');
    const script = `"${process.execPath}" "${flotillaBin}" apply "$0" --yes | true`;
    await once(spawn('/bin/sh', ['-c', script, group], { env: environmentFor(story.hub) }), 'close');
    expect((await run(['groups'])).stdout).toContain('Unread');
    await apply('flotilla: 1\n');
  });
});

describe('the whole configuration of a hub', () => {
  let other: HubProcess;
  beforeAll(async () => {
    other = await startHub();
  });
  afterAll(async () => {
    expect(await other.stop()).toBe(0);
    removeDataDir(other.dataDir);
  });

  it('is applied to an empty hub, with its alert rules and channels', async () => {
    const url = 'https://hooks.example.com/services/token';
    const channel = ['channels', 'create', 'Ops', '--kind', 'SLACK', '--config', '-'];
    expect(await run(channel, { input: JSON.stringify({ url }) })).toMatchObject({ code: 0 });
    expect((await run(['measurements', 'set-rule', 'samples:soil', '--all', '--min-interval', '30'])).code).toBe(0);
    const exported = await run(['export']);
    expect(exported.stdout).toContain('channels:\n      - Ops');
    expect(exported.stdout).toContain('url:\n        fromEnv: NOTIFICATION_CHANNEL_OPS_CONFIG_URL');
    expect(exported.stdout).not.toContain('token');
    const env = { FLOTILLA_URL: other.httpUrl, FLOTILLA_KEY: other.adminKey };
    const files = [story.fileOf('exported.yaml', exported.stdout)];
    const secrets = path.join(story.folder, 'other.jsonl');
    const without = await run(['apply', ...files, '--yes', '--secrets-to', secrets], { env });
    expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('NOTIFICATION_CHANNEL_OPS_CONFIG_URL') });
    const withUrl = { ...env, NOTIFICATION_CHANNEL_OPS_CONFIG_URL: url };
    const applied = await run(['apply', ...files, '--yes', '--secrets-to', secrets], { env: withUrl });
    expect(applied, applied.stderr).toMatchObject({ code: 0 });
    expect(await run(['plan', ...files, '--fail-on-changes'], { env })).toMatchObject({
      code: 0,
      stdout: 'The hub is as in the file.\n',
    });
    const { alertRules } = await ask<{ alertRules: readonly object[] }>(
      other,
      '{ alertRules { kind enabled channels { name } } }',
    );
    expect(alertRules).toContainEqual({ kind: 'HUB_UNHEALTHY', enabled: true, channels: [{ name: 'Ops' }] });
    // A rule cannot become one of another kind, so an apply makes a new one.
    for (const kind of ['DEVICE_OFFLINE', 'CREDENTIAL_REFUSED']) {
      const more = story.fileOf('probe.yaml', `flotilla: 1\nAlertRule: { Probe: { kind: ${kind} } }\n`);
      expect(await run(['apply', ...files, more, '--yes'], { env: withUrl })).toMatchObject({ code: 0 });
      const { stdout } = await run(['plan', ...files, more], { env });
      expect(stdout).toBe('The hub is as in the file.\n');
    }
  });
});

interface Live {
  readonly name: string;
  readonly fields: Fields;
}
/** The compiled modules of the command line, because starting it 200 times takes minutes. */
interface Modules {
  readonly kinds: readonly { readonly kind: string }[];
  planAll(document: ConfigurationDocument, kinds: Modules['kinds'], client: FlotillaClient): Promise<readonly Fields[]>;
  applyAll(changes: readonly Fields[], options: Fields): Promise<void>;
  withReferences(document: ConfigurationDocument): ConfigurationDocument;
  variablesIn(fields: unknown): readonly string[];
  readLive(kinds: Modules['kinds'], client: FlotillaClient): Promise<ReadonlyMap<string, ReadonlyMap<string, Live>>>;
}

async function load(): Promise<Modules> {
  const folder = path.join(path.dirname(flotillaBin), '../dist/configuration');
  const modules = await Promise.all(
    ['kinds.js', 'plan-all.js', 'apply.js', 'hub-state.js', 'values.js'].map(
      (name) => import(pathToFileURL(path.join(folder, name)).href) as Promise<object>,
    ),
  );
  return Object.assign({}, ...modules) as Modules;
}

/** Each is about a hundred requests: 50 in `npm run test:long`. */
const RANDOM_CONFIGURATIONS = process.env['FLOTILLA_TEST_LONG'] === '1' ? 50 : 4;

describe(`${RANDOM_CONFIGURATIONS} random configurations`, () => {
  it('leave nothing to plan after an apply, also from an export and on an empty hub', async () => {
    const { kinds, planAll, applyAll, readLive, withReferences, variablesIn } = await load();
    Object.assign(process.env, { HOOK: 'https://hooks.example.com/token', KEY: 'secret' });
    const { httpUrl: url, adminKey: apiKey } = story.hub;
    const client = new FlotillaClient({ url, apiKey, webSocket: WebSocket });
    const secretsFile = path.join(story.folder, 'random.jsonl');
    const options = { client, folder: story.folder, secretsFile, onDone: () => undefined };
    const make = async (document: ConfigurationDocument) => applyAll(await planAll(document, kinds, client), options);
    const left = async (document: ConfigurationDocument) =>
      (await planAll(document, kinds, client)).map(({ kind, name, action, changed }) => ({
        kind,
        name,
        action,
        changed,
      }));
    const bytes = makeImage({ version: '21.0.0' });
    const image = { sha256: createHash('sha256').update(bytes).digest('hex'), file: 'image.bin' };
    story.fileOf(image.file, bytes);
    for (const document of fc.sample(randomConfiguration(image), { numRuns: RANDOM_CONFIGURATIONS, seed: 21 })) {
      await make(document);
      expect(await left(document)).toEqual([]);
      const live = await readLive(kinds, client);
      const ofDocument = [...live].map(([kind, things]) => {
        const written = [...things].filter(([name]) => document.get(kind)?.has(name));
        return [kind, new Map(written.map(([name, { fields }]) => [name, fields]))] as const;
      });
      const exported = new Map(withReferences(new Map(ofDocument)));
      for (const name of variablesIn([...(exported.get('NotificationChannel')?.values() ?? [])]))
        process.env[name] = /URL(?:_[0-9A-F]{6})?$/.test(name) ? process.env['HOOK'] : process.env['KEY'];
      // The bytes of an image are not exported.
      const published = exported.get('FirmwareImage')?.get(image.sha256);
      if (published) exported.set('FirmwareImage', new Map([[image.sha256, { ...published, file: image.file }]]));
      await make(new Map());
      await make(exported);
      expect(await left(exported)).toEqual([]);
      expect(await left(document).then((changes) => changes.filter(({ action }) => action !== 'adopt'))).toEqual([]);
      await make(new Map());
    }
    client.close();
  }, 600_000);
});
