/** The page of the console that shows what an audit entry is about. */
import type { LinkProps } from '@tanstack/react-router';

type PageLink = Pick<LinkProps, 'to' | 'params'>;

/** Of a subject such as `device:<id>`; undefined if it has no page. Ids may have colons. */
export function subjectPage(subject: string): PageLink | undefined {
  const at = subject.indexOf(':');
  if (at < 0) return undefined;
  const params = { id: subject.slice(at + 1) };
  switch (subject.slice(0, at)) {
    case 'device':
      return { to: '/devices/$id', params };
    case 'job':
      return { to: '/jobs/$id', params };
    case 'desired-state':
      return { to: '/desired/$id', params };
    case 'recurring-job':
      return { to: '/recurring' };
    case 'firmware':
      return { to: '/firmware' };
    default:
      return undefined;
  }
}
