/** What a desired state sets: the tool with its arguments, such as `volume=30`. */
interface SettingTextProps {
  readonly state: { readonly tool: string; readonly arguments: unknown };
}

export function SettingText({ state: { tool, arguments: given } }: SettingTextProps) {
  return (
    <>
      <code>{tool}</code> <code className="soft">{argumentsText(given)}</code>
    </>
  );
}

function argumentsText(given: unknown): string {
  if (typeof given !== 'object' || given === null) return JSON.stringify(given);
  return Object.entries(given)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
}
