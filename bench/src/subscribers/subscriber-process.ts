/** Subscribers to events in a process of their own, as real clients over graphql-transport-ws; says on request how many events they were shown. */
import { subscriptions } from '@flotilla/test/api/graphql-client';
import type { SubscriberNews, SubscriberOrder } from './subscriber-messages.js';

/** As many as the hub lets one connection have. */
const SUBSCRIPTIONS_PER_SOCKET = 50;

let received = 0;
let ended = 0;

function subscribe({ httpUrl, adminKey, deviceIds, unfiltered }: SubscriberOrder): void {
  const filters = [...deviceIds.map((deviceId) => ({ deviceId })), ...Array.from({ length: unfiltered }, () => ({}))];
  const perSocket = unfiltered > 0 ? 1 : SUBSCRIPTIONS_PER_SOCKET;
  for (let from = 0; from < filters.length; from += perSocket) {
    const client = subscriptions({ httpUrl, adminKey });
    for (const filter of filters.slice(from, from + perSocket)) {
      const query = 'subscription ($filter: EventFilter) { eventAdded(filter: $filter) { cursor node { id type deviceId at data } } }';
      const end = () => void ended++;
      client.subscribe({ query, variables: { filter } }, { next: () => void received++, error: end, complete: end });
    }
  }
}

process.on('message', (message: SubscriberOrder | 'count') => {
  if (message === 'count') process.send?.({ received, ended } satisfies SubscriberNews);
  else subscribe(message);
});
