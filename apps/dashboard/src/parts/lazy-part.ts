/**
 * Parts whose scripts load on first use. After an update of the hub such a script may be gone: then
 * the page stays as it is with what was typed, and the shell offers a reload.
 */
import { type ComponentType, lazy } from 'react';

/** Fired at the window when a script did not load. */
export const partLost = 'flotilla:part-lost';

/** `Instead` is shown where the script is gone. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Instead: ComponentType<Props> = Nothing,
) {
  return lazy(async () => ({ default: (await loadPart(load)) ?? Instead }));
}

/** Undefined where the script is gone. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part | undefined> {
  try {
    return await load();
  } catch (cause) {
    // eslint-disable-next-line no-console -- a script that is there and fails leaves no other trace
    console.warn(cause);
    window.dispatchEvent(new Event(partLost));
    return undefined;
  }
}

function Nothing() {
  return null;
}
