/**
 * The commands on standard input, one JSON object per line. An invalid line returns an error event
 * and changes nothing.
 */
import { behaviourSchema, knobNames } from '@flotilla/simulated-device';
import { z } from 'zod';
import { boardFaults } from '../boards/board-faults.js';
import { boardSettingsSchema } from '../boards/board-settings.js';
import type { Boards } from '../boards/boards.js';
import type { Fleet } from '../fleet.js';
import { readJson } from './read-json.js';

/** A day: beyond any story, below what a timer can hold. */
const AWAY_MS_MAX = 86_400_000;

/** A MAC as the fleet made it, or `*` for all. */
const device = z.string().min(1);
/** How long a device stays away, ms; until `connect` where it is not said. */
const forMs = z.number().int().min(0).max(AWAY_MS_MAX).optional();
/** Absent: the seed draws one. */
const level = z.number().int().min(0).max(100).optional();
/** Anything the caller likes; comes back in the answer. */
const id = z.union([z.string(), z.number()]).optional();

const commandSchema = z.discriminatedUnion('cmd', [
  z.strictObject({ cmd: z.literal('devices'), id }),
  z.strictObject({ cmd: z.literal('counts'), id }),
  z.strictObject({ cmd: z.literal('calls'), id, device }),
  z.strictObject({ cmd: z.literal('alerts'), id, device }),
  z.strictObject({ cmd: z.literal('sound'), id, device }),
  z.strictObject({ cmd: z.literal('levels'), id, device }),
  z.strictObject({ cmd: z.literal('turnKnob'), id, device, knob: z.enum(knobNames), value: level }),
  z.strictObject({ cmd: z.literal('behaviour'), id, device, behaviour: behaviourSchema }),
  z.strictObject({
    cmd: z.literal('disconnect'),
    id,
    device,
    how: z.enum(['graceful', 'abrupt', 'silent']).optional(),
    forMs,
  }),
  z.strictObject({ cmd: z.literal('connect'), id, device }),
  z.strictObject({ cmd: z.literal('boards'), id }),
  z.strictObject({ cmd: z.literal('resetBoard'), id, board: z.string().min(1) }),
  z.strictObject({
    cmd: z.literal('dialIn'),
    id,
    settings: boardSettingsSchema,
    fault: z.enum(boardFaults).optional(),
  }),
  z.strictObject({ cmd: z.literal('stop'), id }),
]);

type Command = z.infer<typeof commandSchema>;
type Answer = Readonly<Record<string, unknown>> & { readonly event: string };

/** What the commands act on. */
interface Simulated {
  readonly fleet: Fleet;
  readonly boards: Pick<Boards, 'list' | 'reset' | 'dialIn'>;
}

/** Carries one line out and says what to answer; `stop` is the caller's to do. */
export function runCommand(line: string, simulated: Simulated): { readonly answer: Answer; readonly isStop: boolean } {
  const parsed = commandSchema.safeParse(readJson(line));
  if (!parsed.success)
    return { answer: { event: 'error', message: `Bad command: ${explain(parsed.error)}` }, isStop: false };
  const command = parsed.data;
  return {
    answer: { ...carryOut(command, simulated), ...(command.id !== undefined && { id: command.id }) },
    isStop: command.cmd === 'stop',
  };
}

function carryOut(command: Command, { fleet, boards }: Simulated): Answer {
  switch (command.cmd) {
    case 'devices':
      return { event: 'devices', devices: listDevices(fleet) };
    case 'counts':
      return { event: 'counts', ...countCalls(fleet) };
    case 'boards':
      return { event: 'boards', boards: boards.list() };
    case 'resetBoard': {
      const count = boards.reset(command.board);
      if (count === 0) return { event: 'error', message: `No board at ${command.board}.` };
      return { event: 'done', cmd: 'resetBoard', boards: count };
    }
    case 'dialIn':
      boards.dialIn(command.settings, command.fault);
      return { event: 'done', cmd: 'dialIn', boards: 1 };
    case 'stop':
      return { event: 'done', cmd: 'stop' };
    default:
      return actOnDevices(command, fleet);
  }
}

function actOnDevices(command: Extract<Command, { device: string }>, fleet: Fleet): Answer {
  const selected = fleet.select(command.device);
  if (selected.length === 0) return { event: 'error', message: `No device ${command.device} in this fleet.` };
  if (command.cmd === 'calls') {
    const calls = selected.map((running) => [running.device.identity.mac, running.device.lastCalls]);
    return { event: 'calls', devices: Object.fromEntries(calls) };
  }
  if (command.cmd === 'sound') {
    return {
      event: 'sound',
      devices: Object.fromEntries(selected.map(({ device: { identity, sound } }) => [identity.mac, sound])),
    };
  }
  if (command.cmd === 'levels') {
    const levels = selected.map((running) => [running.device.identity.mac, running.device.levels(Date.now())]);
    return { event: 'levels', devices: Object.fromEntries(levels) };
  }
  if (command.cmd === 'alerts') {
    const alerts = selected.map((running) => [running.device.identity.mac, running.device.shownAlerts]);
    return { event: 'alerts', devices: Object.fromEntries(alerts) };
  }
  for (const running of selected) {
    if (command.cmd === 'behaviour') running.behave(command.behaviour);
    else if (command.cmd === 'turnKnob') running.behave({ kind: 'turnKnob', knob: command.knob, value: command.value });
    else if (command.cmd === 'connect') running.switchOn();
    else running.switchOff(command.how ?? 'abrupt', command.forMs);
  }
  return { event: 'done', cmd: command.cmd, devices: selected.length };
}

function listDevices(fleet: Fleet): unknown[] {
  return [...fleet.entries()].map(([mac, { device: simulated }]) => ({
    device: mac,
    clientId: simulated.identity.clientId,
    profile: simulated.profile.name,
    transport: simulated.transport,
  }));
}

function countCalls(fleet: Fleet): { tools: Record<string, number>; devices: Record<string, Record<string, number>> } {
  const tools: Record<string, number> = {};
  const devices: Record<string, Record<string, number>> = {};
  for (const [mac, running] of fleet.entries()) {
    const { toolCounts } = running.device;
    if (toolCounts.size === 0) continue;
    devices[mac] = Object.fromEntries(toolCounts);
    for (const [tool, count] of toolCounts) tools[tool] = (tools[tool] ?? 0) + count;
  }
  return { tools, devices };
}

function explain(error: z.ZodError): string {
  return error.issues.map((issue) => [issue.path.join('.'), issue.message].filter(Boolean).join(': ')).join('; ');
}
