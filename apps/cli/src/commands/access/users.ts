/** `flotilla users`: the people who sign in to the console. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { UserInput } from '@flotilla/client/schema';
import { withClient } from '../../connection.js';
import { printChange } from '../../console/output.js';
import { readSecret } from '../../console/secret.js';
import {
  CreateUserDocument,
  DeleteUserDocument,
  SignOutUserDocument,
  UpdateUserDocument,
  UsersDocument,
  type UserRowFragment,
} from '../../generated/operations.js';
import { group, hubLeaf, leaf } from '../command.js';
import { printList, rowsOf, withListOptions } from '../lists.js';
import { given, textOption, withId } from '../../options/shared-options.js';

const roles = ['VIEWER', 'OPERATOR', 'FIRMWARE', 'ADMIN'] as const;
const aUser = '01990000-0000-7000-8000-000000000006';

const passwordOption = {
  type: 'boolean',
  describe: 'Set a password: asks for it on a terminal, or reads it from standard input',
} as const;

const users = async (client: FlotillaClient) => (await client.request(UsersDocument)).users;

const listCommand = hubLeaf({
  usage: 'list',
  isDefault: true,
  summary: 'List users',
  examples: ['users'],
  options: (args) => withListOptions(args),
  run: (args, client) =>
    printList(
      () => rowsOf(users(client)),
      ['id', 'name', 'email', 'role', { key: 'lastSignInAt', head: 'LAST SIGN-IN' }, 'disabledAt'],
      args,
    ),
});

const createCommand = leaf({
  usage: 'create <name>',
  summary: 'Create a user',
  examples: [
    'users create "Ada Lovelace" --role OPERATOR --email ada@example.com',
    'users create Ada --role ADMIN --password < password.txt',
  ],
  options: (args) =>
    args
      .positional('name', { type: 'string', demandOption: true })
      .option('role', { choices: roles, demandOption: true, requiresArg: true })
      .option('email', textOption('E-mail address for the sign-in'))
      .option('password', passwordOption),
  run: async (args) => {
    const password = args.password === true ? await readSecret('Password of the user: ') : undefined;
    const { name, role, email } = args;
    return withClient(args, async (client) => {
      const input = { name, role, ...given({ email, password }) };
      await printUser((await client.request(CreateUserDocument, { input })).createUser, args);
    });
  },
});

const editCommand = leaf({
  usage: 'edit <id>',
  summary: 'Change the name, role, e-mail address or password of a user',
  examples: [`users edit ${aUser} --role FIRMWARE`, `users edit ${aUser} --password`],
  notes: 'A new password ends all sessions of the user.',
  options: (args) =>
    withId(args, 'Id of the user')
      .option('name', textOption('New name'))
      .option('role', { choices: roles, requiresArg: true })
      .option('email', textOption('New e-mail address; an empty text removes it'))
      .option('password', passwordOption),
  run: async (args) => {
    const password = args.password === true ? await readSecret('New password: ') : undefined;
    const email = args.email === '' ? null : args.email;
    const { name, role } = args;
    return change(args, given({ name, role, email, password }));
  },
});

const switchCommand = (name: 'disable' | 'enable', summary: string) =>
  leaf({
    usage: `${name} <id>`,
    summary,
    examples: [`users ${name} ${aUser}`],
    options: (args) => withId(args, 'Id of the user'),
    run: (args) => change(args, { disabled: name === 'disable' }),
  });

const signOutCommand = hubLeaf({
  usage: 'sign-out <id>',
  summary: 'End all sessions of a user',
  examples: [`users sign-out ${aUser}`],
  notes: 'The user can sign in again. To prevent that, disable the user.',
  options: (args) => withId(args, 'Id of the user'),
  run: async (args, client) => {
    const { signOutUser } = await client.request(SignOutUserDocument, { id: args.id });
    await printChange({ id: args.id, endedSessions: expectAccepted(signOutUser).endedSessions }, args);
  },
});

const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  summary: 'Delete a user, and end all sessions',
  examples: [`users delete ${aUser} --yes`],
  notes: 'An identity provider that still grants a role creates the account again. Disable the user instead.',
  options: (args) => withId(args, 'Id of the user'),
  question: (args) => `The account ${args.id} will be deleted.`,
  run: async (args, client) => {
    const { deleteUser } = await client.request(DeleteUserDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteUser).deletedId }, args);
  },
});

function change(
  args: Parameters<typeof printChange>[1] & Parameters<typeof withClient>[0] & { readonly id: string },
  input: UserInput,
): Promise<void> {
  return withClient(args, async (client) => {
    await printUser((await client.request(UpdateUserDocument, { id: args.id, input })).updateUser, args);
  });
}

async function printUser(
  payload: Parameters<typeof expectAccepted>[0] & { readonly user: UserRowFragment | null },
  args: Parameters<typeof printChange>[1],
): Promise<void> {
  await printChange({ ...expectAccepted(payload).user }, args);
}

export const usersCommand = group('users', 'List and change the people who can sign in', [
  listCommand,
  createCommand,
  editCommand,
  switchCommand('disable', 'Disable a user, and end all sessions'),
  switchCommand('enable', 'Enable a disabled user'),
  signOutCommand,
  deleteCommand,
]);
