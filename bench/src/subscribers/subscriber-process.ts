/**
 * Event subscribers in a separate process. They share the cores with the hub, so they do little:
 * they recognise each message by its first bytes and parse one of a hundred.
 */
import { subscribeRaw } from '@flotilla/test/api/raw-subscriber';
import type { SubscriberNews, SubscriberOrder } from './subscriber-messages.js';

/** The hub's maximum per connection. */
const SUBSCRIPTIONS_PER_SOCKET = 50;
const READ_EVERY = 100;
const QUERY =
  'subscription ($filter: EventFilter) { eventAdded(filter: $filter) { cursor node { id type deviceId at data } } }';

/** The beginning of a message with an event, before the number of its subscriber. */
const START = '{"id":"00000","type":"next"';
const ID_AT = START.indexOf('0');
const ID_LENGTH = 5;
const TYPE_AT = START.indexOf('next');
const FIRST_OF_NEXT = 'n'.charCodeAt(0);

let ends: (() => void)[] = [];
let received = 0;
let failed = 0;
let served = new Set<number>();

function fail(): void {
  failed++;
}

/** `deviceIds`: one per subscriber; empty for subscribers to all events. */
function take(data: Buffer, deviceIds: readonly string[]): void {
  // "error" and "complete" begin with other letters.
  if (data[TYPE_AT] !== FIRST_OF_NEXT) return fail();
  received++;
  const number = Number(data.toString('latin1', ID_AT, ID_AT + ID_LENGTH));
  served.add(number);
  if (received % READ_EVERY === 0 && !isOwnEvent(data, deviceIds[number])) fail();
}

function isOwnEvent(data: Buffer, deviceId: string | undefined): boolean {
  const { payload } = JSON.parse(data.toString()) as {
    payload: { data?: { eventAdded: { cursor: string; node: { deviceId: string } } } };
  };
  const shown = payload.data?.eventAdded;
  return shown !== undefined && shown.cursor !== '' && (deviceId === undefined || shown.node.deviceId === deviceId);
}

function obey({ deviceIds, unfiltered, ...hub }: SubscriberOrder): void {
  for (const end of ends) end();
  [ends, received, failed, served] = [[], 0, 0, new Set()];
  const filters = [...deviceIds.map((deviceId) => ({ deviceId })), ...Array.from({ length: unfiltered }, () => ({}))];
  const operations = filters.map((filter, number) => ({
    id: String(number).padStart(ID_LENGTH, '0'),
    query: QUERY,
    variables: { filter },
  }));
  const perSocket = unfiltered > 0 ? 1 : SUBSCRIPTIONS_PER_SOCKET;
  for (let from = 0; from < operations.length; from += perSocket)
    ends.push(
      subscribeRaw(hub, operations.slice(from, from + perSocket), {
        message: (data) => take(data, deviceIds),
        closed: fail,
      }),
    );
}

process.on('message', (message: SubscriberOrder | 'count') => {
  if (message === 'count') process.send?.({ received, failed, served: served.size } satisfies SubscriberNews);
  else obey(message);
});
