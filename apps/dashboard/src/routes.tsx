/**
 * The routes of the console. Pages load on first use; search parameters make up the shareable view.
 */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router';
import { useScope } from './hub/hub';
import type { Scope } from './hub/session';
import { parseAlertSearch } from './pages/alerts/alert-search';
import { parseAuditSearch } from './pages/audit/audit-search';
import { parseCallSearch } from './pages/calls/call-search';
import { parseDeviceTab } from './pages/device/device-search';
import { parseDeviceSearch } from './pages/devices/device-search';
import { parseEventSearch } from './pages/events/event-search';
import { parseFirmwareSearch } from './pages/firmware/firmware-search';
import { parseTargetSearch } from './pages/job/target-search';
import { parseJobSearch } from './pages/jobs/job-search';
import { parseShownSearch } from './pages/desired/shown-search';
import { parseNewDesiredSearch } from './pages/desired/form/new-desired-search';
import { parseMeasurementSearch } from './pages/measurements/measurement-search';
import { newDraftId } from './pages/new-job/draft-store';
import { type NewJobSearch, parseNewJobSearch } from './pages/new-job/new-job-search';
import { navigation, type PageName } from './shell/navigation';
import { PageFailure, PageForbidden, PageLost, PageNotFound } from './shell/page-failure';
import { knownSearch } from './parts/address/known-search';
import { GroupsProvider } from './parts/groups/groups';
import { Shell } from './shell/shell';

const root = createRootRoute({
  component: () => (
    <GroupsProvider>
      <Shell>
        <Outlet />
      </Shell>
    </GroupsProvider>
  ),
  notFoundComponent: PageNotFound,
});
const getParentRoute = () => root;

/**
 * The page, or why the viewer may not see it, by the scope of the navigation entry. Preloads its
 * script on intent.
 */
function guarded(page: PageName, load: () => Promise<RouteComponent>): RouteComponent {
  const scope: Scope = navigation.find((entry) => entry.name === page)?.scope ?? 'ADMIN';
  const Component = unguarded(load);
  function Guarded() {
    return useScope(scope) ? <Component /> : <PageForbidden scope={scope} />;
  }
  return Object.assign(Guarded, { preload: () => Component.preload?.() });
}

/** Loads a page, or says that its script is gone. */
function unguarded(load: () => Promise<RouteComponent>) {
  // The router's own lazy loading would silently reload the window if the file is gone.
  return lazyRouteComponent(async () => {
    try {
      return { default: await load() };
    } catch (cause) {
      throw new PageLost(cause);
    }
  });
}

const overview = createRoute({
  getParentRoute,
  path: '/',
  component: guarded('overview', () =>
    import('./pages/overview/overview-page').then(({ OverviewPage }) => OverviewPage),
  ),
});

const devices = createRoute({
  getParentRoute,
  path: '/devices',
  // The hub refuses a wrong condition. Without it the page would show more devices than asked for.
  validateSearch: parseDeviceSearch,
  component: guarded('devices', () => import('./pages/devices/devices-page').then(({ DevicesPage }) => DevicesPage)),
});

const device = createRoute({
  getParentRoute,
  path: '/devices/$id',
  validateSearch: knownSearch(parseDeviceTab),
  component: guarded('devices', () => import('./pages/device/device-page').then(({ DevicePage }) => DevicePage)),
});

const jobs = createRoute({
  getParentRoute,
  path: '/jobs',
  validateSearch: knownSearch(parseJobSearch),
  component: guarded('jobs', () => import('./pages/jobs/jobs-page').then(({ JobsPage }) => JobsPage)),
});

const newJob = createRoute({
  getParentRoute,
  path: '/jobs/new',
  validateSearch: knownSearch<NewJobSearch>(parseNewJobSearch),
  // Each new job has a draft, whose id a reload keeps.
  beforeLoad: ({ search, preload }) => {
    if (search.draft !== undefined || preload) return;
    throw redirect({ to: '/jobs/new', search: { ...search, draft: newDraftId() }, replace: true });
  },
  component: guarded('jobs', () => import('./pages/new-job/new-job-page').then(({ NewJobPage }) => NewJobPage)),
});

const job = createRoute({
  getParentRoute,
  path: '/jobs/$id',
  validateSearch: knownSearch(parseTargetSearch),
  component: guarded('jobs', () => import('./pages/job/job-page').then(({ JobPage }) => JobPage)),
});

const recurring = createRoute({
  getParentRoute,
  path: '/recurring',
  component: guarded('recurring', () =>
    import('./pages/recurring/recurring-page').then(({ RecurringPage }) => RecurringPage),
  ),
});

const desired = createRoute({
  getParentRoute,
  path: '/desired',
  component: guarded('desired', () =>
    import('./pages/desired/desired-list-page').then(({ DesiredListPage }) => DesiredListPage),
  ),
});

const newDesired = createRoute({
  getParentRoute,
  path: '/desired/new',
  validateSearch: knownSearch(parseNewDesiredSearch),
  component: guarded('desired', () =>
    import('./pages/desired/form/desired-form-page').then(({ NewDesiredPage }) => NewDesiredPage),
  ),
});

const oneDesired = createRoute({
  getParentRoute,
  path: '/desired/$id',
  validateSearch: knownSearch(parseShownSearch),
  component: guarded('desired', () => import('./pages/desired/desired-page').then(({ DesiredPage }) => DesiredPage)),
});

const editDesired = createRoute({
  getParentRoute,
  path: '/desired/$id/edit',
  component: guarded('desired', () =>
    import('./pages/desired/form/desired-form-page').then(({ EditDesiredPage }) => EditDesiredPage),
  ),
});

const firmware = createRoute({
  getParentRoute,
  path: '/firmware',
  validateSearch: knownSearch(parseFirmwareSearch),
  component: guarded('firmware', () =>
    import('./pages/firmware/firmware-page').then(({ FirmwarePage }) => FirmwarePage),
  ),
});

const enrolments = createRoute({
  getParentRoute,
  path: '/enrolments',
  component: guarded('enrolments', () =>
    import('./pages/enrolments/enrolments-page').then(({ EnrolmentsPage }) => EnrolmentsPage),
  ),
});

const explore = createRoute({
  getParentRoute,
  path: '/explore',
  component: guarded('explore', () => import('./pages/explore/explore-page').then(({ ExplorePage }) => ExplorePage)),
});

const calls = createRoute({
  getParentRoute,
  path: '/calls',
  validateSearch: knownSearch(parseCallSearch),
  component: guarded('calls', () => import('./pages/calls/calls-page').then(({ CallsPage }) => CallsPage)),
});

const events = createRoute({
  getParentRoute,
  path: '/events',
  validateSearch: knownSearch(parseEventSearch),
  component: guarded('events', () => import('./pages/events/events-page').then(({ EventsPage }) => EventsPage)),
});

const alerts = createRoute({
  getParentRoute,
  path: '/alerts',
  validateSearch: knownSearch(parseAlertSearch),
  component: guarded('alerts', () => import('./pages/alerts/alerts-page').then(({ AlertsPage }) => AlertsPage)),
});

const alert = createRoute({
  getParentRoute,
  path: '/alerts/$id',
  component: guarded('alerts', () => import('./pages/alerts/alert-page').then(({ AlertPage }) => AlertPage)),
});

const measurements = createRoute({
  getParentRoute,
  path: '/measurements',
  validateSearch: knownSearch(parseMeasurementSearch),
  component: guarded('measurements', () =>
    import('./pages/measurements/measurements-page').then(({ MeasurementsPage }) => MeasurementsPage),
  ),
});

const audit = createRoute({
  getParentRoute,
  path: '/audit',
  validateSearch: knownSearch(parseAuditSearch),
  component: guarded('audit', () => import('./pages/audit/audit-page').then(({ AuditPage }) => AuditPage)),
});

const access = createRoute({
  getParentRoute,
  path: '/access',
  component: guarded('access', () => import('./pages/access/access-page').then(({ AccessPage }) => AccessPage)),
});

/** A person of any role decides about an agent. */
const connect = createRoute({
  getParentRoute,
  path: '/oauth/consent/$uid',
  component: unguarded(() => import('./pages/connect/connect-page').then(({ ConnectPage }) => ConnectPage)),
});

const webhooks = createRoute({
  getParentRoute,
  path: '/webhooks',
  component: guarded('webhooks', () =>
    import('./pages/webhooks/webhooks-page').then(({ WebhooksPage }) => WebhooksPage),
  ),
});

const settings = createRoute({
  getParentRoute,
  path: '/settings',
  component: guarded('settings', () =>
    import('./pages/settings/settings-page').then(({ SettingsPage }) => SettingsPage),
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    overview,
    devices,
    device,
    jobs,
    newJob,
    job,
    recurring,
    desired,
    newDesired,
    oneDesired,
    editDesired,
    firmware,
    measurements,
    enrolments,
    calls,
    alerts,
    alert,
    events,
    explore,
    audit,
    access,
    connect,
    webhooks,
    settings,
  ]),
  defaultErrorComponent: PageFailure,
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
