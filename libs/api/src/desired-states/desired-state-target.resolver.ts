import { ResolveField, Resolver } from '@nestjs/graphql';
import { maskReported } from '@flotilla/jobs';
import type { DesiredTargetRow } from '@flotilla/registry';
import type { ApiContext } from '../api-context.js';
import { shownArguments } from '../calls/shown-arguments.js';
import { ApiError } from '../errors/api-error.js';
import type { Serves } from '../serves.js';
import { withoutRow } from '../subscriptions/streams/device-list-changes.js';

export type TargetOfDesiredState = DesiredTargetRow;

/** One desired state on one device; its plain fields are its row's. */
@Resolver('DesiredStateTarget')
export class DesiredStateTargetResolver implements Serves<
  'DesiredStateTarget',
  'desiredState' | 'device' | 'blockedBy'
> {
  @ResolveField()
  async desiredState({ desiredStateId }: TargetOfDesiredState, _args: unknown, { loaders }: ApiContext) {
    const state = await loaders.desiredState.load(desiredStateId);
    if (state === undefined) throw new ApiError('NOT_FOUND', 'The desired state was deleted meanwhile.');
    return state;
  }

  /** Of a device that was removed a moment ago, only the id is known. */
  @ResolveField()
  async device({ deviceId }: TargetOfDesiredState, _args: unknown, { loaders }: ApiContext) {
    return (await loaders.device.load(deviceId)) ?? withoutRow(deviceId);
  }

  /** Of the generation that the device has. */
  @ResolveField()
  async desired(
    { desiredStateId, observedGeneration }: TargetOfDesiredState,
    _args: unknown,
    context: ApiContext,
  ): Promise<unknown> {
    const state = await context.loaders.desiredState.load(desiredStateId);
    if (state === undefined) return undefined;
    if (observedGeneration === 0 || observedGeneration === state.generation)
      return (await shownArguments(state, context))[state.readback.argument];
    const edits = await context.loaders.desiredStateEdits(desiredStateId);
    const edit = edits.find(({ generation }) => generation === observedGeneration);
    return edit && (await shownArguments(edit.plan, context))[edit.readback.argument];
  }

  @ResolveField()
  async reported(
    { desiredStateId, reported }: TargetOfDesiredState,
    _args: unknown,
    { loaders }: ApiContext,
  ): Promise<unknown> {
    const state = await loaders.desiredState.load(desiredStateId);
    return state === undefined ? reported : maskReported(state.readback, reported);
  }

  @ResolveField()
  async blockedBy({ blockedBy }: TargetOfDesiredState, _args: unknown, { loaders }: ApiContext) {
    const states = await Promise.all(blockedBy.map((id) => loaders.desiredState.load(id)));
    return states.flatMap((state) => state ?? []);
  }
}
