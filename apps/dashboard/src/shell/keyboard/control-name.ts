/** The control key as it is written on the keyboard of this computer. */
export function controlName(): string {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';
}
