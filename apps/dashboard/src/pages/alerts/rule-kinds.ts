/** What the kinds of alert rules are about. */
import type { AlertKind } from './generated/alerts';

/** Their threshold is a share from 0 to 1. */
export const shareKinds: ReadonlySet<AlertKind> = new Set(['FLEET_OFFLINE_SHARE', 'CALL_FAILURE_RATIO']);
/** They are about the hub. */
export const kindsWithoutDevices: ReadonlySet<AlertKind> = new Set(['WEBHOOK_FAILING', 'HUB_UNHEALTHY']);

/** In the field of the form: a share in percent, without the digits that binary fractions add. */
export function shownThreshold(kind: AlertKind, threshold: number | undefined): number | undefined {
  return threshold === undefined || !shareKinds.has(kind) ? threshold : Number((threshold * 100).toPrecision(12));
}

/** The threshold of what is typed in that field. */
export function typedThreshold(kind: AlertKind, typed: number | undefined): number | undefined {
  return typed === undefined || !shareKinds.has(kind) ? typed : typed / 100;
}

/** As people read it: a share in percent. */
export function thresholdText(kind: AlertKind, threshold: number, language: string): string {
  const style = shareKinds.has(kind) ? 'percent' : 'decimal';
  return new Intl.NumberFormat(language, { style, maximumFractionDigits: style === 'percent' ? 2 : 6 }).format(
    threshold,
  );
}
