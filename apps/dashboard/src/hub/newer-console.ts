/** Whether the hub serves another console than the one that runs here: after an update, files that this one would still load are gone. */

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
