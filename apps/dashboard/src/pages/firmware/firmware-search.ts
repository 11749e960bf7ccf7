/** Over which time the page of firmware compares versions, as its address carries it. */
const dayMs = 86_400_000;

export const healthPeriods = { '24h': dayMs, '7d': 7 * dayMs, '30d': 30 * dayMs } as const;
export type HealthPeriod = keyof typeof healthPeriods;

export interface FirmwareSearch {
  readonly period?: HealthPeriod;
}

export function parseFirmwareSearch({ period }: Readonly<Record<string, unknown>>): FirmwareSearch {
  const known = (Object.keys(healthPeriods) as readonly HealthPeriod[]).find((name) => name === period);
  return known === undefined ? {} : { period: known };
}
