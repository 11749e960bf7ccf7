/** One entity of Home Assistant: how it is announced, what it shows, and what its command does. */

export type Platform = 'binary_sensor' | 'button' | 'number' | 'select' | 'sensor' | 'switch' | 'text' | 'update';

/** A value in the state message; null: unknown. */
export type StateValue = string | number | null;

export interface ToolWriter {
  readonly kind: 'tool';
  readonly tool: string;
  /** Undefined for a button: the tool has no arguments. */
  readonly argument: string | undefined;
  /** The property that the tool sets. */
  readonly property: string | undefined;
  /** Numbers: only whole ones. */
  readonly isWhole?: boolean;
  /** The device may restart before it answers, as its policy says. */
  readonly endsSession?: boolean;
}

type Writer = ToolWriter | { readonly kind: 'install' };

export interface Entity {
  readonly platform: Platform;
  /** The name of its value in the state message, and the end of its ids. */
  readonly key: string;
  readonly name: string;
  /** Fields of the platform, as Home Assistant documents them. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Undefined for entities without a value in the state message. */
  readonly value?: StateValue;
  /** Undefined: read-only. */
  readonly writer?: Writer;
}

/** The name of the entity in the discovery message, and in its command topic. */
export function componentOf({ platform, key }: Pick<Entity, 'platform' | 'key'>): string {
  return `${platform}_${key}`;
}
