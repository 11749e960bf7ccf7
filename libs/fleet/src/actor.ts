/** On whose behalf something is done. */
export interface Actor {
  /** Key name, user, job or agent, as records show it. */
  readonly name: string;
  /** Whether user-only tools may be called: the device itself does not check. */
  readonly mayCallUserOnly: boolean;
}
