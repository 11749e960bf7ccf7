import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

type Rgb = readonly [number, number, number];

/** How red-green blindness changes linear light, by Machado et al. (2009). */
const sights = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  deuteranopia: [
    [0.3673, 0.8606, -0.228],
    [0.2801, 0.6725, 0.0474],
    [-0.0118, 0.0429, 0.9689],
  ],
  protanopia: [
    [0.1523, 1.0526, -0.2049],
    [0.1145, 0.7863, 0.0992],
    [-0.0039, -0.0481, 1.0521],
  ],
} as const satisfies Readonly<Record<string, readonly Rgb[]>>;

const css = readFileSync(new URL('tokens.css', import.meta.url), 'utf8');

/** Tokens of a scheme as linear light. */
function tokensOf(scheme: 'light' | 'dark'): ReadonlyMap<string, Rgb> {
  const block = css.slice(css.indexOf(`[data-mantine-color-scheme='${scheme}']`)).split('}')[0] ?? '';
  const found = [...block.matchAll(/--([\w-]+): #(\w\w)(\w\w)(\w\w);/g)];
  return new Map(found.map(([, name = '', ...hex]) => [name, hex.map(linear) as unknown as Rgb]));
}

function linear(hex: string): number {
  const value = Number.parseInt(hex, 16) / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

const dot = (row: Rgb, [r, g, b]: Rgb) => row[0] * r + row[1] * g + row[2] * b;

function contrast(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [one, other].map((rgb) => dot([0.2126, 0.7152, 0.0722], rgb)).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** CIE L*a*b*: equal distances look about equally different. */
function labOf(rgb: Rgb): Rgb {
  const root = (value: number) => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116);
  const x = root(dot([0.4125, 0.3576, 0.1804], rgb) / 0.9505);
  const y = root(dot([0.2127, 0.7152, 0.0722], rgb));
  const z = root(dot([0.0193, 0.1192, 0.9503], rgb) / 1.089);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

function distance(one: Rgb, other: Rgb): number {
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

describe.each(['light', 'dark'] as const)('the colours of lines in one chart (%s)', (scheme) => {
  const tokens = tokensOf(scheme);
  const surface = tokens.get('surface') ?? [0, 0, 0];
  const series = [1, 2, 3, 4, 5, 6].map((number) => tokens.get(`series-${number}`) ?? surface);

  it('have enough contrast with the surface', () => {
    for (const colour of series) expect(contrast(colour, surface)).toBeGreaterThanOrEqual(3);
  });

  it.each(Object.keys(sights) as (keyof typeof sights)[])('are different for %s', (sight) => {
    const seen = series.map((rgb) =>
      labOf(sights[sight].map((row) => Math.min(1, Math.max(0, dot(row, rgb)))) as unknown as Rgb),
    );
    const distances = seen.flatMap((one, index) => seen.slice(index + 1).map((other) => distance(one, other)));
    expect(Math.min(...distances)).toBeGreaterThanOrEqual(20);
  });
});
