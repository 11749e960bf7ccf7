/** What a desired state sets: the tool with its arguments. */
export interface SettingTextProps {
  readonly state: { readonly tool: string; readonly arguments: unknown };
}

export function SettingText({ state: { tool, arguments: given } }: SettingTextProps) {
  return (
    <>
      <code>{tool}</code> <code className="soft">{JSON.stringify(given)}</code>
    </>
  );
}
