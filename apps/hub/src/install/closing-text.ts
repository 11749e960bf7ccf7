/** What is left to do, after the steps. */
import type { Place, Step } from './install-plan.js';

interface Outcome {
  readonly place: Pick<Place, 'settingsDir'>;
  readonly apply: boolean;
  readonly steps: readonly Step[];
  readonly problems: readonly string[];
}

/** While there are problems, nothing else: the hub could not run yet. */
export function closingText({ place, apply, steps, problems }: Outcome): string {
  if (problems.length > 0) return [...problems, ...(apply ? [] : ['Nothing was written.'])].join('\n');
  if (apply)
    return (
      `Edit ${place.settingsDir}/hub.env, then start the hub and the nightly backup:\n` +
      '  systemctl daemon-reload\n  systemctl enable --now flotilla flotilla-backup.timer'
    );
  return steps.length === 0 ? 'All of it is there.' : 'Nothing was written. Add --apply, as root, to write this.';
}
