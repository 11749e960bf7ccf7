import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../run-command.suite.js';
import { startSchemaHub, type SchemaHub } from '../../schema-hub.suite.js';

const rules = { gate: 'MANUAL', successThreshold: 0.95, soakSeconds: 600 };
const wave = { number: 1, size: 8, decided: 8, succeeded: 7, successShare: 0.875, ...rules };

let hub: SchemaHub;
let pauseReason: string | null;
beforeAll(async () => {
  hub = await startSchemaHub({
    'Job.waves': () => [wave, { ...wave, number: 2, size: 40, decided: 0, succeeded: 0, successShare: null }],
    'Job.pauseReason': () => pauseReason,
    'Job.conclusion': () => null,
    'Job.currentWave': () => 1,
  });
});
afterAll(() => hub.close());

describe('a job with waves', () => {
  it('is shown with its waves and, at a gate, with the command that goes on', async () => {
    pauseReason = 'WAVE_GATE';
    const { stdout, stderr } = await runCommand(hub, ['jobs', 'show', 'a-job']);
    expect(stdout).toMatch(/1 +8\/8 +7 \(87\.5%, needs 95%\) +600s +MANUAL/);
    expect(stdout).toMatch(/2 +0\/40 +0 \(needs 95%\)/);
    expect(stderr).toContain('waits at the gate of wave 1. To go on: flotilla jobs open-wave ');
  });

  it('has for a table the fields that it has for programs', async () => {
    pauseReason = null;
    const { problem, stdout } = await runCommand(hub, ['jobs', 'show', 'a-job', '--columns', 'progress.total']);
    expect([problem, stdout]).toEqual(['', 'progress total  1\n']);
  });

  it.each(['show', 'pause'])('has the columns that its table shows: %s', async (act) => {
    pauseReason = null;
    const line = ['jobs', act, 'a-job', '--columns', 'state,decided,troubles', '--json'];
    const { problem, stdout, stderr } = await runCommand(hub, line);
    expect([problem, stderr]).toEqual(['', '']);
    // The hub of the spec has 1 for each figure.
    expect(JSON.parse(stdout)).toEqual({
      state: 'AWAITING_APPROVAL',
      decided: '-3 of 1',
      troubles: expect.stringMatching(/^1 failed, 1 rejected, /),
    });
  });

  it('needs no command while it runs', async () => {
    pauseReason = null;
    expect((await runCommand(hub, ['jobs', 'show', 'a-job'])).stderr).not.toContain('open-wave');
  });
});
