/** What a form changes of a person. */
import type { Role } from './generated/access';

interface PersonFields {
  readonly name: string;
  readonly email: string | null;
  readonly role: Role;
}

/**
 * Only what was changed in the form: another admin may have changed the rest since the page was
 * read, and would lose that.
 */
export function personChanges(former: PersonFields, wanted: PersonFields): Partial<PersonFields> {
  return {
    ...(wanted.name !== former.name && { name: wanted.name }),
    ...(wanted.email !== former.email && { email: wanted.email }),
    ...(wanted.role !== former.role && { role: wanted.role }),
  };
}
