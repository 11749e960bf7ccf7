/** Rare acts on a person, and which of them would lock the viewer or all admins out. */

export const personActs = ['reset', 'signOut', 'switch', 'remove'] as const;
export type PersonAct = (typeof personActs)[number];

interface Held {
  /** The hub refuses to disable or delete this person. */
  readonly isLastAdmin: boolean;
  /** The person is the viewer. */
  readonly isSelf: boolean;
}

/**
 * A reset ends the sessions of the person. One's own page would close before it shows the new
 * password, which would then be lost.
 */
export function isHeld(act: PersonAct, { isLastAdmin, isSelf }: Held): boolean {
  if (act === 'reset') return isSelf;
  return isLastAdmin && (act === 'switch' || act === 'remove');
}
