/**
 * Arguments that are sent back as they were shown, with masks, stand for those that are stored.
 * Those who did not enter them may do that for the same devices only: another device could show
 * the secret.
 */
import { isDeepStrictEqual } from 'node:util';
import { hasMaskedSecret, MASK, maskAll } from '@flotilla/mcp';
import type { DeviceFilter, Registry } from '@flotilla/registry';
import type { Actor } from './actor.js';
import { storedFilter } from './kept-devices.js';
import { refuse } from './refusal.js';
import type { Refusal } from './refusal.js';

type Arguments = Readonly<Record<string, unknown>>;

interface AskedCall {
  readonly tool: string;
  readonly arguments: Arguments;
}

interface Asked extends AskedCall {
  readonly devices: DeviceFilter;
}

/** Before the change, with secrets masked. */
interface Saved extends Asked {
  readonly secretsById: string;
  readStored(): Promise<Arguments | 'lost' | undefined>;
}

export interface CompleteArguments {
  readonly arguments: Arguments;
  /** `principalRef` of who entered them. */
  readonly secretsById: string;
}

/** `path`: of the arguments in the input. The devices are next to them. */
export async function withStoredSecrets(
  toolSets: Pick<Registry['toolSets'], 'userOnlyAmong'>,
  former: Saved,
  { actor, path, ...asked }: Asked & { readonly actor: Actor; readonly path: readonly string[] },
): Promise<CompleteArguments | { readonly refusal: Refusal }> {
  const { tool, arguments: given } = asked;
  const entered = { arguments: given, secretsById: actor.id };
  const isHidden = await isHiddenFrom(actor, asked, toolSets);
  const isAsShown =
    isDeepStrictEqual(given, former.arguments) || (isHidden && isDeepStrictEqual(given, maskAll(former.arguments)));
  const stored = former.tool === tool && isAsShown ? await former.readStored() : undefined;
  if (stored !== undefined && stored !== 'lost') {
    if (isDeepStrictEqual(stored, given)) return entered;
    const refusal = refuseStoredSecrets(former, asked.devices, actor, [...path.slice(0, -1), 'devices']);
    return refusal === undefined ? { arguments: stored, secretsById: former.secretsById } : { refusal };
  }
  if (!isHidden && !hasMaskedSecret(tool, given)) return entered;
  return {
    refusal: refuse(
      'INVALID',
      path,
      `"${MASK}" stands for the stored value only if the tool and its arguments stay the same. ` +
        'Send all arguments again, with their values.',
    ),
  };
}

/** Refuses masks where nothing is stored that they could stand for. */
export async function refuseMasks(
  toolSets: Pick<Registry['toolSets'], 'userOnlyAmong'>,
  asked: AskedCall,
  actor: Actor,
  path: readonly string[],
): Promise<Refusal | undefined> {
  const hasMasks = hasMaskedSecret(asked.tool, asked.arguments) || (await isHiddenFrom(actor, asked, toolSets));
  return hasMasks ? nothingStored(path) : undefined;
}

/** The same for a single call. A user-only tool is forbidden later, and only that is audited. */
export async function refuseMaskedSecrets(
  toolSets: Pick<Registry['toolSets'], 'userOnlyAmong'>,
  { tool, arguments: given }: AskedCall,
  { mayCallUserOnly }: Actor,
  path: readonly string[],
): Promise<Refusal | undefined> {
  if (!hasMaskedSecret(tool, given)) return undefined;
  const isForbidden = !mayCallUserOnly && (await toolSets.userOnlyAmong([tool])).has(tool);
  return isForbidden ? undefined : nothingStored(path);
}

function nothingStored(path: readonly string[]): Refusal {
  return refuse(
    'INVALID',
    path,
    `"${MASK}" stands for a value that is not shown, and none is stored here. Send all arguments with their values.`,
  );
}

/** Whether the masks are those of a user-only tool, which this actor gets for all arguments. */
async function isHiddenFrom(
  { mayCallUserOnly }: Actor,
  { tool, arguments: given }: AskedCall,
  toolSets: Pick<Registry['toolSets'], 'userOnlyAmong'>,
): Promise<boolean> {
  return !mayCallUserOnly && Object.values(given).includes(MASK) && (await toolSets.userOnlyAmong([tool])).has(tool);
}

/** Why the stored secrets may not be sent to `devices`, undefined if they may. */
function refuseStoredSecrets(
  former: Saved,
  devices: DeviceFilter,
  actor: Actor,
  path: readonly string[],
): Refusal | undefined {
  if (former.secretsById === actor.id || isDeepStrictEqual(storedFilter(devices), storedFilter(former.devices)))
    return undefined;
  return refuse(
    'INVALID',
    path,
    'Another person entered the secret arguments for other devices. Send the arguments again, with the secrets.',
  );
}
