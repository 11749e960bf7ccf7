/**
 * The microcontrollers that can be simulated. Memory limits listings and requests; the sketch has
 * the tools. [mcpu §2, §3]
 */
import type { BoardTool } from './sketch-tools.js';
import { buzz, leafWetness, measureSoil, readFlow, runPump, waterBed } from './sketch-tools.js';

export const boardProfileNames = ['esp32', 'avr', 'generic'] as const;
export type BoardProfileName = (typeof boardProfileNames)[number];

type PinType = 'digital_output' | 'digital_input' | 'pwm_output' | 'adc_input';

/** `bufferSize`: samples in the ring; without it the board keeps statistics only. */
export interface PinSetup {
  readonly pin: number;
  readonly name: string;
  readonly type: PinType;
  readonly description: string;
  readonly sampling?: { readonly intervalMs: number; readonly bufferSize?: number };
}

export interface BoardProfile {
  readonly name: BoardProfileName;
  /** What the author of the sketch called it: the same on every board with this sketch. */
  readonly sketch: string;
  readonly version: string;
  readonly memory: 'rich' | 'low' | 'conservative';
  /** Bytes of a request without its line end. [mcpu §0] */
  readonly lineBytesMax: number;
  /** Width of its `int`, which ids have to fit. */
  readonly intBits: 16 | 32;
  /** Highest value of its analog inputs. */
  readonly analogMax: number;
  /** Too little memory for built-in tool schemas and for pin samples. [mcpu §3.2] */
  readonly isTerse: boolean;
  /**
   * Printed when the sketch starts to serve a connection, as it is, without an added line end.
   * [mcpu §1.4]
   */
  readonly bootNoise: string;
  readonly pins: readonly PinSetup[];
  readonly tools: readonly BoardTool[];
}

const esp32: BoardProfile = {
  name: 'esp32',
  sketch: 'greenhouse',
  version: '2.3.1',
  memory: 'rich',
  lineBytesMax: 511,
  intBits: 32,
  analogMax: 4_095,
  isTerse: false,
  bootNoise: 'ets Jun  8 2016 00:22:57\r\nrst:0x1 (POWERON_RESET),boot:0x13\r\nwifi ok\r\n',
  pins: [
    { pin: 2, name: 'lamp', type: 'digital_output', description: 'Grow lamp' },
    { pin: 16, name: 'valve', type: 'digital_output', description: 'Bed valve' },
    { pin: 17, name: 'door', type: 'digital_input', description: 'Door contact' },
    { pin: 18, name: 'fan', type: 'pwm_output', description: 'Exhaust fan' },
    {
      pin: 36,
      name: 'soil',
      type: 'adc_input',
      description: 'Soil probe',
      sampling: { intervalMs: 1_000, bufferSize: 60 },
    },
  ],
  tools: [waterBed, leafWetness, measureSoil],
};

const avr: BoardProfile = {
  name: 'avr',
  sketch: 'bench-uno',
  version: '0.4',
  memory: 'low',
  lineBytesMax: 255,
  intBits: 16,
  analogMax: 1_023,
  isTerse: true,
  bootNoise: '\u0000\u00f0boot',
  pins: [
    { pin: 13, name: 'lamp', type: 'digital_output', description: 'On-board lamp' },
    { pin: 14, name: 'pot', type: 'adc_input', description: 'Potentiometer', sampling: { intervalMs: 500 } },
  ],
  tools: [buzz],
};

const generic: BoardProfile = {
  name: 'generic',
  sketch: 'pump-station',
  version: '1.0.2',
  memory: 'conservative',
  lineBytesMax: 255,
  intBits: 32,
  analogMax: 1_023,
  isTerse: false,
  bootNoise: '\r\n',
  pins: [
    { pin: 5, name: 'lamp', type: 'digital_output', description: 'Warning lamp' },
    {
      pin: 26,
      name: 'level',
      type: 'adc_input',
      description: 'Water level',
      sampling: { intervalMs: 500, bufferSize: 20 },
    },
  ],
  tools: [runPump, readFlow],
};

export const boardProfiles: Readonly<Record<BoardProfileName, BoardProfile>> = { esp32, avr, generic };
