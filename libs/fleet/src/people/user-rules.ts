/** The rules for accounts of people. */
import type { Role } from '@flotilla/registry';
import { refuse } from '../refusal.js';
import type { Refusal } from '../refusal.js';
import { passwordProblem } from './passwords.js';

/** Undefined members of a change stay as they are. */
export interface UserRequest {
  readonly name?: string | undefined;
  /** Null: none. */
  readonly email?: string | null | undefined;
  readonly role?: Role | undefined;
  readonly password?: string | undefined;
  readonly disabled?: boolean | undefined;
}

const NAME_CHARACTERS_MAX = 100;
/** What SMTP allows. */
const EMAIL_CHARACTERS_MAX = 254;
/** Only a message to it would show whether anyone reads it. */
const emailPattern = /^[^\s@]{1,64}@[^\s@]+$/;

export function isEmail(email: string): boolean {
  return email.length <= EMAIL_CHARACTERS_MAX && emailPattern.test(email);
}

/** Checks the input of a mutation without the database. */
export function refuseUser({ name, email, password }: UserRequest): Refusal | undefined {
  if (name !== undefined && (name.trim() === '' || name.length > NAME_CHARACTERS_MAX))
    return refuse('INVALID', ['input', 'name'], `A name has 1 to ${NAME_CHARACTERS_MAX} characters.`);
  if (typeof email === 'string' && !isEmail(email))
    return refuse(
      'INVALID',
      ['input', 'email'],
      'An e-mail address has the form name@host, without spaces, and at most 254 characters.',
    );
  const problem = password === undefined ? undefined : passwordProblem(password);
  return problem === undefined ? undefined : refuse('INVALID', ['input', 'password'], problem);
}
