import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { SavedUser, UserRequest } from '@flotilla/fleet';
import type { Registry } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { PEOPLE, REGISTRY } from '../api-deps.js';
import type { PeopleOperations } from '../fleet-operations.js';
import type {
  MutationChangePasswordArgs,
  MutationCreateUserArgs,
  MutationDeleteUserArgs,
  MutationSignOutUserArgs,
  MutationUpdateUserArgs,
  UserInput,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

type Served = Serves<'Query', 'users'> &
  Serves<'Mutation', 'createUser' | 'updateUser' | 'signOutUser' | 'deleteUser' | 'changePassword'>;

/** People who sign in. */
@Resolver()
export class UserResolver implements Served {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(PEOPLE) private readonly people: PeopleOperations,
  ) {}

  @Query()
  users() {
    return this.registry.users.all();
  }

  @Mutation()
  async createUser(_root: unknown, { input }: MutationCreateUserArgs, context: ApiContext) {
    return payloadOf(await this.people.createUser(requestOf(input), actorOf(context)));
  }

  @Mutation()
  async updateUser(_root: unknown, { id, input }: MutationUpdateUserArgs, context: ApiContext) {
    return payloadOf(await this.people.updateUser(id, requestOf(input), actorOf(context)));
  }

  @Mutation()
  async signOutUser(_root: unknown, { id }: MutationSignOutUserArgs, context: ApiContext) {
    const answer = await this.people.signOutEverywhere(id, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async deleteUser(_root: unknown, { id }: MutationDeleteUserArgs, context: ApiContext) {
    const answer = await this.people.deleteUser(id, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { deletedId: answer.user.id, userErrors: [] };
  }

  @Mutation()
  async changePassword(_root: unknown, args: MutationChangePasswordArgs, context: ApiContext) {
    if (context.session === undefined)
      return payloadOf({
        refusal: { code: 'INVALID', message: 'A key has no password: sign in, and change your own.', path: [] },
      });
    return payloadOf(
      await this.people.changePassword(context.session, { current: args.current, next: args.new }, actorOf(context)),
    );
  }
}

function requestOf({ name, email, role, password, disabled }: UserInput): UserRequest {
  return {
    email,
    name: name ?? undefined,
    role: role ?? undefined,
    password: password ?? undefined,
    disabled: disabled ?? undefined,
  };
}

function payloadOf(answer: SavedUser) {
  return 'refusal' in answer ? { userErrors: [answer.refusal] } : { user: answer.user, userErrors: [] };
}
