/** Which admin the hub keeps. */
import type { Role } from './generated/access';

interface Person {
  readonly id: string;
  readonly role: Role;
  readonly disabledAt: string | null;
  readonly email: string | null;
  readonly hasPassword: boolean;
  readonly identityProvider: string | null;
}

/**
 * Whether no other admin can sign in. One who cannot, because of a missing first sign-in,
 * password or e-mail address, may go if there is any other.
 */
export function isLastAdmin(person: Person, people: readonly Person[]): boolean {
  if (!isAdmin(person)) return false;
  const others = people.filter((other) => other.id !== person.id && isAdmin(other));
  return canSignIn(person) ? !others.some(canSignIn) : others.length === 0;
}

function isAdmin({ role, disabledAt }: Person): boolean {
  return role === 'ADMIN' && disabledAt === null;
}

/** One types an e-mail address and a password, or is a known person of a provider. */
function canSignIn({ email, hasPassword, identityProvider }: Person): boolean {
  return (hasPassword && email !== null) || identityProvider !== null;
}
