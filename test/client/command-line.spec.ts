/** The command line against the built hub: reading, calls, output, and exit codes for scripts. */
import { spawn, spawnSync } from 'node:child_process';
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

describe('a call with words as arguments', () => {
  it('is checked against the schema of the tool before anything is sent', async () => {
    const before = await fleet.counts();
    const [extra, noWord] = await Promise.all([
      run(['call', lamp, lampOn, 'colour=red']),
      run(['jobs', 'create', lampOn, 'colour=red', '--all']),
    ]);
    for (const { code, stdout, stderr } of [extra, noWord])
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        `${lampOn} has no argument "colour". ${lampOn} takes no arguments.\n`,
      ]);
    expect((await fleet.counts()).tools[lampOn]).toBe(before.tools[lampOn]);
  });
});

describe('graphql', () => {
  it('sends any operation with typed variables, and its exit code is that of the hub', async () => {
    const query =
      'query($tags: [String!], $first: Int!) { devices(filter: {tags: $tags}, first: $first) { nodes { id } } }';
    const mutation = 'mutation($id: ID!) { pauseJob(id: $id) { userErrors { message } } }';
    const [data, piped, rejected, wrong, missing] = await Promise.all([
      run(['graphql', query, '-F', 'first=5']),
      run(['graphql', '-f', '-', '-F', 'first=5', '-F', 'tags=["none"]', '-o', 'jsonl'], { input: query }),
      run(['graphql', mutation, '-F', 'id=unknown']),
      run(['graphql', '{ colour }']),
      run(['graphql', query]),
    ]);
    expect([data.code, JSON.parse(data.stdout)]).toMatchObject([0, { devices: { nodes: [{}, {}] } }]);
    expect([piped.code, piped.stdout]).toEqual([0, '{"devices":{"nodes":[]}}\n']);
    expect([rejected.code, rejected.stderr]).toEqual([2, expect.stringContaining('unknown')]);
    expect([wrong.code, wrong.stdout, missing.code]).toEqual([2, '', 1]);
  });

  it('prints the values of a subscription until Ctrl-C', async () => {
    const subscription = 'subscription($type: [String!]) { eventAdded(filter: {types: $type}) { node { type } } }';
    const child = spawn(process.execPath, [flotillaBin, 'graphql', subscription, '-F', 'type=["device.removed"]'], {
      env: environmentFor(hub),
    });
    const closed = once(child, 'close');
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await eventually(
      async () => {
        await run(['devices', 'add', 'short-lived', '--dialect', 'MCPU', '--transport', 'MQTT']);
        await run(['devices', 'remove', 'short-lived', '--yes']);
        return printed;
      },
      (text) => text.includes('{"eventAdded":{"node":{"type":"device.removed"}}}\n'),
    );
    child.kill('SIGINT');
    expect(await closed).toEqual([130, null]);
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

describe('messages whose reader is gone', () => {
  it('are lost, and the exit code is still that of the job', async () => {
    const words = `jobs create ${lampOn} --device ${lamp} --follow --json`;
    const script = `{ "${process.execPath}" "${flotillaBin}" ${words}; echo "code $?"; } 2> >(exec 0<&-)`;
    const child = spawn('bash', ['-c', script], { env: environmentFor(hub) });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text));
    await once(child, 'close');
    expect(printed).toContain('"conclusion":"SUCCEEDED"');
    expect(printed).toMatch(/code 0\n$/);
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
        /^--expires-in must be a duration such as 30s, 10m, 2h or 7d, from 0s to 36500d/,
      ],
      [['firmware', 'upload', '/nowhere'], {}, 1, /^\/nowhere cannot be read/],
      [['firmware', 'upload', '/'], {}, 1, /^\/ is not a file/],
      [['devices', 'more'], {}, 1, /Unknown command or argument "more"\. See --help/],
      [['jobs', 'follow', 'nothing'], {}, 2, /^NOT_FOUND/],
      [['jobs', 'follow', 'nothing', '--url', 'http://127.0.0.1:9'], {}, 4, /UNREACHABLE/],
      [['devices'], { env: { FLOTILLA_KEY: '' } }, 5, /No API key/],
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
});

describe('a shell', () => {
  /** Defines `flotilla` in a shell, and loads the completion script. */
  const runIn = (shell: string, script: string) =>
    spawnSync(shell, ['-c', script], {
      env: { ...environmentFor(hub), NODE: process.execPath, BIN: flotillaBin },
      encoding: 'utf8',
    });
  const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

  it('completes commands, options, choices and ids in bash', () => {
    const complete = (line: string) => {
      const { stdout, stderr } = runIn(
        'bash',
        `flotilla() { "$NODE" "$BIN" "$@"; }; eval "$(flotilla completion bash)"
        COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _flotilla; printf '%s\\n' "\${COMPREPLY[@]}"`,
      );
      expect(stderr).toBe('');
      return stdout.trim().split('\n');
    };
    expect(complete('flotilla jo')).toEqual(['jobs']);
    expect(complete('flotilla jobs p')).toEqual(['pause']);
    expect(complete('flotilla jobs create x --offline W')).toEqual(['WAIT']);
    expect(complete('flotilla devices list --onl')).toEqual(['--online']);
    // bash replaces what follows the last colon.
    const [head = '', tail = ''] = [lamp.slice(0, 12), lamp.slice(12)];
    expect(complete(`flotilla call ${head}`)).toContain(tail);
    expect(complete(`flotilla call ${lamp} self.lamp.turn_on`)).toEqual([lampOn]);
  });

  it.skipIf(!isInstalled('fish'))('completes the same in fish (skipped without fish)', () => {
    const { stdout } = runIn(
      'fish',
      `function flotilla; $NODE $BIN $argv; end; flotilla completion fish | source
      complete -C 'flotilla jobs p'; complete -C 'flotilla call ${lamp}'`,
    );
    expect(stdout.trim().split('\n')).toEqual(['pause\tPause a job; calls in flight still finish', lamp]);
  });

  it.skipIf(!isInstalled('zsh'))('can load the script in zsh (skipped without zsh)', () => {
    const { status, stderr } = runIn(
      'zsh',
      `flotilla() { "$NODE" "$BIN" "$@" }; autoload -U compinit && compinit -u -D
      eval "$(flotilla completion zsh)" && whence _flotilla`,
    );
    expect([status, stderr]).toEqual([0, '']);
  });
});
