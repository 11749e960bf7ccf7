/**
 * Whether shortcuts of one key are on. Speech input and some screen readers send single keys, so a
 * person can turn them off; Control and K stays. [WCAG 2.1.4]
 */
const storageKey = 'flotilla.shortcuts';

export function areShortcutsOn(): boolean {
  return localStorage.getItem(storageKey) !== 'off';
}

export function turnShortcuts(isOn: boolean): void {
  localStorage.setItem(storageKey, isOn ? 'on' : 'off');
}
