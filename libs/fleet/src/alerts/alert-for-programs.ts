/** An alert as webhooks carry it. */
import { summaryOf } from '@flotilla/signals';
import type { AlertRow } from '@flotilla/registry';
import type { MessageSettings } from './notification-deliveries.js';

export function alertForPrograms(alert: AlertRow, messages: MessageSettings): Readonly<Record<string, unknown>> {
  const { id, ruleId, severity, deviceId, deviceCount, facts, firedAt, resolvedAt } = alert;
  return {
    id,
    ruleId,
    rule: facts.ruleName,
    kind: facts.kind,
    severity,
    state: resolvedAt === undefined ? 'FIRING' : 'RESOLVED',
    deviceId: deviceId ?? null,
    deviceCount,
    summary: summaryOf(alert, messages),
    firedAt: new Date(firedAt).toISOString(),
    resolvedAt: resolvedAt === undefined ? null : new Date(resolvedAt).toISOString(),
    url: messages.consoleUrl === undefined ? null : `${messages.consoleUrl}/alerts/${id}`,
  };
}
