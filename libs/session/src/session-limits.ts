/** Bounds of one session: the defaults, each with its unit and its reason. */
import type { SessionLimits } from './session-contract.js';

export const defaultSessionLimits: SessionLimits = {
  /** Inputs. Processing is synchronous, so only callbacks that feed the session pile them up; four times the waiting calls leaves room for messages. */
  mailboxInputsMax: 256,
  /** Calls. A device runs one at a time: at the usual 50 ms each, the last of 64 waits three seconds, as long as a person does. */
  waitingCallsMax: 64,
  /** UTF-8 bytes of one request, envelope included. Devices buffer a message whole on a small heap. [xiaozhi §1.7] */
  requestBytesMax: 8 * 1024,
  /** UTF-8 bytes above which a device may lose requests after a cut one; Infinity where the transport has no such fault. */
  largeRequestBytes: Infinity,
  /** Milliseconds. Such a device may have rebuilt its client by then, which it does after 60 s without a link. [xiaozhi §2.3] */
  largeRequestTrialMs: 60_000,
  /** Pages of one listing. A page carries 8 KB: half a megabyte of tools is a device that never ends. [xiaozhi §9, 15] */
  toolPagesMax: 64,
  /** Tools of one device. The largest known boards have some twenty. [xiaozhi §9, 15] */
  toolsMax: 512,
  /** Milliseconds. A device that opens a conversation holds its replies back for up to 10 s. [xiaozhi §2.4] */
  greetingTimeoutMs: 15_000,
  /** Milliseconds for each page, for the same reason. */
  listingTimeoutMs: 15_000,
  /** Milliseconds for which the id of a timed-out request is remembered: the slowest known answer, a failed upgrade's, comes after a whole download. */
  lateReplyMs: 15 * 60_000,
};

/** Timed-out requests that one session remembers; beyond, the oldest is forgotten. One a second for four minutes, far more than a silent device gets. */
export const rememberedRequestsMax = 256;

/** UTF-16 code units of a device's raw text that an error message quotes: enough to see what is wrong, small enough to store with each call. */
export const quotedTextMax = 2048;
