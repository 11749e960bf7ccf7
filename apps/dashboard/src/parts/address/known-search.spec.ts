import { createMemoryHistory, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { describe, expect, it } from 'vitest';
import { parseAlertSearch } from '../../pages/alerts/alert-search';
import { knownSearch } from './known-search';

/** What a page reads of an address. */
function searchAt(address: string): unknown {
  const root = createRootRoute();
  const alerts = createRoute({
    getParentRoute: () => root,
    path: '/alerts',
    validateSearch: knownSearch(parseAlertSearch),
  });
  const router = createRouter({
    routeTree: root.addChildren([alerts]),
    history: createMemoryHistory({ initialEntries: [address] }),
  });
  return router.matchRoutes(router.latestLocation).at(-1)?.search;
}

describe('the search of a page', () => {
  it('has what the page understands of its address', () => {
    expect(searchAt('/alerts?view=rules')).toEqual({ view: 'rules' });
  });

  it('has nothing else, so that no page meets a value of another type', () => {
    expect(searchAt('/alerts?view=nonsense&more=5')).toEqual({});
    expect(searchAt('/alerts?view=5')).toEqual({});
  });
});
