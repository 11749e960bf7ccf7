/** Tools or images that a list of choices has; a longer one says so. */
export const choicesAtOnce = 1_000;
