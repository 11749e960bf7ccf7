/** What the page of alerts shows, as its address carries it. */
export const alertViews = ['firing', 'acknowledged', 'history', 'rules', 'channels'] as const;
export type AlertView = (typeof alertViews)[number];

interface AlertSearch {
  readonly view?: AlertView;
}

export function parseAlertSearch({ view }: Readonly<Record<string, unknown>>): AlertSearch {
  const known = alertViews.find((name) => name === view);
  return known === undefined ? {} : { view: known };
}
