/** Which ways to sign in this hub offers. An API key is always one. */

export interface WaysIn {
  readonly password: boolean;
  /** An identity provider, with the address that leads there and back to a page of the console. */
  readonly openId?: { readonly name: string; readonly url: (returnTo: string) => string };
}

export async function waysIn(): Promise<WaysIn> {
  try {
    const answer = await fetch('/api/sign-in');
    if (!answer.ok) return { password: false };
    const said = (await answer.json()) as { password?: boolean; openId?: { name: string; url: string } | null };
    const { openId } = said;
    return {
      password: said.password === true,
      ...(openId && { openId: { name: openId.name, url: (returnTo) => `${openId.url}?returnTo=${encodeURIComponent(returnTo)}` } }),
    };
  } catch {
    return { password: false };
  }
}
