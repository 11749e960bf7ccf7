/** A repetition of `call_tool_on_many` whose devices have changed since. */
import { beforeEach, expect, it } from 'vitest';
import type { Job } from '@flotilla/jobs';
import type { DeviceRow } from '@flotilla/registry';
import type { AgentCaller } from '../session/agent-caller.js';
import { callToolOnMany } from './call-on-many.js';

let online: readonly string[];
/** The jobs that were created, with their request hashes, by idempotency key. */
let created: Map<string, { readonly job: Job; readonly hash: string | undefined }>;

beforeEach(() => {
  online = ['lamp-1', 'lamp-2'];
  created = new Map();
});

const refusal = { code: 'IDEMPOTENCY_KEY_REUSED', path: ['idempotencyKey'], message: 'Used.' } as const;
const fleet = {
  previewJob: async () => ({ argumentErrors: [], warnings: [], missingToolCount: 0, blastRadius: 2 }) as never,
  createJob: async (_request: unknown, key: string, _actor: unknown, hash?: string) => {
    const job = { id: `job-${created.size + 1}`, state: 'PREPARING' } as unknown as Job;
    created.set(key, { job, hash });
    return { job };
  },
  earlierJob: async ({ idempotencyKey, requestHash }: { idempotencyKey: string; requestHash: string }) => {
    const earlier = created.get(idempotencyKey);
    if (earlier === undefined) return undefined;
    return earlier.hash === requestHash ? { job: earlier.job } : { refusal };
  },
};
const devices = {
  page: async () => ({
    rows: online.map((id) => ({ id, presence: 'ONLINE' }) as DeviceRow),
    cursors: online,
    hasNextPage: false,
  }),
};
const lobby = { id: 'group', name: 'Lobby', filter: { tags: ['lobby'] } };
const deviceGroups = {
  findMany: async () => [undefined],
  page: async () => ({ rows: [lobby], cursors: ['Lobby'], hasNextPage: false }),
};
const callerWith = (...scopes: readonly string[]) =>
  ({
    viewer: { kind: 'KEY', id: 'key', name: 'key', scopes },
    view: { devices, deviceGroups },
    mode: 'auto',
    remoteAddress: undefined,
    trace: undefined,
  }) as unknown as AgentCaller;
const caller = callerWith('ADMIN');

const request = { tool: 'self.lamp.turn_on', presence: 'ONLINE', confirmDevices: 2, idempotencyKey: 'lamps on' };
const ask = async (change: Readonly<Record<string, unknown>> = {}) =>
  callToolOnMany({ fleet }, caller, { ...request, ...change } as never);

it('returns the first job, with the number of devices that is confirmed now or with the first one', async () => {
  const first = (await ask()).structuredContent;
  expect(first).toMatchObject({ job: 'job-1', devices: 2 });
  online = ['lamp-1'];
  expect((await ask()).structuredContent).toMatchObject({ job: 'job-1' });
  expect((await ask({ confirmDevices: 1 })).structuredContent).toMatchObject({ job: 'job-1' });
  expect(created.size).toBe(1);
});

it('is refused with other arguments, and a preview stays one', async () => {
  await ask();
  expect((await ask({ arguments: { hue: 3 } })).isError).toBe(true);
  expect((await ask({ confirmDevices: undefined })).structuredContent).toMatchObject({ preview: true });
  expect(created.size).toBe(1);
});

it('shows ids of devices and names of groups only to a caller who may read devices', async () => {
  const preview = (by: AgentCaller, change: Readonly<Record<string, unknown>> = {}) =>
    callToolOnMany({ fleet }, by, { ...request, confirmDevices: undefined, ...change } as never);
  const blind = callerWith('JOBS_WRITE', 'TOOLS_CALL');
  const reading = callerWith('JOBS_WRITE', 'TOOLS_CALL', 'DEVICES_READ');
  expect((await preview(reading)).structuredContent).toMatchObject({ devices: 2, sample: online });
  const shown = await preview(blind);
  expect(shown.structuredContent).toMatchObject({ preview: true, devices: 2, blastRadius: 2 });
  expect(JSON.stringify(shown)).not.toContain('lamp-1');
  expect(JSON.stringify(await preview(reading, { group: 'Attic' }))).toContain('Lobby');
  expect(JSON.stringify(await preview(blind, { group: 'Attic' }))).not.toContain('Lobby');
});
