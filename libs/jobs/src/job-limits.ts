/** The bounds of bulk work, each with its unit and its reason. */

/** Calls in flight per job: the answers that one hub process can wait for. */
export const maxInFlightMax = 10_000;
export const maxInFlightDefault = 200;
/** Life of a job, ms: its arguments and policy are frozen, and old intentions surprise people. */
export const jobLifeMsMax = 30 * 24 * 3_600_000;
export const jobLifeMsDefault = 24 * 3_600_000;
/** Arguments of a job or a call, bytes of JSON: no known device accepts a larger request. */
export const argumentsBytesMax = 16 * 1024;
/** Time for a device's answer, ms: good networks need a second, no known tool five minutes. */
export const callTimeoutMsMin = 1_000;
export const callTimeoutMsMax = 300_000;
/** Targets of one job: preparing, counting and cancelling so many stay below a minute. */
export const targetsMax = 1_000_000;
/** Jobs that are not finished: each live one costs a runner and a look at every sweep. */
export const liveJobsMax = 100;
/** Waves of a job: each is a row that every read of the progress includes. */
export const wavesMax = 50;
/** Quiet time after a wave, s. Longer than a week needs another job. */
export const soakSecondsMax = 7 * 24 * 3_600;
/** Abort rules of a job: each is evaluated at every flush. */
export const abortRulesMax = 10;
/** Sends per target: what ten tries with back-off did not reach, an eleventh will not. */
export const maxAttemptsMax = 10;
export const maxAttemptsDefault = 3;
/** Sends per minute: ten times what one process can do. */
export const perMinuteMax = 6_000_000;
/** Time until a job starts, ms: what is further away is a calendar's business. */
export const scheduleMsMax = 366 * 24 * 3_600_000;
/** Priority of a job that was given none, between 1 and 3. */
export const priorityDefault = 2;
export const priorityMax = 3;
/** Device ids written out in a filter: a longer list is a tag. */
export const inlineIdsMax = 1_000;
