/** The text of a field that the address of the page keeps, and that the address may change, too. */

interface TypedText {
  readonly text: string;
  /** Typed, but not yet sent to the address. */
  readonly isPending: boolean;
  /** Sent to the address, which does not have it yet. The router drops one that is superseded. */
  readonly sent: readonly string[];
}

/** Navigations that are under way; older ones do not arrive any more. */
const sentMax = 20;

export function textOf(value: string): TypedText {
  return { text: value, isPending: false, sent: [] };
}

export function withTyped(former: TypedText, text: string): TypedText {
  return { ...former, text, isPending: true };
}

/** If the address has the value already, texts on their way are superseded and do not arrive. */
export function withSent({ text, sent }: TypedText, value: string, address: string): TypedText {
  return { text, isPending: false, sent: value === address ? [] : [...sent, value].slice(-sentMax) };
}

/** Whether the text differs from the address, or from one that may be about to arrive. */
export function isNews({ sent }: TypedText, text: string, address: string): boolean {
  return text !== address || sent.length > 0;
}

/** The address has the value now. Its own text does not undo what was typed after it. */
export function withArrived(former: TypedText, value: string): TypedText {
  const place = former.sent.lastIndexOf(value);
  const sent = former.sent.slice(place + 1);
  if (place !== -1 && (former.isPending || sent.length > 0)) return { ...former, sent };
  return former.text.trim() === value ? { ...former, isPending: false, sent: [] } : textOf(value);
}
