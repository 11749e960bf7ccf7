/** `flotilla login`, `logout` and `whoami`. */
import { checkedKey, checkedUrl, defaultUrl, givenKey, withHub } from '../../connection.js';
import { printChange, printThing, say } from '../../console/output.js';
import { ask, readSecret } from '../../console/secret.js';
import { UsageError } from '../../exit-codes.js';
import { ViewerDocument } from '../../generated/operations.js';
import { profileFile, readProfiles, writeProfiles } from '../../profiles/profile-store.js';
import { hubLeaf, leaf } from '../command.js';

/** The profile of a login without a name. */
const defaultName = 'default';

export const loginCommand = leaf({
  usage: 'login [address]',
  summary: 'Check an API key and store it with the address of its hub, for later commands',
  examples: ['login https://hub.example', 'login https://hub.example --profile shop --with-key < key.txt'],
  notes:
    'The key is stored in profiles.json, in the folder flotilla of $XDG_CONFIG_HOME, ~/.config or %APPDATA%. ' +
    'Only you can read the file. The profile becomes the current one.',
  options: (args) =>
    args
      .positional('address', { type: 'string', describe: 'Address of the hub; asked for if it is missing' })
      .option('with-key', { type: 'boolean', describe: 'Read the key from standard input instead of asking for it' }),
  run: async (args) => {
    const { withKey, profile: name = defaultName } = args;
    if (!/^[\w.-]{1,64}$/.test(name))
      throw new UsageError('--profile must be a name of up to 64 letters, digits, dots, hyphens and underscores.');
    const given = givenKey(args);
    if (withKey === true && given !== undefined)
      throw new UsageError('Give the key once. Omit --with-key, or omit --key and --key-file.');
    const isKeyThere = withKey === true || given !== undefined;
    if (!isKeyThere && !process.stdin.isTTY)
      throw new UsageError(
        'Without a terminal, add --key-file <file>, or pipe the key to: flotilla login <address> --with-key',
      );
    const { current, profiles } = readProfiles(profileFile());
    const known = profiles[name]?.url ?? defaultUrl;
    // A key goes only to an address that the person gave, where there is a person.
    const isAsked = withKey !== true && process.stdin.isTTY;
    const url = checkedUrl(args.address ?? args.url ?? (isAsked ? await ask('Address of the hub', known) : known));
    const key = checkedKey((given ?? (await readSecret('API key (not shown): '))).trim());
    const { viewer } = await withHub({ url, apiKey: key }, (client) => client.request(ViewerDocument));
    writeProfiles(profileFile(), { current: name, profiles: { ...profiles, [name]: { url, key } } });
    await printChange({ profile: name, url, ...viewer }, args);
    if (current !== undefined && current !== name) say(`Commands now use the profile ${name} instead of ${current}.`);
  },
});

export const logoutCommand = leaf({
  usage: 'logout',
  summary: 'Remove the current profile, or the one of --profile, from this computer',
  examples: ['logout --profile shop'],
  notes: 'The key stays valid. Revoke it with `flotilla keys revoke`.',
  run: async (args) => {
    const { current, profiles } = readProfiles(profileFile());
    const name = args.profile ?? current;
    if (name === undefined || !Object.hasOwn(profiles, name))
      throw new UsageError(`There is no profile ${name === undefined ? 'in use' : `"${name}"`}. Nothing was removed.`);
    const rest = Object.fromEntries(Object.entries(profiles).filter(([other]) => other !== name));
    const next = current === name ? Object.keys(rest)[0] : current;
    writeProfiles(profileFile(), { current: next, profiles: rest });
    await printChange({ removedProfile: name }, args);
    if (next !== undefined && next !== current) say(`Commands now use the profile ${next}: ${rest[next]?.url ?? ''}`);
    say('The key stays valid. Revoke it with: flotilla keys revoke <id>');
  },
});

export const whoamiCommand = hubLeaf({
  usage: 'whoami',
  summary: 'Show the key or person of the commands, and its scopes',
  examples: ['whoami --profile shop'],
  run: async (args, client) => {
    const { viewer } = await client.request(ViewerDocument);
    await printThing(viewer, args);
  },
});
