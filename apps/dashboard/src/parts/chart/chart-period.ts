/** How far back charts of measurements go. */
const hourMs = 3_600_000;

export const periodMs = { '1h': hourMs, '24h': 24 * hourMs, '7d': 7 * 24 * hourMs, '30d': 30 * 24 * hourMs } as const;

export type ChartPeriod = keyof typeof periodMs;

export const chartPeriods = Object.keys(periodMs) as readonly ChartPeriod[];
