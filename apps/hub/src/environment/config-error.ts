/** Has all problems of the environment, one per line. */
export class ConfigError extends Error {
  readonly code = 'CONFIG_INVALID';

  constructor(readonly problems: readonly string[]) {
    super(
      `Some settings are wrong. Fix them and start again:\n${problems.map((problem) => `  ${problem}`).join('\n')}`,
    );
    this.name = 'ConfigError';
  }
}
