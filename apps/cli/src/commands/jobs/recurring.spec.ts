import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const line = ['recurring', 'create', 'self.reboot', '--name', 'Sundays', '--cron', '0 4 * * SUN', '--all'];
const dayMs = 86_400_000;

let hub: SchemaHub;
let isDisruptive: boolean;
let inputs: { until?: string | null }[];
let revisions: unknown[];
beforeAll(async () => {
  const keep = (args: Readonly<Record<string, unknown>>) => {
    inputs.push(args['input'] as { until?: string | null });
    revisions.push(args['expectedRevision']);
    return {};
  };
  hub = await startSchemaHub({
    'ToolPolicy.disruptive': () => isDisruptive,
    'Mutation.createRecurringJob': keep,
    'Mutation.updateRecurringJob': keep,
  });
});
beforeEach(() => {
  inputs = [];
  revisions = [];
});
afterAll(() => hub.close());

describe('a new recurring job', () => {
  it('needs a confirmation if its tool disrupts devices, as a job does', async () => {
    isDisruptive = true;
    const refused = await runCommand(hub, line);
    expect([refused.code, refused.problem, inputs]).toEqual([1, expect.stringContaining('--yes'), []]);
    expect([(await runCommand(hub, [...line, '--yes'])).code, inputs.length]).toEqual([0, 1]);
  });

  it('needs none for another tool', async () => {
    isDisruptive = false;
    expect([(await runCommand(hub, line)).code, inputs.length]).toEqual([0, 1]);
  });
});

describe('the end of a recurring job', () => {
  it('is named as it was sent where the answer is lost, because 30d is another time later', async () => {
    const { fetch } = globalThis;
    const cut = new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'UND_ERR_SOCKET' }) });
    const network = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation((url, init) =>
        String(init?.body).includes('createRecurringJob') ? Promise.reject(cut) : fetch(url, init),
      );
    onTestFinished(() => network.mockRestore());
    const { stderr } = await runCommand(hub, [...line, '--yes', '--until', '30d']);
    expect(stderr).toMatch(/and with --until \d{4}-\d{2}-\d{2}T[\d:.]+Z in place of the typed time: it does it once\./);
  });

  it.each([
    ['create', [...line, '--yes']],
    ['edit', ['recurring', 'edit', '01990000-0000-7000-8000-00000000000c']],
  ])('is in the future: %s', async (_name, words) => {
    const before = Date.now();
    expect((await runCommand(hub, [...words, '--until', '30d'])).problem).toBe('');
    const end = Date.parse(inputs[0]?.until ?? '');
    expect(Math.round((end - before) / dayMs)).toBe(30);
  });

  it('is removed by an empty text in an edit, and stays without the option', async () => {
    const edit = ['recurring', 'edit', '01990000-0000-7000-8000-00000000000c', '--name', 'Sundays'];
    for (const words of [[...edit, '--until', ''], [...edit, '--until='], edit])
      expect((await runCommand(hub, words)).problem).toBe('');
    expect(inputs.map(({ until }) => until)).toEqual([null, null, '2026-01-01T00:00:00.000Z']);
    expect((await runCommand(hub, [...line, '--yes', '--until', ''])).problem).toContain('--until must be a time');
  });
});

describe('a recurring job', () => {
  const id = '01990000-0000-7000-8000-00000000000c';

  it.each([
    ['show', ['recurring', 'show', id]],
    ['enable', ['recurring', 'enable', id]],
  ])('has for a table the fields that it has for programs: %s', async (_name, words) => {
    const { problem, stdout } = await runCommand(hub, [...words, '--columns', 'lastJob.state']);
    expect([problem, stdout]).toEqual(['', expect.stringMatching(/^last job state +[A-Z_]+\n$/)]);
  });

  it('has the column of its next run that its table shows', async () => {
    const { stdout, stderr } = await runCommand(hub, ['recurring', 'enable', id, '--columns', 'nextRun']);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^next run +2026-01-01/), '']);
  });
});

describe('a change of a recurring job', () => {
  it.each(['edit', 'enable', 'disable'])('refuses what another person saved meanwhile: %s', async (act) => {
    const id = '01990000-0000-7000-8000-00000000000c';
    expect((await runCommand(hub, ['recurring', act, id])).problem).toBe('');
    expect(revisions).toEqual(['text']);
  });
});
