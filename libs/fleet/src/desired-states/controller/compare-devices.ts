/**
 * Compares devices with all desired states that cover them: reads what is known of them, lets
 * libs/desired-state decide, and returns the entries to write and what follows.
 */
import { abandonTry, blocksOf, decide, desiredWindowAt, endTry, failRead } from '@flotilla/desired-state';
import type { Contender, Decision, Entry, Facts, KnownValue, LookCause } from '@flotilla/desired-state';
import { valueAt } from '@flotilla/jobs';
import type { CallError, DeviceId, JobId } from '@flotilla/mcp';
import type { DesiredTargetRow, DeviceFacts, FencedTarget, RolloutReach } from '@flotilla/registry';
import type { DesiredStateRunnerDeps } from './controller-deps.js';
import type { LiveGeneration, LiveState } from './live-state.js';
import type { LiveStates } from './live-states.js';
import type { FailedRead, Look } from './look.js';
import { newest } from './recent-values.js';
import type { RecentValues } from './recent-values.js';

/** One entry after a look. `to` undefined: the device is not covered any more. */
export interface Compared {
  readonly live: LiveState;
  readonly device: Pick<DeviceFacts, 'deviceId' | 'epoch' | 'gatewayId'>;
  readonly generation: LiveGeneration | undefined;
  readonly from: DesiredTargetRow | undefined;
  readonly to: DesiredTargetRow | undefined;
  readonly next: Decision['next'];
  /** Why it was looked at: what follows a read has the same cause. */
  readonly cause: LookCause;
}

interface Covered {
  readonly live: LiveState;
  readonly generation: LiveGeneration;
  readonly row: DesiredTargetRow | undefined;
  /** Its set has ended, or was claimed and never sent. The stored entry does not show that yet. */
  readonly hasEnded: boolean;
}

/** What PostgreSQL knows of the devices of a batch. Removed devices are absent. */
interface KnownOfDevices {
  readonly devices: ReadonlyMap<DeviceId, DeviceFacts>;
  readonly rowOf: (live: LiveState, deviceId: DeviceId) => DesiredTargetRow | undefined;
  readonly reachOf: (jobId: JobId, deviceId: DeviceId) => RolloutReach | undefined;
}

interface KnownOfDevice extends Pick<KnownOfDevices, 'rowOf' | 'reachOf'> {
  readonly deviceId: DeviceId;
  readonly device: DeviceFacts | undefined;
  /** The desired state whose try on the device had not ended before the reads. */
  readonly tried: string | undefined;
}

interface SortedStates {
  /** Those that are compared with the device. */
  readonly covered: readonly Covered[];
  /** Those that a roll-out is bringing to it: they are in the way of others. */
  readonly blocking: readonly LiveGeneration[];
  /** Entries to forget, and tries that ended while a roll-out decides. */
  readonly others: readonly Compared[];
}

export class DeviceComparison {
  constructor(
    private readonly deps: DesiredStateRunnerDeps,
    private readonly states: LiveStates,
    private readonly values: RecentValues,
    /** The desired state whose try on the device has not ended. */
    private readonly triedOn: (deviceId: DeviceId) => string | undefined,
  ) {}

  /** Reads what is known of the devices in a few statements, then compares one after the other. */
  async of(looks: ReadonlyMap<DeviceId, Look>): Promise<readonly Compared[]> {
    const lives = this.states.all;
    const deviceIds = [...looks.keys()];
    // A try that ends during the reads is under way for this look: the next one has its end.
    const tried = new Map(deviceIds.map((id) => [id, this.triedOn(id)]));
    const readTools = [...new Set(lives.flatMap(toolsRead))];
    const { devices, rowOf, reachOf } = await this.#read(lives, deviceIds, readTools);
    await this.#judgeTools(lives, [...devices.values()]);
    const compared: Compared[] = [];
    for (const [deviceId, look] of looks) {
      const device = devices.get(deviceId);
      const known = { deviceId, device, tried: tried.get(deviceId), rowOf, reachOf };
      const { covered, blocking, others } = await this.#sorted(lives, known);
      compared.push(...others);
      if (device !== undefined) compared.push(...this.#compare(device, look, { covered, blocking }, readTools));
    }
    return compared;
  }

  async #read(
    lives: readonly LiveState[],
    deviceIds: readonly DeviceId[],
    readTools: readonly string[],
  ): Promise<KnownOfDevices> {
    const queue = this.deps.registry.desiredStateQueue;
    const filters = lives.map(({ owned }) => owned.filter ?? { any: [] });
    const rollouts = lives.flatMap(({ owned }) => owned.rollouts.map(({ jobId }) => jobId));
    const [facts, rows, reach] = await Promise.all([
      queue.facts(deviceIds, { readTools, filters }),
      queue.rows(
        lives.map(({ row }) => row.id),
        deviceIds,
      ),
      rollouts.length === 0 ? new Map<string, RolloutReach>() : queue.rolloutReach(rollouts, deviceIds),
    ]);
    const byKey = new Map(rows.map((row) => [`${row.desiredStateId} ${row.deviceId}`, row]));
    return {
      devices: new Map(facts.map((each) => [each.deviceId, each])),
      rowOf: ({ row }, deviceId) => byKey.get(`${row.id} ${deviceId}`),
      reachOf: (jobId, deviceId) => reach.get(`${jobId} ${deviceId}`),
    };
  }

  /** What each desired state has to do with a device. */
  async #sorted(
    lives: readonly LiveState[],
    { deviceId, device, tried, rowOf, reachOf }: KnownOfDevice,
  ): Promise<SortedStates> {
    const covered: Covered[] = [];
    const blocking: LiveGeneration[] = [];
    const others: Compared[] = [];
    for (const [index, live] of lives.entries()) {
      const row = rowOf(live, deviceId);
      const hasEnded = row?.isSending === true && tried !== live.row.id;
      if (device?.matches[index] === true) {
        const { generation, isUnderWay } = await this.#generationOf(live, row, (jobId) => reachOf(jobId, deviceId));
        if (generation !== undefined && !isUnderWay) covered.push({ live, generation, row, hasEnded });
        else if (hasEnded) others.push(apart(live, row, abandonTry(row)));
        if (generation !== undefined && isUnderWay) blocking.push(generation);
      } else if (row !== undefined && (!row.isSending || hasEnded)) others.push(apart(live, row, undefined));
    }
    return { covered, blocking, others };
  }

  /** UNDER_WAY: the job decides, so the entry stays as it is, and it is in the way of others. */
  async #generationOf(
    live: LiveState,
    row: DesiredTargetRow | undefined,
    reachOf: (jobId: JobId) => RolloutReach | undefined,
  ): Promise<{ readonly generation: LiveGeneration | undefined; readonly isUnderWay: boolean }> {
    const { generation: newest, settledGeneration } = live.row;
    let reached = 0;
    // Disabling the desired state removed its entry: the jobs still know what it got.
    for (const { generation, jobId } of live.owned.rollouts) {
      const reach = reachOf(jobId);
      if (reach === 'UNDER_WAY')
        return { generation: await this.states.generation(live, generation), isUnderWay: true };
      if (reach === 'REACHED' && generation > settledGeneration) reached = Math.max(reached, generation);
    }
    const number = settledGeneration === newest ? newest : live.generationOf(row, reached);
    const own = await this.states.generation(live, number);
    return { generation: own ?? (await this.states.generation(live, newest)), isUnderWay: false };
  }

  async #judgeTools(lives: readonly LiveState[], facts: readonly DeviceFacts[]): Promise<void> {
    const hashes = [...new Set(facts.flatMap(({ toolSetHash }) => toolSetHash ?? []))];
    const checks = lives.flatMap(({ generations }) =>
      [...generations.values()].flatMap(({ sets, reads }) => [sets, reads]),
    );
    for (const check of checks) {
      const unknown = hashes.filter((hash) => !check.isJudged(hash));
      if (unknown.length > 0) await check.judge(unknown);
    }
  }

  #compare(
    device: DeviceFacts,
    look: Look,
    { covered, blocking }: { readonly covered: readonly Covered[]; readonly blocking: readonly LiveGeneration[] },
    readTools: readonly string[],
  ): readonly Compared[] {
    const now = this.deps.clock.now();
    const zone = device.timeZone ?? this.deps.timeZone;
    const properties = new Set(covered.map(({ generation }) => generation.property));
    return [...properties].flatMap((property) => {
      const group = covered.filter(({ generation }) => generation.property === property);
      const contenders: Contender[] = [...group.map(({ generation }) => generation), ...blocking]
        .filter((each) => each.property === property && each.wanted.generation > 0)
        .map((each) => ({ wanted: each.wanted, unsupported: unsupportedBy(each, device) }));
      const blocks = blocksOf(contenders, zone, now);
      return group.map((each) => {
        const { wanted, stored } = each.generation;
        const value = this.#valueOf(device, each, readTools, now);
        const window = desiredWindowAt(wanted.window, zone, now);
        const facts: Facts = {
          isOnline: device.isOnline,
          value,
          freshSince: look.freshSince,
          cause: look.cause,
          block: blocks.get(wanted.id),
          edgeAt: window?.until,
        };
        const failedRead = failedReadOf(look, stored.readback.tool, device);
        const { entry, next } = this.#withoutFailedRead(this.#decide(each, facts, look, now), failedRead, now);
        return {
          live: each.live,
          device,
          generation: each.generation,
          from: each.row,
          to: { ...entry, desiredStateId: wanted.id, deviceId: device.deviceId },
          next,
          cause: look.cause,
        };
      });
    });
  }

  #decide({ live, generation, row, hasEnded }: Covered, facts: Facts, { ends }: Look, now: number): Decision {
    if (row === undefined || !hasEnded) return decide(generation.wanted, row, facts, now);
    const end = ends.get(live.row.id);
    if (end === undefined) return decide(generation.wanted, abandonTry(row), { ...facts, freshSince: now }, now);
    return endTry(generation.wanted, row, end, facts, { now, chance: this.#chance() });
  }

  /** A read that has just failed is not repeated at once: it counts as a try, and waits. */
  #withoutFailedRead(decision: Decision, failedRead: FailedRead | undefined, now: number): Decision {
    if (decision.next !== 'read' || failedRead === undefined) return decision;
    return { entry: failRead(decision.entry, failedRead, { now, chance: this.#chance() }), next: 'none' };
  }

  #valueOf(
    device: DeviceFacts,
    { generation, live, row }: Covered,
    readTools: readonly string[],
    now: number,
  ): KnownValue | undefined {
    const { tool, path } = generation.stored.readback;
    const value = valueAt(device.reported[readTools.indexOf(tool)], path);
    const at = device.reportedAt;
    const reported = value === undefined || at === undefined ? undefined : { value, at };
    const stored = row?.reportedAt === undefined ? undefined : { value: row.reported, at: row.reportedAt };
    // An edit may have changed the tool, and so what the entry is about.
    const former = row && live.generations.get(row.observedGeneration);
    const own = former === undefined || former.property === generation.property ? stored : undefined;
    return newest(this.values.get(device.deviceId, generation.property), newest(own, reported, now), now);
  }

  #chance(): number {
    return (this.deps.chance ?? Math.random)();
  }
}

/** Whether the row has to be written. A value that moves within the tolerance is not worth it. */
export function isChanged({ from, to }: Pick<Compared, 'from' | 'to'>): boolean {
  if (from === undefined || to === undefined) return from !== to;
  const members: readonly (keyof Entry)[] = [
    'state',
    'observedGeneration',
    'syncedGeneration',
    'attempts',
    'nextTryAt',
    'edgeAt',
    'isSending',
  ];
  if (members.some((member) => from[member] !== to[member])) return true;
  if (from.error?.code !== to.error?.code || from.blockedBy.join() !== to.blockedBy.join()) return true;
  return to.state !== 'IN_SYNC' && JSON.stringify(from.reported) !== JSON.stringify(to.reported);
}

export function fenced({ live, from, to }: Compared): FencedTarget {
  const row = to ?? from;
  if (row === undefined) throw new TypeError('An entry has a row before or after a look.');
  return { fence: live.owned.fence, row, ...(to === undefined && { isGone: true }) };
}

/** An entry that is forgotten, or that a roll-out decides. */
function apart(live: LiveState, from: DesiredTargetRow, to: Entry | undefined): Compared {
  const { desiredStateId, deviceId } = from;
  const row = to && { ...to, desiredStateId, deviceId };
  const device = { deviceId, epoch: 0, gatewayId: undefined };
  return { live, device, generation: undefined, from, to: row, next: 'none', cause: 'CHANGE' };
}

function toolsRead({ generations }: LiveState): readonly string[] {
  return [...generations.values()].map(({ stored }) => stored.readback.tool);
}

function failedReadOf({ failedReads }: Look, tool: string, { epoch }: DeviceFacts): FailedRead | undefined {
  const failed = failedReads.get(tool);
  return failed?.epoch === epoch ? failed : undefined;
}

/** A device that has never listed its tools is not unsupported before it does. */
function unsupportedBy(
  { sets, reads, stored }: LiveGeneration,
  { isOnline, toolSetHash }: DeviceFacts,
): CallError | undefined {
  if (toolSetHash === undefined) return isOnline ? sets.rejectionOf(undefined) : undefined;
  const rejection = sets.rejectionOf(toolSetHash);
  if (rejection !== undefined) return rejection;
  const unread = reads.rejectionOf(toolSetHash);
  return unread && { ...unread, message: `The value cannot be read with "${stored.readback.tool}": ${unread.message}` };
}
