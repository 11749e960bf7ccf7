/** What the kinds of alert rules are about. */
import type { AlertKind } from './generated/alerts';

/** Their threshold is a share from 0 to 1. */
export const shareKinds: ReadonlySet<AlertKind> = new Set(['FLEET_OFFLINE_SHARE', 'CALL_FAILURE_RATIO']);
/** They are about the hub. */
export const kindsWithoutDevices: ReadonlySet<AlertKind> = new Set(['WEBHOOK_FAILING', 'HUB_UNHEALTHY']);

/** As people read it: a share in percent. */
export function thresholdText(kind: AlertKind, threshold: number, language: string): string {
  const style = shareKinds.has(kind) ? 'percent' : 'decimal';
  return new Intl.NumberFormat(language, { style, maximumFractionDigits: style === 'percent' ? 2 : 6 }).format(
    threshold,
  );
}
