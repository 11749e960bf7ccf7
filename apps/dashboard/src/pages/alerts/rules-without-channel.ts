/** The rules that would have no channel left without this one, by name: they send no messages. */
export function rulesWithoutChannel(rules: readonly RuleWithChannels[], channelId: string): readonly string[] {
  return rules
    .filter(({ channels }) => channels.length > 0 && channels.every(({ id }) => id === channelId))
    .map(({ name }) => name);
}

interface RuleWithChannels {
  readonly name: string;
  readonly channels: readonly { readonly id: string }[];
}
