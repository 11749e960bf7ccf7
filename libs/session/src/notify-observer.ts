/** Passes an effect of the session machine to the matching callback of the session's observer. */
import type { SessionEffect } from './machine/session-input.js';
import type { SessionObserver } from './session-contract.js';

export function notifyObserver(
  observer: SessionObserver,
  effect: Exclude<SessionEffect, { kind: 'send' | 'settle' | 'closeTransport' }>,
): void {
  switch (effect.kind) {
    case 'stateChanged':
      return observer.onStateChanged(effect.state, effect.reason);
    case 'greeted':
      return observer.onGreeted(effect.info);
    case 'toolsDiscovered':
      return observer.onToolsDiscovered(effect.discovered);
    case 'discoveryFailed':
      return observer.onDiscoveryFailed(effect.message);
    case 'notification':
      return observer.onNotification(effect.method, effect.params);
    case 'deviceMessage':
      return observer.onDeviceMessage(effect.type, effect.message);
    case 'lateOutcome':
      return observer.onLateOutcome(effect.late);
    case 'largeRequests':
      return observer.onLargeRequests(effect.areLost, effect.unanswered);
    case 'anomaly':
      return observer.onAnomaly(effect.anomaly, effect.detail);
  }
}
