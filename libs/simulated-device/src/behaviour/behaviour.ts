/** Faults and habits of a simulated device as plain data, for tests, the command line and files. */
import { z } from 'zod';

/**
 * The longest delay of a behaviour, ms: beyond any deadline of a hub, below the maximum of a timer.
 */
const DELAY_MS_MAX = 3_600_000;
/** An hour of speech. */
const TALK_PACKETS_MAX = 60_000;
/** Behaviours of one device at a time: enough for any story, few enough to search per message. */
export const BEHAVIOURS_MAX = 32;

/** A turn per second is more than a person does; a turn in ten hours is rare enough. */
const TURNS_PER_HOUR_MAX = 3600;
const TURNS_PER_HOUR_MIN = 0.1;
/** The rate of mishaps, up to one per second and down to one in 1,000 hours. */
const MISHAPS_PER_HOUR_MAX = 3600;
const MISHAPS_PER_HOUR_MIN = 0.001;
const WIFI_AWAY_SECONDS_MAX = 86_400;
/** Times of the day of one knob. */
const TURN_TIMES_MAX = 24;

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

/**
 * Limits a behaviour for the whole fleet to devices with this board, by the name in `serverInfo`.
 */
const board = z.string().min(1).optional();

const mishapsPerHour = z.number().min(MISHAPS_PER_HOUR_MIN).max(MISHAPS_PER_HOUR_MAX);

/** What a person can turn at the device. A board without a backlight has no `brightness`. */
export const knobNames = ['volume', 'brightness'] as const;
const knob = z.enum(knobNames);
/** Absent: the seed draws another level than the current one. */
const level = z.number().int().min(0).max(100).optional();

const lasting = [
  /** The tool keeps the main task busy for so long. Calls only. */
  z.strictObject({ kind: z.literal('slow'), ms: delayMs, ...scope }),
  /** The tool returns `true` without effect: no value changes, no restart happens. Calls only. */
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
  /** The reply follows the next one, or leaves alone after `ms` (1,000 unless given). */
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
   * `self.upgrade_firmware` succeeds without a download and the device returns with this version.
   * After `rollBackAfterMs` the boot loader rolls back.
   */
  z.strictObject({
    kind: z.literal('upgradeTo'),
    version: z.string().min(1),
    transferMs: delayMs.optional(),
    rollBackAfterMs: delayMs.optional(),
  }),
  /** A firmware or assets download breaks off in the middle, or hangs until the device is reset. */
  z.strictObject({
    kind: z.literal('downloadFault'),
    how: z.enum(['breaks', 'hangs']),
    board,
    times: scope.times,
    chance: scope.chance,
  }),
  /**
   * A fault after a complete download: `corrupt` fails the check of the written image, `rollBack`
   * restores the old firmware (`afterMs` after the restart), `brick` never returns.
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
  /**
   * Every message over 1,000 bytes is lost until the device restarts, as after a cut message.
   * [xiaozhi §9, 24]
   */
  z.strictObject({ kind: z.literal('losesLargeMessages') }),
  /** The firmware crashes `perHour` times on average, of every version or of this one only. */
  z.strictObject({ kind: z.literal('crashes'), perHour: mishapsPerHour, version: z.string().min(1).optional(), board }),
  /** The Wi-Fi drops `perHour` times on average, and returns after `seconds`. */
  z.strictObject({
    kind: z.literal('wifiDrops'),
    perHour: mishapsPerHour,
    seconds: z.number().min(1).max(WIFI_AWAY_SECONDS_MAX),
    board,
  }),
  /** The device does not return from its next restart until it is switched on manually. */
  z.strictObject({ kind: z.literal('brick') }),
  /** A person turns a knob: `perHour` times on average, or each day `at` these times (UTC). */
  z
    .strictObject({
      kind: z.literal('knob'),
      knob,
      perHour: z.number().min(TURNS_PER_HOUR_MIN).max(TURNS_PER_HOUR_MAX).optional(),
      at: z
        .array(z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/))
        .min(1)
        .max(TURN_TIMES_MAX)
        .optional(),
      value: level,
    })
    .refine(({ perHour, at }) => (perHour === undefined) !== (at === undefined), {
      message: 'Give either perHour, or at with times such as 22:00',
    }),
] as const;

const momentary = [
  /** Opens a conversation now: over MQTT with a `hello`, over WebSocket by connecting. */
  z.strictObject({ kind: z.literal('helloNow') }),
  /** Sends so many packets of sound, 60 ms each, in the open conversation or in a new one. */
  z.strictObject({ kind: z.literal('talk'), packets: z.number().int().min(1).max(TALK_PACKETS_MAX) }),
  /** Ends the conversation, as the button does. */
  z.strictObject({ kind: z.literal('hangUp') }),
  /** Sends an unsolicited notification, as some forks do. */
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
  /**
   * Erases settings and UUID. The device restarts with a new UUID, as after flashing from scratch.
   */
  z.strictObject({ kind: z.literal('eraseFlash') }),
  /** A person turns a knob now. */
  z.strictObject({ kind: z.literal('turnKnob'), knob, value: level }),
  /** Drops every lasting behaviour. */
  z.strictObject({ kind: z.literal('normal') }),
] as const;

/** One behaviour as data; parse what comes from outside with this. */
export const behaviourSchema = z.discriminatedUnion('kind', [...lasting, ...momentary]);

export type Behaviour = z.infer<typeof behaviourSchema>;
/** One that stays until it has worn off or `normal` drops it. */
export type LastingBehaviour = z.infer<(typeof lasting)[number]>;

export type KnobBehaviour = Extract<LastingBehaviour, { kind: 'knob' }>;
/** What goes wrong by itself. */
export type MishapBehaviour = Extract<LastingBehaviour, { kind: 'crashes' | 'wifiDrops' }>;
/** What happens by itself, without a request. */
export type TimedBehaviour = KnobBehaviour | MishapBehaviour;
export type KnobName = (typeof knobNames)[number];

const lastingKinds: ReadonlySet<string> = new Set(lasting.map((schema) => schema.shape.kind.value));

export function isLasting(behaviour: Behaviour): behaviour is LastingBehaviour {
  return lastingKinds.has(behaviour.kind);
}

export function isTimed(behaviour: LastingBehaviour): behaviour is TimedBehaviour {
  return isKnob(behaviour) || behaviour.kind === 'crashes' || behaviour.kind === 'wifiDrops';
}

export function isKnob(behaviour: LastingBehaviour): behaviour is KnobBehaviour {
  return behaviour.kind === 'knob';
}
