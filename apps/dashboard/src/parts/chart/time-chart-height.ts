/** The height of a chart over time, also before it is loaded. */

/** CSS pixels. */
export const timeChartHeight = 190;
