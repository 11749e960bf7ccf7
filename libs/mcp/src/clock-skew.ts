/**
 * How far the clocks of two processes of a hub may differ, ms. Machines with NTP differ by less
 * than a second; more than this is an error of an operator.
 */
export const clockSkewMsMax = 60_000;
