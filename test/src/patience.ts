/**
 * The factor of all limits of stories. Machines differ: the same suite took 1,115 s on one build
 * machine and 2,940 s on another, which failed five stories at limits that fit the first.
 * A wait ends with its condition, so a longer limit delays only failures.
 * The long form runs one story at a time and measures, so its limits are what they say.
 */
export const PATIENCE = process.env['FLOTILLA_TEST_LONG'] === '1' ? 1 : 3;
