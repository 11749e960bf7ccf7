/** What the tools for desired states show to callers with few scopes. */
import { expect, it } from 'vitest';
import type { AgentCaller } from '../session/agent-caller.js';
import { createDesiredState, desiredStates } from './desired-tools.js';

const counts = { targetCount: 1, inSyncCount: 0, changeCount: 1, unsupportedCount: 0, unknownCount: 0 };
const found = { conflicts: [{ id: 'state', name: 'Quiet at night' }], sample: [{ id: 'lamp-1' }], refusal: undefined };
const fleet = { previewDesiredState: async () => ({ ...counts, ...found }) as never, createDesiredState: undefined };
const args = { name: 'Loud', tool: 'self.audio_speaker.set_volume', arguments: { volume: 80 }, tags: ['lobby'] };

const previewOf = async (given: typeof args & Readonly<Record<string, unknown>>, ...scopes: readonly string[]) => {
  const caller = { viewer: { kind: 'KEY', id: 'key', name: 'key', scopes }, view: {} } as unknown as AgentCaller;
  return (await createDesiredState({ fleet: fleet as never }, caller, given)).structuredContent;
};
const preview = (...scopes: readonly string[]) => previewOf(args, ...scopes);

it('names devices and other desired states only to a caller who may read them', async () => {
  const conflicts = [{ id: 'state', name: 'Quiet at night' }];
  const mayRead = await preview('JOBS_WRITE', 'TOOLS_CALL', 'DEVICES_READ', 'JOBS_READ');
  expect(mayRead).toMatchObject({ devices: 1, conflicts, sample: ['lamp-1'] });
  const blind = await preview('JOBS_WRITE', 'TOOLS_CALL');
  expect(blind).toMatchObject({ preview: true, devices: 1, wouldChange: 1 });
  expect(blind).not.toHaveProperty('conflicts');
  expect(blind).not.toHaveProperty('sample');
});

it('says in the preview that nothing reaches devices where another desired state disagrees', async () => {
  const { next } = (await preview('JOBS_WRITE', 'TOOLS_CALL', 'JOBS_READ')) as { readonly next: string };
  expect(next).toContain('Nothing is sent to devices of these conflicts');
  expect(next).toContain('another priority');
  expect(await preview('JOBS_WRITE', 'TOOLS_CALL')).toMatchObject({
    next: 'Nothing was done. To create the desired state, call again with confirmDevices 1.',
  });
});

it('does not say that nothing was done to one whose earlier call with the key may have succeeded', async () => {
  const repeated = { ...args, confirmDevices: 10, idempotencyKey: 'once' };
  expect(await previewOf(repeated, 'JOBS_WRITE', 'TOOLS_CALL')).toMatchObject({
    next: expect.stringMatching(/^This call did nothing.* An earlier call with this key may .* desired_states first/),
  });
});

it('names devices that are out of sync only to a caller who may read devices', async () => {
  const row = { id: 'state', name: 'Quiet', tool: 'self.audio_speaker.set_volume', createdBy: 'ann' };
  const target = { deviceId: 'lamp-1', state: 'FAILED', since: 0 };
  const states = {
    find: async () => ({ ...row, arguments: {}, devices: { all: true }, readback: {} }),
    summaries: async () => [{ counts: new Map([['FAILED', 1]]) }],
    targets: async () => ({ rows: [target], cursors: ['1'], hasNextPage: false }),
  };
  const read = async (...scopes: readonly string[]) => {
    const viewer = { kind: 'KEY', id: 'key', name: 'key', scopes: [...scopes, 'TOOLS_CALL_PRIVILEGED'] };
    const caller = { viewer, view: { desiredStates: states } } as unknown as AgentCaller;
    return (await desiredStates({ fleet: fleet as never }, caller, { id: 'state' })).structuredContent;
  };
  const outOfSync = [{ state: 'FAILED', since: '1970-01-01T00:00:00.000Z' }];
  expect(await read('JOBS_READ')).toMatchObject({ desiredStates: [{ byState: { FAILED: 1 }, outOfSync }] });
  expect(JSON.stringify(await read('JOBS_READ'))).not.toContain('lamp-1');
  expect(await read('JOBS_READ', 'DEVICES_READ')).toMatchObject({
    desiredStates: [{ outOfSync: [{ device: 'lamp-1' }] }],
  });
});
