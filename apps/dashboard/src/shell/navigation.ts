/**
 * The pages with address, icon and required scope. The navigation shows those that the viewer may
 * see.
 */
import {
  type Icon,
  IconActivity,
  IconAdjustmentsCheck,
  IconApi,
  IconBell,
  IconCalendarRepeat,
  IconChartLine,
  IconCpu,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconListCheck,
  IconPackage,
  IconSettings,
  IconTool,
  IconUserPlus,
  IconWebhook,
} from '@tabler/icons-react';
import { hasScope, type Rights } from '../hub/rights';
import type { Scope } from '../hub/session';

interface NavigationEntry {
  /** Its name is the string `nav.<name>`, which is the heading of the page, too. */
  readonly name: PageName;
  readonly to: string;
  readonly icon: Icon;
  readonly scope: Scope;
}

export type PageName =
  | 'overview'
  | 'devices'
  | 'jobs'
  | 'recurring'
  | 'desired'
  | 'firmware'
  | 'measurements'
  | 'enrolments'
  | 'calls'
  | 'alerts'
  | 'events'
  | 'explore'
  | 'audit'
  | 'access'
  | 'webhooks'
  | 'settings';

export const navigation: readonly NavigationEntry[] = [
  { name: 'overview', to: '/', icon: IconLayoutDashboard, scope: 'DEVICES_READ' },
  { name: 'devices', to: '/devices', icon: IconCpu, scope: 'DEVICES_READ' },
  { name: 'jobs', to: '/jobs', icon: IconListCheck, scope: 'JOBS_READ' },
  { name: 'recurring', to: '/recurring', icon: IconCalendarRepeat, scope: 'JOBS_READ' },
  { name: 'desired', to: '/desired', icon: IconAdjustmentsCheck, scope: 'JOBS_READ' },
  { name: 'firmware', to: '/firmware', icon: IconPackage, scope: 'DEVICES_READ' },
  { name: 'measurements', to: '/measurements', icon: IconChartLine, scope: 'DEVICES_READ' },
  { name: 'enrolments', to: '/enrolments', icon: IconUserPlus, scope: 'DEVICES_READ' },
  { name: 'alerts', to: '/alerts', icon: IconBell, scope: 'EVENTS_READ' },
  { name: 'calls', to: '/calls', icon: IconTool, scope: 'DEVICES_READ' },
  { name: 'events', to: '/events', icon: IconActivity, scope: 'EVENTS_READ' },
  { name: 'audit', to: '/audit', icon: IconHistory, scope: 'ADMIN' },
  { name: 'access', to: '/access', icon: IconKey, scope: 'ADMIN' },
  { name: 'webhooks', to: '/webhooks', icon: IconWebhook, scope: 'ADMIN' },
  { name: 'explore', to: '/explore', icon: IconApi, scope: 'DEVICES_READ' },
  { name: 'settings', to: '/settings', icon: IconSettings, scope: 'DEVICES_READ' },
];

/** The pages that the viewer may open. */
export function navigationFor(viewer: Rights): readonly NavigationEntry[] {
  return navigation.filter(({ scope }) => hasScope(viewer, scope));
}
