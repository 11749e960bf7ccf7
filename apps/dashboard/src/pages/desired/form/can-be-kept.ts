/** Whether the hub can keep the effect of a tool, by its policy: readable and repeatable. */
interface KeepablePolicy {
  readonly idempotent: boolean;
  readonly disruptive: boolean;
  readonly readback: object | null;
}

export function canBeKept({ idempotent, disruptive, readback }: KeepablePolicy): boolean {
  return idempotent && !disruptive && readback !== null;
}
