/** The command line against the built hub: reading, calls, output, and exit codes for scripts. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { environmentFor, flotillaBin, jsonLines, type CommandOptions } from '../src/api/command-line.js';
import { eventually } from '../src/eventually.js';
import { ask } from '../src/api/graphql-client.js';
import { online } from '../src/jobs/job-api.js';
import { lampOn, startCommandLineStory, type CommandLineStory } from '../src/client/command-line-story.js';

let story: CommandLineStory;
let hub: CommandLineStory['hub'];
let fleet: CommandLineStory['fleet'];
let lamp: string;
let run: CommandLineStory['run'];

beforeAll(async () => {
  story = await startCommandLineStory();
  ({ hub, fleet, lamp, run } = story);
});

afterAll(async () => expect(await story.end()).toBe(0));

describe('devices and tools', () => {
  it('are listed and shown, for people and for programs', async () => {
    const [table, json, one, tools, fleetTools, cut] = await Promise.all([
      run(['devices', '--online']),
      run(['devices', 'list', '--json', '--filter', '{"hasTool":"self.lamp.turn_on"}']),
      run(['devices', 'show', lamp]),
      run(['tools', lamp]),
      run(['tools', '--json', '--search', 'lamp.turn_on']),
      run(['devices', '--limit', '1']),
    ]);
    expect([table.code, table.stdout.split('\n')[0]?.split(/ {2,}/)]).toEqual([
      0,
      ['ID', 'NAME', 'MODEL', 'FIRMWARE', 'PRESENCE', 'LAST SEEN', 'TAGS'],
    ]);
    expect(table.stdout).toContain(lamp);
    expect(jsonLines<{ id: string }>(json).map(({ id }) => id)).toContain(lamp);
    expect(one.stdout).toMatch(/^id +02:/);
    expect(tools.stdout).toContain(lampOn);
    expect(jsonLines(fleetTools)).toMatchObject([{ name: lampOn, deviceCount: 2 }]);
    expect(await run(['devices', '--tag', 'nowhere'])).toEqual({ code: 0, stdout: '', stderr: 'Nothing found.\n' });
    expect(await run(['--version'])).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
    expect([cut.stdout.trim().split('\n').length, cut.stderr]).toEqual([
      2,
      'More than 1 match. List all with --limit 0.\n',
    ]);
  });

  it('that are not there are refused', async () => {
    const [shown, listed] = await Promise.all([run(['devices', 'show', 'unknown']), run(['tools', 'unknown'])]);
    expect([shown.code, shown.stderr]).toEqual([2, 'NOT_FOUND: Device not found: "unknown".\n']);
    expect([listed.code, listed.stdout]).toEqual([2, '']);
  });
});

describe('a call', () => {
  it('prints the answer, and the exit code shows the outcome', async () => {
    const [done, json, piped, unknown, missing] = await Promise.all([
      run(['call', lamp, lampOn]),
      run(['call', lamp, lampOn, '{}', '--json', '--idempotency-key', 'story-1']),
      run(['call', lamp, lampOn, '-'], { input: '{}' }),
      run(['call', lamp, 'self.lamp.explode']),
      run(['call', 'unknown', lampOn]),
    ]);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).not.toBe('');
    expect(jsonLines(json)).toMatchObject([{ outcome: 'SUCCEEDED', tool: lampOn }]);
    expect(piped.code).toBe(0);
    expect([unknown.code, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toMatch(/^REJECTED TOOL_UNKNOWN: /);
    expect([missing.code, missing.stderr.split(':')[0]]).toEqual([2, 'NOT_FOUND']);
  });
});

describe('what disrupts devices', () => {
  it('is not done without a terminal to ask on, unless --yes confirms it', async () => {
    const reboot = 'self.reboot';
    const [call, job, rollOut, preview] = await Promise.all([
      run(['call', lamp, reboot]),
      run(['jobs', 'create', reboot, '--all']),
      run(['firmware', 'roll-out', '00000000-0000-7000-8000-000000000000', '--all']),
      run(['jobs', 'create', reboot, '--all', '--preview', '--json']),
    ]);
    for (const { code, stderr, stdout } of [call, job, rollOut])
      expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('--yes')]);
    expect(preview.code).toBe(0);
    expect((await fleet.counts()).tools[reboot]).toBeUndefined();
    await run(['call', lamp, reboot, '--yes']);
    expect((await fleet.counts()).tools[reboot]).toBe(1);
    await online(hub, 2);
  });
});

describe('output whose reader is gone', () => {
  it('ends the command with the next thing that it would print', async () => {
    const child = spawn('/bin/sh', ['-c', `"${process.execPath}" "${flotillaBin}" events tail --json | head -n 1`], {
      env: environmentFor(hub),
    });
    let isOver = false;
    const ended = once(child, 'close').then(() => (isOver = true));
    await eventually(
      async () => {
        await ask(
          hub,
          'mutation { registerDevice(input: {deviceId: "02:00:00:00:0d:0b", dialect: XIAOZHI}) { userErrors { ' +
            'code } } }',
        );
        await ask(hub, 'mutation { removeDevice(deviceId: "02:00:00:00:0d:0b") { userErrors { code } } }');
        return isOver;
      },
      (over) => over,
    );
    await ended;
  });
});

describe('a command that cannot be carried out', () => {
  it('says why with its exit code, and prints nothing on standard output', async () => {
    const cases: readonly (readonly [readonly string[], CommandOptions, number, RegExp])[] = [
      [[], {}, 1, /Missing command/],
      [['devcies'], {}, 1, /devices/],
      [['devices', '--nonsense'], {}, 1, /nonsense/],
      [['devices', '--limit', '201', '--filter', '{"colour":"red"}'], {}, 2, /BAD_USER_INPUT/],
      [['devices', '--limit', '1', '--limit', '2'], {}, 1, /^--limit is given more than once\. Give it once\.\n$/],
      [['devices', '--limit', '-1'], {}, 1, /^--limit must be a whole number from 0 /],
      [['devices', '--limit='], {}, 1, /^--limit must be a whole number from 0 /],
      [['events', 'tail', '--count', '0.5'], {}, 1, /^--count must be a whole number from 1 /],
      [
        ['keys', 'create', 'k', '--scope', 'ADMIN', '--expires-in', '1e300'],
        {},
        1,
        /^--expires-in must be a number from 0 to 36500/,
      ],
      [['firmware', 'upload', '/nowhere'], {}, 1, /^\/nowhere cannot be read/],
      [['firmware', 'upload', '/'], {}, 1, /^\/ is not a file/],
      [['devices', 'more'], {}, 1, /Unknown argument: more\. See --help/],
      [['jobs', 'follow', 'nothing'], {}, 2, /^NOT_FOUND/],
      [['jobs', 'follow', 'nothing', '--url', 'http://127.0.0.1:9'], {}, 4, /UNREACHABLE/],
      [['devices'], { env: { FLOTILLA_KEY: '' } }, 1, /No API key/],
      [['devices', '--key', 'wrong'], {}, 5, /UNAUTHENTICATED/],
      [['devices', '--key-file', '/nowhere'], {}, 1, /cannot be read/],
      [['devices', '--url', 'hub.example'], {}, 1, /not an address of a hub/],
      [['call', lamp, lampOn, '--url', 'http://127.0.0.1:9'], {}, 4, /UNREACHABLE/],
    ];
    const outcomes = await Promise.all(
      cases.map(async ([args, options, code, message]) => ({ args, outcome: await run(args, options), code, message })),
    );
    for (const { args, outcome, code, message } of outcomes) {
      expect([outcome.code, outcome.stdout], args.join(' ')).toEqual([code, '']);
      expect(outcome.stderr, args.join(' ')).toMatch(message);
      expect(outcome.stderr, args.join(' ')).not.toMatch(/\n\s+at /);
    }
  });

  it('is helped with by the shell', async () => {
    const [script, completions] = await Promise.all([
      run(['completion']),
      run(['--get-yargs-completions', 'flotilla', 'jobs', '']),
    ]);
    expect(script.stdout).toContain('flotilla');
    expect(completions.stdout.split('\n')).toEqual(expect.arrayContaining([expect.stringContaining('follow')]));
  });
});
