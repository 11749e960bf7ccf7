/** Rare acts on a person, and which of them would lock the viewer or all admins out. */

const personActs = ['reset', 'signOut', 'switch', 'remove'] as const;
export type PersonAct = (typeof personActs)[number];

/**
 * A reset ends the sessions of the person. One's own page would close before it shows the new
 * password, which would then be lost.
 */
export function offeredActs(isSelf: boolean): readonly PersonAct[] {
  return personActs.filter((act) => act !== 'reset' || !isSelf);
}

/** The hub refuses to disable or delete the last admin. */
export function isHeld(act: PersonAct, isLastAdmin: boolean): boolean {
  return isLastAdmin && (act === 'switch' || act === 'remove');
}
