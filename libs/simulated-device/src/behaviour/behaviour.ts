/** The faults and habits that a simulated device can be told to have, as plain data: tests, the command line and files can all carry them. */
import { z } from 'zod';

/** The longest delay that a behaviour may ask for, in ms: beyond any deadline of a hub, below what a timer can hold. */
const DELAY_MS_MAX = 3_600_000;
/** An hour of speech. */
const TALK_PACKETS_MAX = 60_000;
/** Behaviours that one device may have at a time: enough for any story, small enough to search for each message. */
export const BEHAVIOURS_MAX = 32;

const delayMs = z.number().int().min(0).max(DELAY_MS_MAX);
const method = z.enum(['initialize', 'tools/list', 'tools/call']);
const age = z.enum(['detached', 'immediate', 'queued']);

/** Which requests a behaviour is for; absent members mean any. `tool` implies `tools/call`. */
const scope = {
  method: method.optional(),
  tool: z.string().optional(),
  /** How often it happens before it wears off. */
  times: z.number().int().min(1).optional(),
  /** Probability that it happens, 0 to 1. */
  chance: z.number().min(0).max(1).optional(),
};

/** Devices with this board only, by the name in `serverInfo`: what is sent to a whole fleet can be meant for one model. */
const board = z.string().min(1).optional();

const lasting = [
  /** The tool keeps the main task busy for so long. Calls only. */
  z.strictObject({ kind: z.literal('slow'), ms: delayMs, ...scope }),
  /** The tool says `true` and does nothing: a value stays as it was, a device does not restart. Calls only. */
  z.strictObject({ kind: z.literal('noEffect'), ...scope }),
  /** The request is carried out, the reply never sent. */
  z.strictObject({ kind: z.literal('silent'), ...scope }),
  /** The socket breaks when the tool begins. Calls only; the call has run. */
  z.strictObject({ kind: z.literal('disconnectInCall'), ...scope }),
  /** The reply is cut off in the middle: not JSON, but its id can be read. */
  z.strictObject({ kind: z.literal('malformedReply'), ...scope }),
  /** The reply is an error, as always without a code. */
  z.strictObject({ kind: z.literal('errorWithoutCode'), message: z.string().optional(), ...scope }),
  /** The reply is an error whose text breaks the JSON of the frame. */
  z.strictObject({ kind: z.literal('unescapedError'), ...scope }),
  z.strictObject({ kind: z.literal('duplicateReply'), ...scope }),
  /** The reply follows the next one, or leaves alone after `ms` (1,000 unless told). */
  z.strictObject({ kind: z.literal('outOfOrder'), ms: delayMs.optional(), ...scope }),
  /** The reply leaves so much later, while the device goes on. */
  z.strictObject({ kind: z.literal('lateReply'), ms: delayMs, ...scope }),
  /** Every page ends with the cursor that was asked for, or with the first tool. */
  z.strictObject({ kind: z.literal('repeatingCursor'), ...scope }),
  /** Every page has one new tool and a further cursor. */
  z.strictObject({ kind: z.literal('neverEndingPages'), ...scope }),
  /** Runs tools and restarts as a firmware of that age does. */
  z.strictObject({ kind: z.literal('rebootAs'), age }),
  /**
   * `self.upgrade_firmware` succeeds without asking its URL for anything, and the device comes back with this version. `rollBackAfterMs` later the boot loader goes
   * back to the former one.
   */
  z.strictObject({
    kind: z.literal('upgradeTo'),
    version: z.string().min(1),
    transferMs: delayMs.optional(),
    rollBackAfterMs: delayMs.optional(),
  }),
  /** A download of firmware or assets breaks off in the middle, or never ends: the device then says nothing more until somebody resets it. */
  z.strictObject({
    kind: z.literal('downloadFault'),
    how: z.enum(['breaks', 'hangs']),
    board,
    times: scope.times,
    chance: scope.chance,
  }),
  /**
   * What becomes of a firmware image that was fetched whole: `corrupt` fails the check of what was written, `rollBack` makes the boot loader go back to the former
   * firmware, at once or `afterMs` behind the restart, and `brick` is the last that is seen of the device until it is switched on by hand.
   */
  z.strictObject({
    kind: z.literal('upgradeFault'),
    how: z.enum(['corrupt', 'rollBack', 'brick']),
    afterMs: delayMs.optional(),
    board,
    /** The image's. */
    version: z.string().min(1).optional(),
    times: scope.times,
    chance: scope.chance,
  }),
  /** Every message over 1,000 bytes is lost until the device starts again, as after one that was cut. [xiaozhi §9, 24] */
  z.strictObject({ kind: z.literal('losesLargeMessages') }),
  /** The next restart is the last one: the device stays away until it is switched on by hand. */
  z.strictObject({ kind: z.literal('brick') }),
] as const;

const momentary = [
  /** Opens a conversation now. On MQTT this sends a `hello`; a WebSocket device does it by connecting. */
  z.strictObject({ kind: z.literal('helloNow') }),
  /** Says so many packets of sound, 60 ms each, in the conversation that is open or in a new one. */
  z.strictObject({ kind: z.literal('talk'), packets: z.number().int().min(1).max(TALK_PACKETS_MAX) }),
  /** Ends the conversation, as the button does. */
  z.strictObject({ kind: z.literal('hangUp') }),
  /** Sends a notification that nobody asked for, as some forks do. */
  z.strictObject({
    kind: z.literal('notification'),
    method: z.string(),
    params: z.record(z.string(), z.unknown()).optional(),
  }),
  /** Reconnects with the MAC of another device; with its `uuid` too, the credentials are cloned. */
  z.strictObject({
    kind: z.literal('duplicateId'),
    mac: z.string().regex(/^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$/),
    uuid: z.uuid().optional(),
  }),
  /** An orderly restart; with `power`, an immediate power cycle that closes nothing first. */
  z.strictObject({ kind: z.literal('reboot'), how: z.literal('power').optional() }),
  /** Settings and UUID are gone; the device restarts with a new one, as after flashing it from scratch. */
  z.strictObject({ kind: z.literal('eraseFlash') }),
  /** Drops every lasting behaviour. */
  z.strictObject({ kind: z.literal('normal') }),
] as const;

/** One behaviour as data; parse what comes from outside with this. */
export const behaviourSchema = z.discriminatedUnion('kind', [...lasting, ...momentary]);

export type Behaviour = z.infer<typeof behaviourSchema>;
/** One that stays until it has worn off or `normal` drops it. */
export type LastingBehaviour = z.infer<(typeof lasting)[number]>;

const lastingKinds: ReadonlySet<string> = new Set(lasting.map((schema) => schema.shape.kind.value));

export function isLasting(behaviour: Behaviour): behaviour is LastingBehaviour {
  return lastingKinds.has(behaviour.kind);
}
