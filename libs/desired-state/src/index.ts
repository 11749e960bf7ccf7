/** See README.md. */
export {};
