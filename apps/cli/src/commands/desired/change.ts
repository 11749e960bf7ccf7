/** The commands that create, change and delete desired states, and preview such a change. */
import { expectAccepted, type FlotillaClient } from '@flotilla/client';
import type { DesiredStateInput } from '@flotilla/client/schema';
import type { Argv } from 'yargs';
import { withClient } from '../../connection.js';
import { confirm, yesOption } from '../../console/confirm.js';
import { formatOf, type OutputOptions } from '../../console/output-format.js';
import { printChange, printThing, write } from '../../console/output.js';
import { printable } from '../../console/printable.js';
import { exitCodes, UsageError, type ExitCode } from '../../exit-codes.js';
import { found } from '../../found.js';
import {
  CreateDesiredStateDocument,
  DeleteDesiredStateDocument,
  DesiredStateDetailsDocument,
  PreviewDesiredStateDocument,
  SetDesiredStateEnabledDocument,
  UpdateDesiredStateDocument,
  type DesiredRowFragment,
  type PreviewDesiredStateQuery,
} from '../../generated/operations.js';
import { sendOnce } from '../../lost-answer.js';
import type { GlobalArguments } from '../../options/global-options.js';
import { requiredDeviceFilter, selectsDevices } from '../../options/device-filter.js';
import { given, textOption, withId } from '../../options/shared-options.js';
import { argumentsForFleet, argumentsOption, givenArguments } from '../../tools/tool-arguments.js';
import { hubLeaf, leaf } from '../command.js';
import { rulesOf, withDesiredOptions, type DesiredArguments } from './desired-options.js';
import { countsText, desiredPreviewInWords } from './desired-words.js';

const anId = '01990000-0000-7000-8000-00000000000d';
const volume = 'self.audio_speaker.set_volume';

const withNew = (args: Argv<GlobalArguments>) =>
  withDesiredOptions(args)
    .positional('tool', { type: 'string', demandOption: true })
    .positional('arguments', argumentsOption);

type Preview = PreviewDesiredStateQuery['previewDesiredState'];

type NewArguments = DesiredArguments & {
  readonly tool: string;
  readonly arguments?: readonly string[] | undefined;
  readonly all?: boolean | undefined;
};

export const createCommand = leaf({
  usage: 'create <tool> [arguments..]',
  values: ['tool'],
  summary: 'Keep the effect of a tool true on devices, now and later',
  examples: [
    `desired create ${volume} volume=30 --name "Quiet nights" --tag shop --window 22:00-07:00`,
    `desired create ${volume} volume=0 --name "Silent lobby" --group 0199 --on-drift REVERT`,
    `desired create ${volume} volume=30 --name Volume --all --mode REPORT --preview`,
  ],
  notes:
    'The tool needs a policy that is idempotent, not disruptive, and has a readback (flotilla policies set). ' +
    'Without --window-zone the hours are those of each device, and without --window-days the window is daily.',
  options: (args) =>
    withNew(args).option('idempotency-key', textOption('A repeated command with the same key finds the first one')),
  run: async (args) => {
    const { name, preview } = args;
    if (name === undefined) throw new UsageError('A desired state needs a name. Add --name.');
    return withNewInput(args, name, async (client, input) => {
      if (preview === true) return printPreview(client, { input }, args);
      const { createDesiredState } = await sendOnce(args['idempotency-key'], (idempotencyKey) =>
        client.request(CreateDesiredStateDocument, { input, idempotencyKey }),
      );
      await printDesired(expectAccepted(createDesiredState).desiredState, args);
      return exitCodes.done;
    });
  },
});

export const previewCommand = leaf({
  usage: 'preview <tool> [arguments..]',
  values: ['tool'],
  summary: 'Show what a new desired state would do, without creating it',
  examples: [`desired preview ${volume} volume=30 --tag shop`],
  notes: 'For a change of an existing one: flotilla desired edit <id> … --preview.',
  options: withNew,
  run: (args) => withNewInput(args, args.name ?? 'preview', (client, input) => printPreview(client, { input }, args)),
});

export const editCommand = leaf({
  usage: 'edit <id> [arguments..]',
  values: ['desired'],
  summary: 'Change a desired state; what is not given stays',
  examples: [
    `desired edit ${anId} volume=20`,
    `desired edit ${anId} --window always --priority 5`,
    `desired edit ${anId} volume=20 --waves 5,100 --preview`,
  ],
  notes:
    'It fails if another person changed it in the meantime. Its calls have the rights of the key that edits it. ' +
    'A window keeps its zone and days, until --window-zone device and --window-days every remove them. ' +
    'One that the hub paused applies again afterwards.',
  options: (args) =>
    withDesiredOptions(withId(args, 'Id of the desired state')).positional('arguments', argumentsOption),
  run: async (args) => {
    const typed = await givenArguments(args.arguments);
    return withClient(args, async (client) => {
      const state = await storedState(client, args.id);
      const changed = typed.kind === 'none' ? undefined : await argumentsForFleet(client, state.tool, typed);
      const input: DesiredStateInput = {
        ...inputOf(state),
        ...given({ name: args.name, arguments: changed }),
        ...(selectsDevices(args) ? { devices: requiredDeviceFilter(args) } : {}),
        ...rulesOf(args, state.window),
      };
      if (args.preview === true) return printPreview(client, { input, id: args.id }, args);
      const variables = { id: args.id, generation: state.generation, input };
      const { updateDesiredState } = await client.request(UpdateDesiredStateDocument, variables);
      await printDesired(expectAccepted(updateDesiredState).desiredState, args);
      return exitCodes.done;
    });
  },
});

export const enableCommand = hubLeaf({
  usage: 'enable <id>',
  values: ['desired'],
  summary: 'Let a desired state apply again',
  examples: [`desired enable ${anId}`],
  options: (args) => withId(args, 'Id of the desired state'),
  run: (args, client) => setEnabled(client, args, true),
});

export const disableCommand = hubLeaf({
  usage: 'disable <id>',
  values: ['desired'],
  summary: 'Send nothing more for a desired state; devices keep their values',
  examples: [`desired disable ${anId}`],
  options: (args) => withId(args, 'Id of the desired state'),
  run: (args, client) => setEnabled(client, args, false),
});

export const deleteCommand = hubLeaf({
  usage: 'delete <id>',
  values: ['desired'],
  summary: 'Delete a desired state; devices keep their values',
  examples: [`desired delete ${anId} --yes`],
  options: (args) => withId(args, 'Id of the desired state').options(yesOption),
  run: async (args, client) => {
    const { name } = await storedState(client, args.id);
    if (!(await confirm(`"${printable(name)}" will be deleted with its edits; devices keep their values.`, args)))
      return exitCodes.refused;
    const { deleteDesiredState } = await client.request(DeleteDesiredStateDocument, { id: args.id });
    await printChange({ deletedId: expectAccepted(deleteDesiredState).deletedId }, args);
    return exitCodes.done;
  },
});

async function withNewInput(
  args: NewArguments & GlobalArguments,
  name: string,
  act: (client: FlotillaClient, input: DesiredStateInput) => Promise<ExitCode>,
): Promise<ExitCode> {
  const devices = requiredDeviceFilter(args);
  const typed = await givenArguments(args.arguments);
  return withClient(args, async (client) => {
    const given = await argumentsForFleet(client, args.tool, typed);
    return act(client, { name, tool: args.tool, arguments: given, devices, ...rulesOf(args) });
  });
}

async function printPreview(
  client: FlotillaClient,
  variables: { readonly input: DesiredStateInput; readonly id?: string },
  args: OutputOptions,
): Promise<ExitCode> {
  const all = expectAccepted((await client.request(PreviewDesiredStateDocument, variables)).previewDesiredState);
  if (formatOf(args) === 'table' && args.columns === undefined)
    await write(`${desiredPreviewInWords(all).map(printable).join('\n')}\n`);
  else await printThing(figuresOf(all), args);
  return all.conflicts.length === 0 ? exitCodes.done : exitCodes.refused;
}

function figuresOf({ targetCount, inSyncCount, changeCount, unsupportedCount, unknownCount, ...rest }: Preview) {
  const { conflicts, sample } = rest;
  return { targetCount, inSyncCount, changeCount, unsupportedCount, unknownCount, conflicts, sample };
}

async function setEnabled(
  client: FlotillaClient,
  args: OutputOptions & { readonly id: string },
  enabled: boolean,
): Promise<void> {
  const { setDesiredStateEnabled } = await client.request(SetDesiredStateEnabledDocument, { id: args.id, enabled });
  await printDesired(expectAccepted(setDesiredStateEnabled).desiredState, args);
}

export async function storedState(client: FlotillaClient, id: string) {
  return found((await client.request(DesiredStateDetailsDocument, { id })).desiredState, 'Desired state', id);
}

/** The input that is stored. The API returns JSON in the shape of the input. */
function inputOf(state: DesiredRowFragment): DesiredStateInput {
  const { name, tool, mode, onDrift, holdSeconds, priority, window, maxInFlight, perMinute } = state;
  return {
    name,
    tool,
    mode,
    onDrift,
    holdSeconds,
    priority,
    window,
    maxInFlight,
    perMinute,
    arguments: state.arguments,
    devices: state.devices as DesiredStateInput['devices'],
    waves: state.waves as DesiredStateInput['waves'],
    abort: state.abort as DesiredStateInput['abort'],
    // What the hub paused applies again once it is saved. Others may be disabled meanwhile.
    enabled: state.pausedReason === null ? null : true,
  };
}

async function printDesired(state: DesiredRowFragment | null | undefined, args: OutputOptions): Promise<void> {
  if (state === null || state === undefined) return printChange({}, args);
  if (formatOf(args) !== 'table' || args.columns !== undefined) return printChange({ ...state }, args);
  const { id, name, tool, enabled, generation, summary } = state;
  await printChange(
    {
      id,
      name,
      tool,
      arguments: state.arguments,
      enabled,
      generation,
      devices: `${summary.targeted}${summary.targeted === 0 ? '' : `: ${countsText(summary)}`}`,
    },
    args,
  );
}
