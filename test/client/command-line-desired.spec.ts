/** Desired states by the command line, against the built hub, counted at the devices. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jsonLines } from '../src/api/command-line.js';
import { startCommandLineStory, type CommandLineStory } from '../src/client/command-line-story.js';
import { eventually } from '../src/eventually.js';

const volume = 'self.audio_speaker.set_volume';

let story: CommandLineStory;

beforeAll(async () => {
  story = await startCommandLineStory();
});

afterAll(async () => expect(await story.end()).toBe(0));

interface Desired {
  readonly id: string;
  readonly generation: number;
  readonly enabled: boolean;
  readonly summary: { readonly targeted: number; readonly inSync: number };
}

/** Runs a command that succeeds, and returns the first thing that it prints. */
async function done<Thing = Desired>(...args: readonly string[]): Promise<Thing> {
  const outcome = await story.run([...args, '--json']);
  expect([args, outcome.code, outcome.stderr]).toEqual([args, 0, '']);
  return jsonLines<Thing & object>(outcome)[0] as Thing;
}

const volumes = async () => Object.values(await story.fleet.levels()).map((levels) => levels.volume);

describe('flotilla desired', () => {
  it('previews in words, creates, edits and follows what the devices have', async () => {
    const preview = await story.run(['desired', 'preview', volume, 'volume=30', '--all']);
    expect(preview.stdout).toMatch(/^It covers 2 devices: 0 in sync already, \d would change\./);
    expect(await volumes()).toEqual([70, 70]);
    const made = await done('desired', 'create', volume, 'volume=30', '--name', 'Quiet', '--all');
    expect(made).toMatchObject({ name: 'Quiet', generation: 1, arguments: { volume: 30 }, enabled: true });
    await eventually(volumes, (found) => found.every((level) => level === 30), 15_000);
    const shown = () => done('desired', 'show', made.id);
    await eventually(shown, ({ summary }) => summary.inSync === 2, 15_000);
    const targets = await story.run(['desired', 'targets', made.id, '--output', 'csv', '--columns', 'device,state']);
    expect(targets.stdout.trim().split('\n').sort()).toEqual([
      '02:00:01:00:00:00,IN_SYNC',
      '02:00:01:00:00:01,IN_SYNC',
      'device,state',
    ]);
    expect(await done('desired', 'edit', made.id, 'volume=20', '--window', '00:00-23:59')).toMatchObject({
      generation: 2,
      arguments: { volume: 20 },
      window: { from: '00:00', to: '23:59', zone: null },
    });
    await eventually(volumes, (found) => found.every((level) => level === 20), 15_000);
    await eventually(shown, ({ summary }) => summary.inSync === 2, 15_000);
    expect((await story.run(['desired'])).stdout).toMatch(/Quiet +yes +2\/2/);
  });

  it('names conflicts, and disables and deletes without a change of devices', async () => {
    const id = (await done<{ readonly id: string }>('desired')).id;
    const other = await story.run(['desired', 'preview', volume, 'volume=90', '--all']);
    expect(other).toMatchObject({ code: 2, stdout: expect.stringContaining('Conflict: "Quiet"') });
    const refused = await story.run(['desired', 'create', 'self.lamp.turn_on', '--name', 'Lamps', '--all']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/readback/i) });
    expect(await done('desired', 'disable', id)).toMatchObject({ enabled: false });
    expect(await done('desired', 'edit', id, '--priority', '3')).toMatchObject({ enabled: false, generation: 3 });
    expect(await done('desired', 'enable', id)).toMatchObject({ enabled: true });
    expect(await story.run(['desired', 'delete', id])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--yes'),
    });
    expect(await done('desired', 'delete', id, '--yes')).toEqual({ deletedId: id });
    expect(await volumes()).toEqual([20, 20]);
  });
});
