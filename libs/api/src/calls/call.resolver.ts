import { Inject } from '@nestjs/common';
import { Mutation, Query, ResolveField, Resolver } from '@nestjs/graphql';
import type { CallRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { FLEET } from '../api-deps.js';
import { pageRequest, toConnection } from '../connection.js';
import { shownArguments } from './shown-arguments.js';
import { withoutNulls } from '../devices/device-filter-input.js';
import type { FleetOperations } from '../fleet-operations.js';
import type { MutationCallToolArgs, QueryCallArgs, QueryCallsArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';
import { jsonObject } from '../scalars/json-object.js';
import { userErrors } from '../errors/user-errors.js';

/** Calls: making one, and reading those that were made. */
@Resolver('Call')
export class CallResolver
  implements Serves<'Query', 'call' | 'calls'>, Serves<'Mutation', 'callTool'>, Serves<'Call', 'device' | 'arguments'>
{
  constructor(@Inject(FLEET) private readonly fleet: FleetOperations) {}

  @Query()
  call(_root: unknown, { id }: QueryCallArgs, { view }: ApiContext) {
    return view.calls.find(id);
  }

  @Query()
  async calls(_root: unknown, args: QueryCallsArgs, { view }: ApiContext) {
    return toConnection(await view.calls.page(withoutNulls(args.filter ?? {}), pageRequest(args)));
  }

  @Mutation()
  async callTool(_root: unknown, { input }: MutationCallToolArgs, context: ApiContext) {
    const { deviceId, tool, arguments: given, ...options } = input;
    const request = {
      deviceId,
      tool,
      arguments: jsonObject(given, 'input.arguments'),
      ...withoutNulls(options),
      trace: context.trace,
    };
    const { call, refusal } = await this.fleet.callTool(request, actorOf(context));
    return { call, userErrors: userErrors(refusal) };
  }

  @ResolveField()
  arguments(call: CallRow, _args: unknown, context: ApiContext) {
    return shownArguments(call, context);
  }

  @ResolveField()
  device(call: CallRow, _args: unknown, { loaders }: ApiContext) {
    return loaders.device.load(call.deviceId);
  }
}
