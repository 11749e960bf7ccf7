/** `flotilla profiles`: the hubs that this computer knows. */
import { printRows, printChange } from '../../console/output.js';
import { UsageError } from '../../exit-codes.js';
import { profileFile, readProfiles, writeProfiles } from '../../profiles/profile-store.js';
import { group, leaf } from '../command.js';

const listCommand = leaf({
  usage: 'list',
  isDefault: true,
  summary: 'List profiles; keys are not shown',
  examples: ['profiles'],
  run: (args) => {
    const { current, profiles } = readProfiles(profileFile());
    const rows = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
    return printRows(rows, ['name', 'url', 'current'], args);
  },
});

const useCommand = leaf({
  usage: 'use <name>',
  summary: 'Make a profile the current one',
  examples: ['profiles use shop'],
  options: (args) => args.positional('name', { type: 'string', demandOption: true }),
  run: async (args) => {
    const { profiles } = readProfiles(profileFile());
    const profile = Object.hasOwn(profiles, args.name) ? profiles[args.name] : undefined;
    if (profile === undefined)
      throw new UsageError(`There is no profile "${args.name}". Create it with: flotilla login --profile ${args.name}`);
    writeProfiles(profileFile(), { current: args.name, profiles });
    await printChange({ profile: args.name, url: profile.url }, args);
  },
});

export const profilesCommand = group('profiles', 'List and choose profiles of hubs', [listCommand, useCommand]);
