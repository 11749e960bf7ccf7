import { Inject } from '@nestjs/common';
import { Mutation, Query, Resolver } from '@nestjs/graphql';
import type { Refusal, Registration } from '@flotilla/fleet';
import type { DeviceRow } from '@flotilla/registry';
import { actorOf, type ApiContext } from '../api-context.js';
import { DEVICE_SETTINGS, PROVISIONING, type DeviceSettings } from '../api-deps.js';
import { refuseName, refuseTags } from '../devices/device-names.js';
import type { ProvisioningOperations } from '../fleet-operations.js';
import type {
  MutationApproveEnrolmentArgs,
  MutationCreateEnrolmentLinkArgs,
  MutationRegisterDeviceArgs,
  MutationRegisterDevicesArgs,
  MutationRejectEnrolmentArgs,
  MutationRemoveDeviceArgs,
  MutationRevokeEnrolmentLinkArgs,
  MutationRotateDeviceCredentialArgs,
  QueryPreviewRegistrationArgs,
  RegisterDeviceInput,
} from '../generated/schema-types.js';
import type { Serves } from '../serves.js';

type Fields =
  | 'registerDevice'
  | 'registerDevices'
  | 'removeDevice'
  | 'rotateDeviceCredential'
  | 'approveEnrolment'
  | 'rejectEnrolment'
  | 'createEnrolmentLink'
  | 'revokeEnrolmentLink';

interface RegisteredPayload {
  readonly devices: readonly DeviceRow[];
  readonly credentials: readonly unknown[];
  readonly userErrors: readonly Refusal[];
}

/** Registers, approves and removes devices. Credentials and links are shown once, in the answer. */
@Resolver()
export class ProvisioningMutationsResolver
  implements Serves<'Mutation', Fields>, Serves<'Query', 'previewRegistration'>
{
  constructor(
    @Inject(PROVISIONING) private readonly provisioning: ProvisioningOperations,
    @Inject(DEVICE_SETTINGS) private readonly settings: DeviceSettings,
  ) {}

  @Mutation()
  async registerDevice(_root: unknown, { input }: MutationRegisterDeviceArgs, context: ApiContext) {
    const { devices, credentials, userErrors } = await this.#register([input], context);
    const [device] = devices;
    // The input is one device, so the path of an error has no list index.
    const errors: readonly Refusal[] = userErrors.map((refusal) => ({
      ...refusal,
      path: refusal.path.filter((_, place) => place !== 1),
    }));
    return { ...(device && { device }), credential: credentials[0] ?? null, userErrors: errors };
  }

  @Mutation()
  registerDevices(_root: unknown, { input }: MutationRegisterDevicesArgs, context: ApiContext) {
    return this.#register(input, context);
  }

  @Query()
  async previewRegistration(_root: unknown, { input }: QueryPreviewRegistrationArgs, context: ApiContext) {
    const found = await this.provisioning.previewRegistration(input.map(toRegistration), ['input'], actorOf(context));
    const problems = onePerDevice([...refusalsOf(input), ...found]);
    const isWhole = problems.some(({ path }) => path.length === 1);
    return { validCount: isWhole ? 0 : input.length - problems.length, problems };
  }

  @Mutation()
  async removeDevice(_root: unknown, { deviceId }: MutationRemoveDeviceArgs, context: ApiContext) {
    const answer = await this.provisioning.removeDevice(deviceId, actorOf(context));
    return 'refusal' in answer ? refused(answer) : { deviceId: answer.deviceId, userErrors: [] };
  }

  @Mutation()
  async rotateDeviceCredential(_root: unknown, { deviceId }: MutationRotateDeviceCredentialArgs, context: ApiContext) {
    const answer = await this.provisioning.rotateDeviceCredential(deviceId, actorOf(context));
    return 'refusal' in answer
      ? refused(answer)
      : { credential: this.settings.describeCredential(answer.known) ?? null, userErrors: [] };
  }

  @Mutation()
  async approveEnrolment(
    _root: unknown,
    { code, name, tags, confirm }: MutationApproveEnrolmentArgs,
    context: ApiContext,
  ) {
    const refusal = refuseName(name, ['name']) ?? refuseTags(tags ?? [], ['tags']);
    if (refusal) return refused({ refusal });
    const request = { code, confirm: confirm ?? false, name: name ?? undefined, tags: tags ?? undefined };
    const answer = await this.provisioning.approveEnrolment(request, actorOf(context));
    return 'refusal' in answer ? refused(answer) : { device: answer.device, userErrors: [] };
  }

  /** The device of the payload is the one that is known by this id, if there is one. */
  @Mutation()
  async rejectEnrolment(_root: unknown, { id }: MutationRejectEnrolmentArgs, context: ApiContext) {
    const answer = await this.provisioning.rejectEnrolment(id, actorOf(context));
    return 'refusal' in answer
      ? refused(answer)
      : { device: await context.loaders.device.load(answer.deviceId), userErrors: [] };
  }

  @Mutation()
  async createEnrolmentLink(_root: unknown, { input }: MutationCreateEnrolmentLinkArgs, context: ApiContext) {
    const request = { ...input, tags: input.tags ?? [] };
    const refusal =
      refuseName(request.name, ['input', 'name'], { isNeeded: true }) ?? refuseTags(request.tags, ['input', 'tags']);
    if (refusal) return refused({ refusal });
    const answer = await this.provisioning.createEnrolmentLink(request, ['input'], actorOf(context));
    return 'refusal' in answer
      ? refused(answer)
      : { enrolmentLink: answer.link, url: this.settings.otaUrl(answer.token), userErrors: [] };
  }

  @Mutation()
  async revokeEnrolmentLink(_root: unknown, { id }: MutationRevokeEnrolmentLinkArgs, context: ApiContext) {
    const answer = await this.provisioning.revokeEnrolmentLink(id, actorOf(context));
    return 'refusal' in answer ? refused(answer) : { enrolmentLink: answer.link, userErrors: [] };
  }

  async #register(inputs: readonly RegisterDeviceInput[], context: ApiContext): Promise<RegisteredPayload> {
    const none = { devices: [], credentials: [] };
    const [refusal] = refusalsOf(inputs);
    if (refusal) return { ...none, userErrors: [refusal] };
    const answer = await this.provisioning.registerDevices(inputs.map(toRegistration), ['input'], actorOf(context));
    if ('refusal' in answer) return { ...none, userErrors: [answer.refusal] };
    return {
      devices: answer.registered.map(({ device }) => device),
      credentials: answer.registered.map(({ known }) => (known && this.settings.describeCredential(known)) ?? null),
      userErrors: [],
    };
  }
}

function refused({ refusal }: { readonly refusal: Refusal }) {
  return { userErrors: [refusal] };
}

function refusalsOf(inputs: readonly RegisterDeviceInput[]): readonly Refusal[] {
  return inputs.flatMap(({ name, tags }, index) => {
    const path = ['input', String(index)];
    return refuseName(name, [...path, 'name']) ?? refuseTags(tags ?? [], [...path, 'tags']) ?? [];
  });
}

/** The first problem of each device, in the order of the input. */
function onePerDevice(problems: readonly Refusal[]): readonly Refusal[] {
  const byIndex = new Map<number, Refusal>();
  for (const problem of problems) {
    const index = Number(problem.path[1] ?? -1);
    if (!byIndex.has(index)) byIndex.set(index, problem);
  }
  return [...byIndex].sort(([one], [other]) => one - other).map(([, problem]) => problem);
}

function toRegistration(input: RegisterDeviceInput): Registration {
  const { deviceId, name, tags, dialect, transport, address, clientId, admitWithoutCodeUntil } = input;
  return {
    deviceId,
    name: name ?? undefined,
    tags: tags ?? [],
    dialect,
    transport: transport ?? undefined,
    address: address ?? undefined,
    clientId: clientId ?? undefined,
    admitWithoutCodeUntil: admitWithoutCodeUntil ?? undefined,
  };
}
