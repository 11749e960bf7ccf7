import { Inject } from '@nestjs/common';
import { Mutation, Resolver } from '@nestjs/graphql';
import { actorOf, type ApiContext } from '../api-context.js';
import { PROVISIONING } from '../api-deps.js';
import { parseDeviceFilter } from '../devices/device-filter-input.js';
import { userErrors } from '../errors/user-errors.js';
import type { ProvisioningOperations } from '../fleet-operations.js';
import type { MutationRemoveDevicesArgs, MutationSetDevicesTransportArgs } from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

/** Changes of all devices that match a filter, of which the caller knows the number. */
@Resolver()
export class ManyDevicesResolver implements Serves<'Mutation', 'setDevicesTransport' | 'removeDevices'> {
  constructor(@Inject(PROVISIONING) private readonly provisioning: ProvisioningOperations) {}

  @Mutation()
  async setDevicesTransport(_root: unknown, { input }: MutationSetDevicesTransportArgs, context: ApiContext) {
    const { expectedCount, transport } = input;
    const none = { changedCount: 0, matchedCount: 0 };
    if (transport === 'TCP') {
      const message = 'The transport of a device that connects itself is MQTT or WEBSOCKET.';
      return { ...none, userErrors: userErrors({ code: 'INVALID', message, path: ['input', 'transport'] }) };
    }
    const request = { filter: parseDeviceFilter(input.filter) ?? {}, expectedCount, transport };
    const answer = await this.provisioning.many.setTransport(request, ['input'], actorOf(context));
    return 'refusal' in answer ? { ...none, userErrors: userErrors(answer.refusal) } : { ...answer, userErrors: [] };
  }

  @Mutation()
  async removeDevices(
    _root: unknown,
    { input: { filter, expectedCount } }: MutationRemoveDevicesArgs,
    context: ApiContext,
  ) {
    const request = { filter: parseDeviceFilter(filter) ?? {}, expectedCount };
    const answer = await this.provisioning.many.remove(request, ['input'], actorOf(context));
    return 'refusal' in answer
      ? { removedCount: 0, userErrors: userErrors(answer.refusal) }
      : { ...answer, userErrors: [] };
  }
}
