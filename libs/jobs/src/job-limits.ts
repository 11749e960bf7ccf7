/** The bounds of bulk work, each with its unit and its reason. */

/** Calls in flight per job: what one hub process can hold answers for at the pace of its devices. */
export const maxInFlightMax = 10_000;
export const maxInFlightDefault = 200;
/** Life of a job, ms: its arguments and its tool's policy are frozen, and older intentions surprise people. */
export const jobLifeMsMax = 30 * 24 * 3_600_000;
export const jobLifeMsDefault = 24 * 3_600_000;
/** Arguments of a job or a call, bytes of JSON: each is written to a row, and no known device takes a larger request. */
export const argumentsBytesMax = 16 * 1024;
/** Time for a device's answer, ms: below a second even a good network loses, beyond five minutes no known tool answers. */
export const callTimeoutMsMin = 1_000;
export const callTimeoutMsMax = 300_000;
/** Targets of one job: a recount and a cancel of so many stay within seconds. */
export const targetsMax = 200_000;
/** Jobs that are not finished: each live one costs a runner and a look at every sweep. */
export const liveJobsMax = 100;
/** Device ids written out in a filter: a longer list is a tag. */
export const inlineIdsMax = 1_000;
