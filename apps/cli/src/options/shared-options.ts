/** Positionals and options that many commands share. */
import type { Argv } from 'yargs';

/** The positional `<id>` of a command about one thing. */
export function withId<Args>(args: Argv<Args>, describe: string) {
  return args.positional('id', { type: 'string', demandOption: true, describe });
}

/** An option that can be repeated. */
export const listOption = (describe: string) =>
  ({ type: 'string', array: true, nargs: 1, requiresArg: true, describe: `${describe}; repeatable` }) as const;

export const textOption = (describe: string) => ({ type: 'string', requiresArg: true, describe }) as const;

/** The fields that are given, without those that are undefined. */
export function given<Fields extends Readonly<Record<string, unknown>>>(
  fields: Fields,
): { readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof Fields]?: Exclude<Fields[Name], undefined>;
  };
}
