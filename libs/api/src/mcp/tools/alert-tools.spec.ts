/** What the acknowledgement of an alert shows to callers with few scopes. */
import { expect, it } from 'vitest';
import type { AgentCaller } from '../session/agent-caller.js';
import { runAlertTool } from './alert-tools.js';

const facts = { kind: 'DEVICE_OFFLINE', rule: 'Shops offline', devices: ['lamp-1'] };
const alert = { id: 'alert', severity: 'WARNING', facts, firedAt: 0, deviceId: 'lamp-1', deviceCount: 1 };
const alerts = { acknowledge: async () => ({ alert }) as never, messages: { language: 'en' } as never };

const acknowledge = async (...scopes: readonly string[]) => {
  const caller = { viewer: { kind: 'KEY', id: 'key', name: 'key', scopes }, view: {} } as unknown as AgentCaller;
  const deps = { alerts, registry: {} as never };
  return (await runAlertTool(deps, caller, 'acknowledge_alert', { alert: 'alert' })).structuredContent;
};

it('shows the alert only to a caller who may read alerts', async () => {
  const shown = await acknowledge('DEVICES_WRITE', 'EVENTS_READ');
  expect(shown).toMatchObject({ acknowledged: 'alert', alert: { id: 'alert', device: 'lamp-1' } });
  const hidden = await acknowledge('DEVICES_WRITE');
  expect(hidden).toMatchObject({ acknowledged: 'alert' });
  expect(JSON.stringify(hidden)).not.toContain('lamp-1');
});
