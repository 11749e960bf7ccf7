/** The enrolment link of the demo fleet. Each start makes one: a token cannot be read again. */
import type { Registry } from '@flotilla/registry';

/** The devices enrol within seconds, so a short life keeps others from using the link. */
const LIFE_MS = 10 * 60_000;
const NAME = 'demo';
const TAGS: readonly string[] = ['demo'];

type Enrolments = Pick<Registry['enrolments'], 'createLink' | 'links' | 'revokeLink'>;

/** Returns the token. Revokes the links of former starts, so that there is one of this name. */
export async function createDemoLink(enrolments: Enrolments, maxDevices: number, now: number): Promise<string> {
  for (const { id, name, tags, revokedAt, expiresAt, maxDevices: formerMax } of await enrolments.links()) {
    const isOfDemo = name === NAME && tags.join() === TAGS.join() && formerMax === maxDevices;
    const isShort = expiresAt <= now + LIFE_MS;
    if (isOfDemo && isShort && revokedAt === undefined) await enrolments.revokeLink(id, now);
  }
  const { token } = await enrolments.createLink({ name: NAME, tags: TAGS, maxDevices, expiresAt: now + LIFE_MS });
  return token;
}
