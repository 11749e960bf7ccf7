/** The hours of a day in which a job may send. */
export interface DailyWindow {
  /** HH:MM on the clocks of `zone`. */
  readonly from: string;
  /** HH:MM; earlier than `from` means on the next day. */
  readonly to: string;
  /** IANA name. */
  readonly zone: string;
  /** Days on which the window opens, 1 (Monday) to 7; every day unless given. */
  readonly days?: readonly number[];
}
