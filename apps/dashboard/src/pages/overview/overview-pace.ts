/** How far back Overview looks, and how often its panels ask. */
export const latelyHours = 24;
export const latelyMs = latelyHours * 3_600_000;
/** Ms: periods move on in these steps, because the page may stay open. */
export const latelyStepMs = 600_000;
/** Ms. History and calls of a day cost more than counts, and change slowly. */
export const latelyRefreshMs = 30_000;
export const jobsRefreshMs = 4_000;
