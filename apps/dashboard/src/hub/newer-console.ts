/**
 * Reports whether the hub serves a newer console than this one. After an update, old files are
 * gone.
 */

const entryPattern = /<script[^>]+src="([^"]+)"/;

/** False also where the hub does not answer. */
export async function hasNewerConsole(): Promise<boolean> {
  try {
    const answer = await fetch('/');
    if (!answer.ok) return false;
    const served = entryPattern.exec(await answer.text())?.[1];
    const running = document.querySelector('script[type=module][src]')?.getAttribute('src');
    return served !== undefined && running !== null && running !== undefined && served !== running;
  } catch {
    return false;
  }
}
