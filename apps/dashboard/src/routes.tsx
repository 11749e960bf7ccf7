/** The addresses of the console. Each page is loaded when it is first opened; its search parameters are the view that an address shares. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, type RouteComponent } from '@tanstack/react-router';
import { useScope } from './hub/hub';
import type { Scope } from './hub/session';
import { navigation, type PageName } from './shell/navigation';
import { PageFailure, PageForbidden, PageNotFound } from './shell/page-failure';
import { Shell } from './shell/shell';

const root = createRootRoute({
  component: () => (
    <Shell>
      <Outlet />
    </Shell>
  ),
  notFoundComponent: PageNotFound,
});

/** The page, or why the viewer does not see it. */
function guarded(scope: Scope, Component: RouteComponent): RouteComponent {
  return function Guarded() {
    return useScope(scope) ? <Component /> : <PageForbidden scope={scope} />;
  };
}

function scopeOf(page: PageName): Scope {
  return navigation.find(({ name }) => name === page)?.scope ?? 'ADMIN';
}

const overview = createRoute({
  getParentRoute: () => root,
  path: '/',
  component: guarded(
    scopeOf('overview'),
    lazyRouteComponent(() => import('./pages/overview/overview-page'), 'OverviewPage'),
  ),
});

const enrolments = createRoute({
  getParentRoute: () => root,
  path: '/enrolments',
  component: guarded(
    scopeOf('enrolments'),
    lazyRouteComponent(() => import('./pages/enrolments/enrolments-page'), 'EnrolmentsPage'),
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([overview, enrolments]),
  defaultErrorComponent: PageFailure,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
