/** Which admin the hub keeps. */
import type { Role } from './generated/access';

interface Person {
  readonly id: string;
  readonly role: Role;
  readonly disabledAt: string | null;
  readonly hasPassword: boolean;
  readonly identityProvider: string | null;
}

/**
 * Whether no other admin can sign in. One who cannot, because of a missing first sign-in or
 * password, may go if there is any other.
 */
export function isLastAdmin(person: Person, people: readonly Person[]): boolean {
  if (!isAdmin(person)) return false;
  const others = people.filter((other) => other.id !== person.id && isAdmin(other));
  return canSignIn(person) ? !others.some(canSignIn) : others.length === 0;
}

function isAdmin({ role, disabledAt }: Person): boolean {
  return role === 'ADMIN' && disabledAt === null;
}

function canSignIn({ hasPassword, identityProvider }: Person): boolean {
  return hasPassword || identityProvider !== null;
}
