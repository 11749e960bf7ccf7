/** `flotilla completion`: scripts that complete command lines. */
import { completionScripts, shells } from '../../completion/scripts.js';
import { write } from '../../console/output.js';
import { leaf } from '../command.js';

export const completionCommand = leaf({
  usage: 'completion [shell]',
  summary: 'Print a script for bash, zsh or fish that completes commands, options, ids and tools',
  examples: ['completion bash > ~/.flotilla-completion.bash', 'completion zsh', 'completion fish'],
  options: (args) => args.positional('shell', { choices: shells, describe: 'Default: the shell in $SHELL' }),
  run: (args) => {
    const mine = shells.find((shell) => process.env['SHELL']?.endsWith(shell)) ?? 'bash';
    return write(completionScripts[args.shell ?? mine]);
  },
});
