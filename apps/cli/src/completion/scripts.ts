/** The completion scripts. Each asks `flotilla` itself for the words that can follow. */

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The first word of a command line that asks for completions; the words to complete follow. */
export const completionsFlag = '--get-yargs-completions';

/**
 * bash: no `compgen -W`, because it would run commands in words that came from devices. What is
 * completed begins after the last colon, where bash breaks words.
 */
const bash = `# Add to ~/.bashrc: eval "$(flotilla completion bash)"
_flotilla() {
  local line current prefix word
  local -a words
  line=\${COMP_LINE:0:COMP_POINT}
  read -r -a words <<< "$line"
  if [[ $line == *[[:space:]] ]]; then words+=(""); fi
  current=\${words[\${#words[@]}-1]}
  prefix=
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then prefix=\${current%"\${current##*:}"}; fi
  COMPREPLY=()
  while IFS= read -r word; do
    if [[ $word == "$current"* ]]; then COMPREPLY+=("\${word#"$prefix"}"); fi
  done < <(SHELL=bash flotilla ${completionsFlag} "\${words[@]}" 2> /dev/null)
}
complete -o default -F _flotilla flotilla
`;

const zsh = `#compdef flotilla
# Add to ~/.zshrc, after compinit: eval "$(flotilla completion zsh)"
_flotilla() {
  local -a replies
  replies=("\${(@f)$(SHELL=zsh flotilla ${completionsFlag} "\${(@)words[1,CURRENT]}" 2> /dev/null)}")
  if [[ -n \${replies[1]} ]]; then _describe 'value' replies; else _files; fi
}
if [[ \${funcstack[1]} == _flotilla ]]; then _flotilla "$@"; else compdef _flotilla flotilla; fi
`;

/** fish and zsh show a description behind each word; in fish a tab divides them. */
const fish = `# Add to ~/.config/fish/config.fish: flotilla completion fish | source
function __flotilla_completions
    set -l words (commandline -opc) (commandline -ct)
    SHELL=zsh flotilla ${completionsFlag} $words 2>/dev/null \\
        | string replace -r '^((?:\\\\\\\\:|[^:\\\\\\\\])+):(.*)$' '$1\\t$2' \\
        | string replace -a '\\\\:' ':'
end
complete -c flotilla -f -a '(__flotilla_completions)'
`;

export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
