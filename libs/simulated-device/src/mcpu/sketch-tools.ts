/**
 * Tools of the simulated sketches. Boards do not report parameters; only the description names
 * them. [mcpu §0]
 */

/** What a tool does when it is called. */
export interface SketchAnswer {
  /** Left out where the sketch forgets to answer with anything. */
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  /** How long the main loop stands still, ms. */
  readonly takesMs?: number;
  /** Printed to the same line before the answer, as it is. */
  readonly prints?: string;
}

export interface BoardTool {
  readonly name: string;
  readonly description: string;
  /** The period at which it asks to be called, ms. [mcpu §2.7] */
  readonly pollingMs?: number;
  readonly run: (params: Readonly<Record<string, unknown>>, noise: () => number) => SketchAnswer;
}

/**
 * Sketches check nothing automatically; these return the usual error code for impossible values.
 */
const badParams: SketchAnswer = { error: { code: -32_602, message: 'Bad params' } };

const secondsMax = 30;

function secondsOf({ seconds }: Readonly<Record<string, unknown>>): number | undefined {
  return typeof seconds === 'number' && seconds >= 0 && seconds <= secondsMax ? seconds : undefined;
}

export const waterBed: BoardTool = {
  name: 'water_bed',
  description: 'Open the valve. Params: seconds (0-30)',
  run: (params) => {
    const seconds = secondsOf(params);
    return seconds === undefined ? badParams : { result: { watered_s: seconds }, takesMs: seconds * 1_000 };
  },
};

export const leafWetness: BoardTool = {
  name: 'leaf_wetness',
  description: 'Recent wetness samples',
  pollingMs: 5_000,
  run: (_params, noise) => ({
    result: {
      type: 'buffer',
      resource: 'wetness',
      sample_interval_ms: 500,
      values: [12, 12, 15, 14].map((value) => value + Math.round(noise())),
    },
  }),
};

/** Prints without a line end, so that its answer is glued to what it printed. [mcpu §1.4] */
export const measureSoil: BoardTool = {
  name: 'measure_soil',
  description: 'Measure once, carefully',
  run: (_params, noise) => ({ result: { moisture: 40 + Math.round(10 * noise()) }, prints: 'adc ready ' }),
};

export const buzz: BoardTool = {
  name: 'buzz',
  description: 'Beep. Params: ms (0-5000)',
  run: ({ ms = 100 }) => (typeof ms === 'number' && ms >= 0 && ms <= 5_000 ? { takesMs: ms } : badParams),
};

/** Its sketch prints an empty value, which firmware writes as `null`. */
export const runPump: BoardTool = {
  name: 'run_pump',
  description: 'Run the pump. Params: seconds (0-30)',
  run: (params) => {
    const seconds = secondsOf(params);
    return seconds === undefined
      ? badParams
      : { result: { pumped_s: seconds }, takesMs: seconds * 1_000, prints: 'null\r\n' };
  },
};

export const readFlow: BoardTool = {
  name: 'read_flow',
  description: 'Litres per minute',
  pollingMs: 10_000,
  run: (_params, noise) => ({ result: { litres_per_minute: Math.round(20 * noise()) / 10 } }),
};
