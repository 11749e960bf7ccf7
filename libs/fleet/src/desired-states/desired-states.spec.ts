/** Desired states over a real database and a manual clock: what is refused, and who may do what. */
import { randomUUID } from 'node:crypto';
import { defaultToolPolicy } from '@flotilla/jobs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '../actor.js';
import { boardTools } from '../fake-gateway.suite.js';
import { admin } from '../fleet-fixture.suite.js';
import { openDesiredFixture, requestOf, VOLUME } from './desired-fixture.suite.js';
import type { DesiredFixture } from './desired-fixture.suite.js';
import type { DesiredStateRequest } from './desired-state-request.js';
import { mayChangeDesiredState } from './desired-states.js';

describe('a desired state', () => {
  let world: DesiredFixture;
  let actor: Actor & { readonly keyId: string };
  let fleet: DesiredFixture['hub']['fleet'];

  beforeAll(async () => {
    world = await openDesiredFixture();
    fleet = world.hub.fleet;
    await world.hub.connect(
      ['a', 'b'],
      [
        ...boardTools,
        {
          name: 'self.siren.set',
          description: '',
          userOnly: true,
          inputSchema: { type: 'object', properties: { level: { type: 'integer' } } },
        },
      ],
    );
    actor = await world.makeActor();
  });
  afterAll(() => world.close());

  const create = (change: Partial<DesiredStateRequest>, by: Actor = actor, key: string = randomUUID()) =>
    fleet.createDesiredState(requestOf({ enabled: false, ...change }), key, by);

  it.each<[string, Partial<DesiredStateRequest>, string, readonly string[]]>([
    ['an empty name', { name: ' ' }, 'INVALID', ['input', 'name']],
    ['an empty filter', { devices: {} }, 'INVALID', ['input', 'devices']],
    ['a filter about itself', { devices: { outOfSync: true } }, 'INVALID', ['input', 'devices', 'outOfSync']],
    ['an unknown group', { devices: { groupId: randomUUID() } }, 'NOT_FOUND', ['input', 'devices']],
    ['no tool', { tool: '' }, 'INVALID', ['input', 'tool']],
    ['a tool that no device has', { tool: 'self.none' }, 'TOOL_UNKNOWN', ['input', 'tool']],
    ['a user-only tool', { tool: 'self.reboot', arguments: {} }, 'TOOL_FORBIDDEN', ['input', 'tool']],
    ['arguments that fit no device', { arguments: { volume: 300 } }, 'ARGUMENTS_INVALID', ['input', 'arguments']],
    ['the argument missing', { arguments: { loudness: 3 } }, 'INVALID', ['input', 'arguments', 'volume']],
    ['a long hold', { holdSeconds: 1e9 }, 'LIMIT_EXCEEDED', ['input', 'holdSeconds']],
    ['a priority out of range', { priority: 1_001 }, 'LIMIT_EXCEEDED', ['input', 'priority']],
    ['a pace of nothing', { perMinute: 0 }, 'INVALID', ['input', 'perMinute']],
    ['nothing in flight', { maxInFlight: 0 }, 'INVALID', ['input', 'maxInFlight']],
    ['a time that no clock shows', { window: { from: '24:00', to: '07:00' } }, 'INVALID', ['input', 'window', 'from']],
    ['an end that no clock shows', { window: { from: '22:00', to: '7' } }, 'INVALID', ['input', 'window', 'to']],
    ['an empty window', { window: { from: '07:00', to: '07:00' } }, 'INVALID', ['input', 'window', 'from']],
    [
      'an unknown zone',
      { window: { from: '22:00', to: '07:00', zone: 'Mars/Base' } },
      'INVALID',
      ['input', 'window', 'zone'],
    ],
  ])('is refused with %s', async (_what, change, code, path) => {
    expect(await create(change)).toMatchObject({ refusal: { code, path } });
    expect(await fleet.previewDesiredState(requestOf(change), actor)).toMatchObject({ refusal: { code, path } });
  });

  it('needs a readback in the policy of its tool, and the refusal says how to add one', async () => {
    const lamp = { tool: 'self.lamp.turn_on', arguments: {} };
    const refused = await create(lamp);
    expect(refused).toMatchObject({ refusal: { code: 'INVALID', path: ['input', 'tool'] } });
    expect('refusal' in refused && refused.refusal.message).toMatch(
      /no readback.*Add one: set the tool policy with `readback`/,
    );
    const readback = { tool: 'self.get_device_status', path: 'lamp.power', argument: 'power' };
    const policy = { ...defaultToolPolicy, pattern: 'self.lamp.turn_on', readback };
    await fleet.setToolPolicy(policy, admin);
    expect(await create(lamp)).toMatchObject({ refusal: { message: expect.stringContaining('may be repeated') } });
    await fleet.setToolPolicy({ ...policy, idempotent: true, disruptive: true }, admin);
    expect(await create(lamp)).toMatchObject({ refusal: { message: expect.stringContaining('disrupts its device') } });
    await fleet.deleteToolPolicy('self.lamp.turn_on', admin);
  });

  it('is created once for a repeated request, and has a name that no other has', async () => {
    const [name, key] = [randomUUID(), randomUUID()];
    const first = await create({ name }, actor, key);
    expect(await create({ name }, actor, key)).toEqual(first);
    expect(await create({ name, priority: 1 }, actor, key)).toMatchObject({
      refusal: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    expect(await create({ name })).toMatchObject({ refusal: { code: 'CONFLICT', path: ['input', 'name'] } });
  });

  it('is edited from the generation that the caller has seen, and keeps its edits', async () => {
    const made = await world.save({ enabled: false }, actor);
    const edit = (expected: number, volume: number) =>
      fleet.updateDesiredState(
        made.id,
        expected,
        requestOf({ enabled: false, name: made.name, arguments: { volume } }),
        actor,
      );
    expect(await edit(1, 40)).toMatchObject({ state: { generation: 2, arguments: { volume: 40 } } });
    expect(await edit(1, 41)).toMatchObject({ refusal: { code: 'CONFLICT', path: ['expectedGeneration'] } });
    expect(await fleet.updateDesiredState(randomUUID(), 1, requestOf(), actor)).toMatchObject({
      refusal: { code: 'NOT_FOUND', path: ['id'] },
    });
    const edits = await world.hub.registry.desiredStates.edits(made.id, 10);
    expect(edits.map(({ generation, plan }) => [generation, plan.arguments['volume']])).toEqual([
      [2, 40],
      [1, 30],
    ]);
    const { rows } = await world.hub.registry.audit.page({ subject: `desired-state:${made.id}` }, { first: 5 });
    expect(rows.map(({ action }) => action)).toEqual(['desired_state.edited', 'desired_state.created']);
  });

  it('is previewed: the counts add up, and conflicts are named', async () => {
    await world.hub.connect(['new'], []);
    await world.turn('a', 30);
    await world.turn('b', 80);
    const other = await world.save({ arguments: { volume: 5 } }, actor);
    const preview = await fleet.previewDesiredState(requestOf({ devices: { ids: ['a', 'b', 'new', 'c'] } }), actor);
    const { targetCount, inSyncCount, changeCount, unsupportedCount, unknownCount } = preview;
    expect([inSyncCount, changeCount, unsupportedCount, unknownCount]).toEqual([1, 1, 1, 0]);
    expect(inSyncCount + changeCount + unsupportedCount + unknownCount).toBe(targetCount);
    expect(preview.conflicts.map(({ id }) => id)).toEqual([other.id]);
    expect(preview.sample.map(({ id }) => id)).toEqual(['b']);
    expect(await fleet.previewDesiredState(requestOf({ arguments: { volume: 5 } }), actor)).toMatchObject({
      conflicts: [],
    });
    expect(await fleet.previewDesiredState(requestOf({ priority: 1 }), actor)).toMatchObject({ conflicts: [] });
    expect(await fleet.previewDesiredState(requestOf(), actor, other.id)).toMatchObject({ conflicts: [] });
    await fleet.deleteDesiredState(other.id, actor);
  });

  it('is previewed with the secret that another one sets, not with its mask', async () => {
    const pattern = 'self.lock.set_pin';
    const inputSchema = { type: 'object', properties: { pin: { type: 'string' } } };
    await world.hub.connect(
      ['lock'],
      [...boardTools, { name: pattern, description: '', userOnly: false, inputSchema }],
    );
    const readback = { tool: 'self.get_device_status', path: 'lock.pin', argument: 'pin' };
    await fleet.setToolPolicy({ ...defaultToolPolicy, pattern, idempotent: true, disruptive: false, readback }, admin);
    const withPin = (pin: string) => ({ tool: pattern, arguments: { pin }, devices: { ids: ['lock'] } });
    const other = await world.save(withPin('4711'), actor);
    expect(other.arguments).toEqual({ pin: '***' });
    expect(await fleet.previewDesiredState(requestOf(withPin('4711')), actor)).toMatchObject({ conflicts: [] });
    expect(await fleet.previewDesiredState(requestOf(withPin('0815')), actor)).toMatchObject({
      conflicts: [{ id: other.id }],
    });
    await fleet.deleteDesiredState(other.id, actor);
  });

  it('of a narrowed key is narrowed for good, and other narrowed keys do not see it', async () => {
    const scope = { ids: ['a'] };
    const narrowed = await world.makeActor(['JOBS_WRITE', 'TOOLS_CALL'], scope);
    const made = await world.save({ enabled: false, tool: VOLUME }, narrowed);
    expect(made.devices).toMatchObject({ within: scope });
    const stranger = await world.makeActor(['JOBS_WRITE', 'TOOLS_CALL'], { ids: ['b'] });
    const view = world.hub.registry.viewFor(stranger);
    expect(await view.desiredStates.find(made.id)).toBeUndefined();
    expect((await view.desiredStates.page({ first: 10 })).rows).toEqual([]);
    const refused = { refusal: { code: 'NOT_FOUND', path: ['id'] } };
    expect(await fleet.updateDesiredState(made.id, 1, requestOf(), stranger)).toMatchObject(refused);
    expect(await fleet.setDesiredStateEnabled(made.id, true, stranger)).toMatchObject(refused);
    expect(await fleet.deleteDesiredState(made.id, stranger)).toMatchObject(refused);
    expect([narrowed, stranger, actor].map((each) => mayChangeDesiredState(made, each))).toEqual([true, false, true]);
    expect(mayChangeDesiredState(made, { ...actor, mayCallTools: false })).toBe(false);
    expect((await world.hub.registry.viewFor(narrowed).desiredStates.find(made.id))?.id).toBe(made.id);
    const whole = requestOf({ name: made.name, enabled: false, devices: { all: true } });
    expect(await fleet.updateDesiredState(made.id, 1, whole, actor)).not.toHaveProperty('refusal');
    expect(await fleet.setDesiredStateEnabled(made.id, true, narrowed)).toMatchObject(refused);
    expect(await fleet.deleteDesiredState(made.id, narrowed)).toMatchObject(refused);
    const saved = await world.hub.registry.viewFor(narrowed).desiredStates.find(made.id);
    expect(saved && mayChangeDesiredState(saved, narrowed)).toBe(false);
  });

  it('of a narrowed key stays narrowed when another person edits it with the filter that is shown', async () => {
    const narrowed = await world.makeActor(['JOBS_WRITE', 'TOOLS_CALL'], { ids: ['a'] });
    const made = await world.save({ enabled: false, devices: { all: true } }, narrowed);
    const edited = requestOf({ name: made.name, enabled: false, devices: { all: true }, holdSeconds: 60 });
    expect(await fleet.previewDesiredState(edited, actor, made.id)).toMatchObject({ targetCount: 1 });
    const saved = await fleet.updateDesiredState(made.id, 1, edited, actor);
    expect(saved).toMatchObject({ state: { holdSeconds: 60, devices: made.devices } });
    const other = { ...edited, devices: { ids: ['a', 'b'] } };
    expect(await fleet.updateDesiredState(made.id, 2, other, actor)).toMatchObject({
      state: { devices: other.devices },
    });
  });

  it('is enabled only by those who may call its tool', async () => {
    const pattern = 'self.siren.set';
    const readback = { tool: 'self.get_device_status', path: 'siren.level', argument: 'level' };
    await fleet.setToolPolicy({ ...defaultToolPolicy, pattern, idempotent: true, disruptive: false, readback }, admin);
    const change = {
      enabled: false,
      tool: pattern,
      arguments: { level: 1 },
      devices: { ids: ['a'] },
    };
    const made = await world.save(change, { ...actor, mayCallUserOnly: true });
    const refused = { refusal: { code: 'TOOL_FORBIDDEN', path: ['id'] } };
    expect(await fleet.setDesiredStateEnabled(made.id, true, actor)).toMatchObject(refused);
    expect(await fleet.setDesiredStateEnabled(made.id, false, actor)).not.toHaveProperty('refusal');
  });

  it('keeps the arguments that a viewer sees masked, because its tool is user-only on some devices', async () => {
    const guarded = boardTools.map((tool) => ({ ...tool, userOnly: true }));
    await world.hub.connect(['guarded'], guarded);
    const made = await world.save({ enabled: false, arguments: { volume: 60 } }, actor);
    const edit = (given: DesiredStateRequest['arguments'], by: Actor, generation = 1) => {
      const request = requestOf({ enabled: false, name: made.name, arguments: given, priority: 1 });
      return fleet.updateDesiredState(made.id, generation, request, by);
    };
    const masked = { volume: '***' };
    expect(await edit(masked, actor)).toMatchObject({ state: { arguments: { volume: 60 } } });
    const refused = { refusal: { code: 'INVALID', path: ['input', 'arguments'] } };
    const preview = (id?: string) => fleet.previewDesiredState(requestOf({ arguments: masked }), actor, id);
    expect(await preview(made.id)).toMatchObject({ refusal: undefined });
    expect(await preview()).toMatchObject(refused);
    expect(await create({ arguments: masked }, actor)).toMatchObject(refused);
    expect(await edit({ ...masked, ramp: '***' }, actor, 2)).toMatchObject(refused);
    expect(await edit(masked, { ...actor, mayCallUserOnly: true }, 2)).toMatchObject({
      refusal: { code: 'ARGUMENTS_INVALID' },
    });
  });

  it('is limited to its devices for those who save its masked arguments, until they enter them', async () => {
    await world.hub.connect(
      ['guarded'],
      boardTools.map((tool) => ({ ...tool, userOnly: true })),
    );
    const made = await world.save({ enabled: false, arguments: { volume: 60 } }, actor);
    const other = await world.makeActor();
    const edit = (generation: number, by: Actor, change: Partial<DesiredStateRequest> = {}) => {
      const request = requestOf({ enabled: false, name: made.name, arguments: { volume: '***' }, ...change });
      return fleet.updateDesiredState(made.id, generation, request, by);
    };
    const elsewhere = { devices: { ids: ['b'] } };
    expect(await edit(1, other)).toMatchObject({ state: { savedById: other.id, secretsById: actor.id } });
    const refused = { refusal: { code: 'INVALID', path: ['input', 'devices'] } };
    expect(await edit(2, other, elsewhere)).toMatchObject(refused);
    expect(await edit(2, actor, elsewhere)).toMatchObject({ state: elsewhere });
    expect(await edit(3, other, { arguments: { volume: 60 } })).toMatchObject({ state: { secretsById: other.id } });
    expect(await edit(4, other, elsewhere)).toMatchObject({ state: elsewhere });
    expect(await edit(5, actor)).toMatchObject(refused);
  });

  it('needs the scope TOOLS_CALL', async () => {
    const reader = { ...actor, mayCallTools: false };
    await expect(create({}, reader)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(fleet.setDesiredStateEnabled(randomUUID(), true, reader)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});
