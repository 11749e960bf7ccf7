/**
 * The tree of commands: groups such as `jobs`, and leaves such as `jobs pause`. Specs walk the same
 * tree as the program.
 */
import type { FlotillaClient } from '@flotilla/client';
import yargs, { type ArgumentsCamelCase, type Argv } from 'yargs';
import { withClient } from '../connection.js';
import { confirm, yesOption } from '../console/confirm.js';
import { formatOf } from '../console/output-format.js';
import { exitCodes, type ExitCode } from '../exit-codes.js';
import { globalOptions, type GlobalArguments } from '../options/global-options.js';

/** Values that a shell completes from the hub. */
export type CompletedValue = 'device' | 'tool' | 'job' | 'image' | 'desired';

/** A group or a leaf. */
export interface Command {
  readonly name: string;
  /** Its name and positionals, such as `pause <id>`. */
  readonly usage: string;
  readonly summary: string;
  /** Command lines without `flotilla`. The first one runs as it is in a spec. */
  readonly examples: readonly string[];
  /** Whether its group runs it if no command is named. */
  readonly isDefault: boolean;
  /** What its positionals are, as far as the hub knows their values. */
  readonly values: readonly CompletedValue[];
  /** The commands of a group; empty for a leaf. */
  readonly commands: readonly Command[];
  /** Whether the next word is the value of this option, such as `--name`; not of a switch. */
  takesValue(option: string): boolean;
  /** Adds it to the parser of its group, or of the program. */
  addTo(program: Argv<GlobalArguments>): void;
}

interface Leaf<Args> {
  /** Its name and positionals, such as `pause <id>`. */
  readonly usage: string;
  /** Whether the group runs it if no command is named. */
  readonly isDefault?: boolean;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly values?: readonly CompletedValue[];
  /** What to know besides the options. */
  readonly notes?: string;
  readonly options?: (args: Argv<GlobalArguments>) => Argv<Args>;
  /** Without an exit code it ends with `done`. */
  readonly run: (args: LeafArguments<Args>) => Promise<ExitCode | void>;
}

type LeafArguments<Args> = ArgumentsCamelCase<Args> & GlobalArguments;

interface HubLeaf<Args> extends Omit<Leaf<Args>, 'run'> {
  /** What to confirm before the hub is asked. Adds `--yes`. */
  readonly question?: (args: LeafArguments<Args>) => string;
  /** With a client that is closed afterwards. Without an exit code it ends with `done`. */
  readonly run: (args: LeafArguments<Args>, client: FlotillaClient) => Promise<ExitCode | void>;
}

/** A leaf that asks the hub. */
export function hubLeaf<Args = GlobalArguments>({ question, run, options, ...rest }: HubLeaf<Args>): Command {
  return leaf<Args>({
    ...rest,
    options: (args) => {
      const own = (options?.(args) ?? args) as Argv<Args>;
      return question ? (own.options(yesOption) as Argv<Args>) : own;
    },
    run: async (args) => {
      if (question && !(await confirm(question(args), args as { readonly yes?: boolean }))) return exitCodes.refused;
      return withClient(args, (client) => run(args, client));
    },
  });
}

export function leaf<Args = GlobalArguments>({ usage, isDefault = false, values = [], ...rest }: Leaf<Args>): Command {
  const { summary, examples, notes, options, run } = rest;
  return {
    name: usage.split(' ')[0] ?? usage,
    usage,
    summary,
    examples,
    isDefault,
    values,
    commands: [],
    takesValue: (option) => takesValue(options, option),
    addTo: (program) => {
      program.command(
        isDefault ? [usage, '$0'] : usage,
        summary,
        (args) => {
          const own = (options?.(args) ?? args) as Argv<Args>;
          if (notes !== undefined) own.epilogue(notes);
          return own.example(examples.map((example): [string] => [`$0 ${example}`]));
        },
        async (args) => {
          // Before anything is sent, as a refusal after a change would hide its result.
          formatOf(args as LeafArguments<Args>);
          process.exitCode = (await run(args as LeafArguments<Args>)) ?? exitCodes.done;
        },
      );
    },
  };
}

/** Asks the parser, which knows switches and short names. Its types leave these lists out. */
function takesValue<Args>(options: Leaf<Args>['options'], option: string): boolean {
  const program = yargs().options(globalOptions) as unknown as Argv<GlobalArguments>;
  const parser = (options?.(program) ?? program) as unknown as {
    readonly getOptions: () => {
      readonly boolean: readonly string[];
      readonly alias: Readonly<Record<string, readonly string[]>>;
      readonly key: Readonly<Record<string, unknown>>;
    };
  };
  const { alias, boolean, key } = parser.getOptions();
  const typed = option.replace(/^--?/, '');
  const name = Object.keys(alias).find((one) => alias[one]?.includes(typed) === true) ?? typed;
  return name in key && !boolean.includes(name);
}

export function group(name: string, summary: string, commands: readonly Command[]): Command {
  return {
    name,
    usage: name,
    summary,
    examples: [],
    isDefault: false,
    values: [],
    commands,
    takesValue: (option) => takesValue(undefined, option),
    addTo: (program) => {
      program.command(name, summary, (args) => {
        for (const command of commands) command.addTo(args);
        args.example(examplesOf(commands));
        return commands.some(({ isDefault }) => isDefault)
          ? args
          : args.demandCommand(1, `Missing command. Run \`flotilla ${name} --help\`.`);
      });
    },
  };
}

/** Examples in the help of a group. */
const groupExamplesMax = 4;

/** The first example of the first commands; that of a default command is in the help anyway. */
function examplesOf(commands: readonly Command[]): readonly [string][] {
  return commands
    .filter(({ isDefault }) => !isDefault)
    .slice(0, groupExamplesMax)
    .flatMap(({ examples: [example] }): [string][] => (example === undefined ? [] : [[`$0 ${example}`]]));
}
