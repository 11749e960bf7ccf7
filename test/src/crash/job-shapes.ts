/**
 * Jobs of all kinds, for a hub that is killed while they run. Each has a unique value in its
 * arguments, by which devices identify its calls.
 */
import type { FuzzDice } from '../fuzz/fuzz-dice.js';

const VOLUME = 'self.audio_speaker.set_volume';
const BRIGHTNESS = 'self.screen.set_brightness';
export const RESTART_TOOL = 'self.reboot';

/**
 * What the story asks of the hub's policies: one tool that may run twice and can be read back, one
 * that may not, one that is disruptive as shipped.
 */
export const policies = [
  {
    pattern: VOLUME,
    idempotent: true,
    disruptive: false,
    callTimeoutMs: 1_000,
    failureText: 'false',
    readback: { tool: 'self.get_device_status', path: 'audio_speaker.volume', argument: 'volume' },
  },
  { pattern: BRIGHTNESS, idempotent: false, disruptive: false, callTimeoutMs: 1_000 },
];

/** What is wrong with some devices, some of the time. */
export const faults = [
  { kind: 'errorWithoutCode', tool: BRIGHTNESS, chance: 0.08 },
  { kind: 'errorWithoutCode', tool: VOLUME, chance: 0.05 },
  { kind: 'silent', tool: BRIGHTNESS, chance: 0.03 },
  { kind: 'lateReply', ms: 1_300, tool: VOLUME, chance: 0.04 },
  { kind: 'disconnectInCall', tool: BRIGHTNESS, chance: 0.03 },
];

/** Of `createJob`, as far as the checks look at it. */
interface ShapedInput {
  readonly tool: string;
  readonly maxInFlight: number;
  readonly perMinute?: number;
  readonly expiresInSeconds?: number;
  readonly abort?: readonly { readonly outcomes: readonly string[]; readonly count: number; readonly action: string }[];
  readonly [other: string]: unknown;
}

export interface JobShape {
  readonly name: string;
  readonly input: ShapedInput;
  /**
   * The member of the arguments that carries the mark, and the mark; undefined for calls without
   * arguments.
   */
  readonly mark: { readonly argument: string; readonly value: number | string } | undefined;
  readonly isIdempotent: boolean;
  readonly isDisruptive: boolean;
  /** Without operators: only the hub and the kills decide how it ends. */
  readonly isLeftAlone: boolean;
}

type Draft = Omit<JobShape, 'name' | 'mark'>;

const volume = { isIdempotent: true, isDisruptive: false, isLeftAlone: false };
const brightness = { ...volume, isIdempotent: false };

const drafts: Readonly<Record<string, (dice: FuzzDice) => Draft>> = {
  plain: (dice) => ({ ...brightness, input: { tool: BRIGHTNESS, maxInFlight: 3 + dice.below(20) } }),
  retried: (dice) => ({ ...volume, input: { tool: VOLUME, maxInFlight: 5 + dice.below(30), maxAttempts: 3 } }),
  waves: (dice) => ({
    ...brightness,
    input: {
      tool: BRIGHTNESS,
      maxInFlight: 10,
      waves: [
        { count: 2 + dice.below(4), successThreshold: 0.5 },
        { percent: 50, successThreshold: 0.5, gate: dice.pick(['AUTO', 'MANUAL']) },
      ],
    },
  }),
  paced: (dice) => ({
    ...brightness,
    input: { tool: BRIGHTNESS, maxInFlight: 20, perMinute: 600 + dice.below(1_200) },
  }),
  readBack: () => ({ ...volume, input: { tool: VOLUME, maxInFlight: 15, verification: 'READBACK', maxAttempts: 2 } }),
  restart: (dice) => ({
    ...brightness,
    isDisruptive: true,
    input: { tool: RESTART_TOOL, maxInFlight: 2 + dice.below(4), abort: [] },
  }),
  skipping: () => ({ ...volume, input: { tool: VOLUME, maxInFlight: 20, offline: 'SKIP' } }),
  brief: () => ({ ...brightness, input: { tool: BRIGHTNESS, maxInFlight: 2, expiresInSeconds: 2 } }),
  abortable: () => ({
    ...brightness,
    isLeftAlone: true,
    input: {
      tool: BRIGHTNESS,
      maxInFlight: 5,
      abort: [{ outcomes: ['FAILED', 'UNKNOWN'], count: 3, action: 'CANCEL' }],
    },
  }),
};

/**
 * Shapes in turn, so that each comes about as often, and the marks of one round do not come twice.
 */
export class JobShapes {
  readonly #dice: FuzzDice;
  #made = 0;

  constructor(dice: FuzzDice) {
    this.#dice = dice;
  }

  next(): JobShape {
    const kinds = Object.keys(drafts);
    const kind = kinds[this.#made % kinds.length] ?? 'plain';
    const value = this.#made % 101;
    this.#made += 1;
    const { input, ...rest } = (drafts[kind] as (dice: FuzzDice) => Draft)(this.#dice);
    const argument = input.tool === VOLUME ? 'volume' : input.tool === BRIGHTNESS ? 'brightness' : undefined;
    const mark = argument === undefined ? undefined : { argument, value };
    return {
      ...rest,
      mark,
      name: `${kind} ${this.#made}`,
      input: { ...input, devices: { all: true }, ...(mark && { arguments: { [mark.argument]: mark.value } }) },
    };
  }
}
