/** Default limits of one session, each with its unit and reason. */
import type { SessionLimits } from './session-contract.js';

export const defaultSessionLimits: SessionLimits = {
  /**
   * Inputs. Processing is synchronous, so only callbacks add inputs. Four times the waiting calls
   * leaves room for messages.
   */
  mailboxInputsMax: 256,
  /**
   * Calls. A device runs one at a time: at 50 ms each, the last of 64 waits three seconds, as long
   * as a person would.
   */
  waitingCallsMax: 64,
  /**
   * UTF-8 bytes of one request with its envelope. Devices buffer a message as a whole on a small
   * heap. [xiaozhi §1.7]
   */
  requestBytesMax: 8 * 1024,
  /**
   * UTF-8 bytes above which a device may lose requests after a cut one; Infinity for transports
   * without this fault.
   */
  largeRequestBytes: Infinity,
  /** Milliseconds. A device rebuilds its client after 60 s without a connection. [xiaozhi §2.3] */
  largeRequestTrialMs: 60_000,
  /**
   * Pages of one listing. A page has up to 8 KB; half a megabyte of tools indicates an endless
   * listing. [xiaozhi §9, 15]
   */
  toolPagesMax: 64,
  /** Tools of one device. The largest known boards have about twenty. [xiaozhi §9, 15] */
  toolsMax: 512,
  /** Milliseconds. A device that opens a conversation replies up to 10 s late. [xiaozhi §2.4] */
  greetingTimeoutMs: 15_000,
  /** Milliseconds for each page, for the same reason. */
  listingTimeoutMs: 15_000,
  /**
   * Milliseconds during which the id of a timed-out request is remembered. The slowest known
   * answer, of a failed upgrade, follows a whole download.
   */
  lateReplyMs: 15 * 60_000,
};

/**
 * Timed-out requests that one session remembers; beyond this the oldest is forgotten. Far more than
 * a silent device receives.
 */
export const rememberedRequestsMax = 256;

/**
 * UTF-16 code units of a device's text quoted in an error message: enough to see the problem, small
 * enough to store per call.
 */
export const quotedTextMax = 2048;
