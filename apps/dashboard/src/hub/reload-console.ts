/** Reloads the console if the hub answers. Otherwise the page stays with what was typed. */

/** False where the hub does not answer. */
export async function reloadConsole(): Promise<boolean> {
  // The script may not follow a redirect to the sign-in page of a proxy, but the page may.
  const answer = await fetch('/', { redirect: 'manual' }).catch(() => undefined);
  if (answer === undefined || !(answer.ok || asksToSignIn(answer))) return false;
  location.reload();
  return true;
}

function asksToSignIn({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || status === 401 || status === 403;
}
