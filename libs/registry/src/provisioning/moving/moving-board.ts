/**
 * Boards of a former server: which server answers their OTA requests, and what the former one said.
 */
import type { DeviceId } from '@flotilla/mcp';

/** `MOVED`: this hub answers. `NOT_MOVED`: it asked here, and the former server answers. */
export type MovingState = 'MOVED' | 'NOT_MOVED' | 'UNKNOWN';

/** A board on its way. Times are ms since the Unix epoch. */
export interface MovingBoardRow {
  readonly deviceId: DeviceId;
  readonly state: MovingState;
  /** It has credentials of this hub: it came after a move, or has not left after a move back. */
  readonly isHere: boolean;
  /** Whether it was bound there at the last answer; undefined: not known. */
  readonly boundThere: boolean | undefined;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly formerName: string | undefined;
  readonly formerAgent: string | undefined;
  readonly formerUser: string | undefined;
  /** Its last request that went to the former server, and the last answer of that. */
  readonly askedAt: number | undefined;
  readonly answeredAt: number | undefined;
  /** Another Client-Id asked for it than the first one. */
  readonly otherClientAt: number | undefined;
  readonly movedAt: number | undefined;
  readonly movedBy: string | undefined;
  /** When its credential became void after it was moved back, and when it last used that one. */
  readonly releasedAt: number | undefined;
  readonly attemptedAt: number | undefined;
}

/** A request that went to the former server. */
export interface PassedRequest {
  readonly deviceId: DeviceId;
  readonly clientUuid: string;
  readonly model: string | undefined;
  readonly firmwareVersion: string | undefined;
  readonly at: number;
  /** Undefined without a usable answer; `bound` undefined: the answer did not say. */
  readonly answer: { readonly bound: boolean | undefined } | undefined;
  /** Whether the board may be added to the list, if it is not in it. */
  readonly mayBeAdded: boolean;
}

/** A board that an import names. */
export interface FormerBoard {
  readonly deviceId: DeviceId;
  readonly name: string | undefined;
  readonly agent: string | undefined;
  readonly user: string | undefined;
}

/** Where the OTA request of a board goes; undefined members were not recorded. */
export interface MovingRoute {
  readonly isMoved: boolean;
  readonly isReturning: boolean;
  /** The former server has answered it. */
  readonly isAnswered: boolean;
}

export interface MovingCounts {
  readonly moved: number;
  readonly notMoved: number;
  readonly unknown: number;
}

/** `missing`: a board that is not listed; then nothing was changed. */
export type MovingAnswer =
  | { readonly kind: 'changed'; readonly boards: readonly MovingBoardRow[]; readonly changed: readonly DeviceId[] }
  | { readonly kind: 'missing'; readonly deviceId: string };
