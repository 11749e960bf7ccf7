import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { SavedUser, UserRequest } from '@flotilla/fleet';
import type { Registry } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { PEOPLE, REGISTRY } from '../api-deps.js';
import type { PeopleOperations } from '../fleet-operations.js';
import type {
  DeletePayload,
  MutationChangePasswordArgs,
  MutationCreateUserArgs,
  MutationDeleteUserArgs,
  MutationResolvers,
  MutationSignOutUserArgs,
  MutationUpdateUserArgs,
  QueryResolvers,
  SignOutUserPayload,
  User,
  UserInput,
  UserPayload,
} from '../generated/schema-types.js';

type Served = Required<Pick<QueryResolvers, 'users'>> &
  Required<Pick<MutationResolvers, 'createUser' | 'updateUser' | 'signOutUser' | 'deleteUser' | 'changePassword'>>;

/** People who sign in. */
@Resolver()
export class UserResolver implements Served {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    @Inject(PEOPLE) private readonly people: PeopleOperations,
  ) {}

  @Query()
  users(): Promise<readonly User[]> {
    return this.registry.users.all();
  }

  @Mutation()
  async createUser(_root: unknown, { input }: MutationCreateUserArgs, context: ApiContext): Promise<UserPayload> {
    return payloadOf(await this.people.createUser(requestOf(input), actorOf(context)));
  }

  @Mutation()
  async updateUser(_root: unknown, { id, input }: MutationUpdateUserArgs, context: ApiContext): Promise<UserPayload> {
    return payloadOf(await this.people.updateUser(id, requestOf(input), actorOf(context)));
  }

  @Mutation()
  async signOutUser(_root: unknown, { id }: MutationSignOutUserArgs, context: ApiContext): Promise<SignOutUserPayload> {
    const answer = await this.people.signOutEverywhere(id, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async deleteUser(_root: unknown, { id }: MutationDeleteUserArgs, context: ApiContext): Promise<DeletePayload> {
    const answer = await this.people.deleteUser(id, actorOf(context));
    return 'refusal' in answer ? { userErrors: [answer.refusal] } : { deletedId: answer.user.id, userErrors: [] };
  }

  @Mutation()
  async changePassword(_root: unknown, args: MutationChangePasswordArgs, context: ApiContext): Promise<UserPayload> {
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

function payloadOf(answer: SavedUser): UserPayload {
  return 'refusal' in answer ? { userErrors: [answer.refusal] } : { user: answer.user, userErrors: [] };
}
