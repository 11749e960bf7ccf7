/**
 * Sends OTA requests of boards that have not moved to their former server, and gives its answers to
 * them unchanged. Learns from an answer only whether the board is bound there.
 */
import type { EventFeed } from '@flotilla/bus';
import { withTimeout } from '@flotilla/session';
import type { Clock } from '@flotilla/session';
import type { CredentialStore, MovingBoardStore, MovingRoute, OtaContact, Recognition } from '@flotilla/registry';
import type { EventLog } from '../../sessions/event-log.js';
import type { GatewayLogger } from '../../gateway-logger.js';
import type { AttemptLimiter, AttemptLimits } from '../../overload/attempt-limiter.js';
import type { OtaTarget } from '../ota/ota-target.js';
import type { FormerAnswer, FormerRequest, FormerServer } from './former-server.js';
import { isBoundThere } from './read-former-answer.js';

interface PassThroughOptions {
  readonly server: FormerServer;
  readonly boards: Pick<MovingBoardStore, 'routeOf' | 'notePassed' | 'release'>;
  readonly credentials: Pick<CredentialStore, 'recognise'>;
  /** Boards that one network may add to the list: strangers invent ids. */
  readonly limiter: AttemptLimiter;
  readonly events: EventLog;
  readonly feed: Pick<EventFeed, 'publish'>;
  readonly clock: Clock;
  readonly logger: GatewayLogger;
}

/**
 * `here`: the hub answers. `moved`: the same, and the move admits the board. `there`: the former
 * server answers. `leaving`: the same, and then the credentials of the board are void here.
 */
export type Way = 'here' | 'moved' | 'there' | 'leaving';

/** A request that is passed on. `contact` is undefined without a MAC or a Client-Id. */
interface Passed {
  readonly request: FormerRequest;
  readonly contact: OtaContact | undefined;
  readonly isActivation: boolean;
  readonly way: Way;
}

/** Requests at the former server at a time: a hall of boards that is switched on. */
const AT_A_TIME_MAX = 256;
/** Enough for a hall of new boards. After that, one network needs a day to fill the list. */
export const addedBoardLimits: AttemptLimits = { burst: 400, perSecond: 1, addressesMax: 10_000 };
/** How long PostgreSQL may delay an answer of the former server, ms. */
const RECORD_TIMEOUT_MS = 2_000;
/** How long it may take to say where a board belongs, ms. An enrolled one does not need it. */
const ROUTE_TIMEOUT_MS = 2_000;

export class PassThrough {
  #running = 0;

  constructor(private readonly options: PassThroughOptions) {}

  /** Rejects if PostgreSQL is needed and down: then the board asks again. */
  async wayOf(contact: OtaContact | undefined, { isActivation, token }: OtaTarget): Promise<Way> {
    if (contact === undefined) return isActivation ? 'here' : 'there';
    // The address of a link belongs to this hub.
    if (token !== undefined) return 'here';
    const { boards, clock, credentials, logger } = this.options;
    const recognition = await credentials.recognise(contact);
    const isProven = recognition.kind === 'proven';
    const asked = withTimeout(boards.routeOf(contact.deviceId), ROUTE_TIMEOUT_MS, clock);
    const route = await asked.catch((error: unknown) => {
      if (!isProven) throw error;
      logger.warn({ error, deviceId: contact.deviceId }, 'could not read whether a board goes back');
      return undefined;
    });
    return wayBy(recognition, route, isActivation);
  }

  /** Undefined without a usable answer: then the board asks again. */
  async pass({ contact, isActivation, request, way }: Passed): Promise<FormerAnswer | undefined> {
    if (this.#running >= AT_A_TIME_MAX) return undefined;
    this.#running += 1;
    try {
      const answer = await this.options.server.ask(request);
      if (contact !== undefined && !isActivation) await this.#record(contact, answer, way);
      return answer;
    } finally {
      this.#running -= 1;
    }
  }

  /** A failure changes nothing for the board: the next request is recorded. */
  async #record(contact: OtaContact, answer: FormerAnswer | undefined, way: Way): Promise<void> {
    const { boards, clock, limiter, logger } = this.options;
    const { at, clientUuid, deviceId, firmwareVersion, model, remoteAddress } = contact;
    const bound = answer && isBoundThere(answer);
    const mayBeAdded = limiter.take(remoteAddress, at);
    const passed = { deviceId, clientUuid, model, firmwareVersion, at, answer: answer && { bound }, mayBeAdded };
    try {
      const isNew = await withTimeout(boards.notePassed(passed), RECORD_TIMEOUT_MS, clock);
      if (mayBeAdded && !isNew) limiter.giveBack(remoteAddress);
      // Without settings from there, the board goes on with those of this hub.
      if (way === 'leaving' && bound !== undefined) await withTimeout(this.#release(contact), RECORD_TIMEOUT_MS, clock);
    } catch (error) {
      logger.warn({ error, deviceId }, 'a request to the former server was not recorded');
    }
  }

  async #release({ deviceId, remoteAddress }: OtaContact): Promise<void> {
    const { boards, events, feed } = this.options;
    if (!(await boards.release(deviceId, remoteAddress))) return;
    feed.publish('expelled', { deviceId });
    events.write('board.released', deviceId, { remoteAddress: remoteAddress ?? null });
    feed.publish('device', { deviceId });
  }
}

function wayBy(recognition: Recognition, route: MovingRoute | undefined, isActivation: boolean): Way {
  if (route?.isMoved === true) return 'moved';
  if (recognition.kind === 'proven') return route?.isReturning === true && !isActivation ? 'leaving' : 'here';
  if (recognition.replaces || recognition.firstUse === 'due') return 'here';
  return isActivation && route?.isAnswered !== true ? 'here' : 'there';
}
