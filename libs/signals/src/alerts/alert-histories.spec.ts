/** Random histories of one rule with crashes, in a model of the hub. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANNEL_PACE_MS } from './decide-sending.js';
import { devices, ModelHub } from './model-hub.suite.js';
import type { Receipt } from './model-hub.suite.js';

type Step =
  | { readonly kind: 'drop'; readonly device: string }
  | { readonly kind: 'back'; readonly device: string }
  | { readonly kind: 'wait' | 'outage'; readonly rounds: number }
  | { readonly kind: 'crash'; readonly after: 'never' | 'claim' | 'send'; readonly downRounds: number };

const device = fc.constantFrom(...devices);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('drop' as const), device }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('back' as const), device }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), rounds: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('outage' as const), rounds: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      after: fc.constantFrom('never' as const, 'claim' as const, 'send' as const),
      downRounds: fc.integer({ min: 1, max: 40 }),
    }),
  },
);

function play(hub: ModelHub, steps: readonly Step[]): void {
  for (const each of steps) {
    if (each.kind === 'drop') hub.drop(each.device);
    else if (each.kind === 'back') hub.back(each.device);
    else if (each.kind === 'crash') {
      const wereOnline = devices.filter((id) => !hub.offline.has(id));
      hub.round(each.after);
      if (hub.isUp) hub.crash();
      for (let left = each.downRounds; left > 0; left -= 1) hub.round();
      hub.restart(wereOnline);
    } else {
      hub.isAccepting = each.kind === 'wait';
      for (let left = each.rounds; left > 0; left -= 1) hub.round();
    }
  }
}

/** Until everything that is due has happened. */
function settle(hub: ModelHub): void {
  hub.isAccepting = true;
  for (let left = 100; left > 0; left -= 1) hub.round();
}

const runs = { numRuns: 400, seed: 20 };

describe('over random histories with crashes', () => {
  it('no alert is lost: each device that stays offline has a firing alert, and each alert was sent', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const hub = new ModelHub();
        play(hub, steps);
        settle(hub);
        for (const id of hub.offline.keys()) {
          const alert = hub.alerts.get(hub.conditions.get(id)?.alertId ?? '');
          expect(alert).toMatchObject({ isResolved: false });
          expect(alert?.devices.has(id)).toBe(true);
        }
        const heard = new Set(hub.receipts.flatMap(({ alertIds }) => alertIds));
        expect([...hub.alerts.keys()].filter((id) => !heard.has(id))).toEqual([]);
        expect(hub.outbox.filter(({ deliveredAt }) => deliveredAt === undefined)).toEqual([]);
      }),
      runs,
    );
  });

  it('none is sent twice under two message ids, and "resolved" comes once, after its firing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const hub = new ModelHub();
        play(hub, steps);
        settle(hub);
        const messages = new Map<string, Receipt>();
        for (const receipt of hub.receipts) {
          const { alertIds, kind } = messages.get(receipt.messageId) ?? receipt;
          expect({ alertIds, kind }).toEqual({ alertIds: receipt.alertIds, kind: receipt.kind });
          if (!messages.has(receipt.messageId)) messages.set(receipt.messageId, receipt);
        }
        for (const id of hub.alerts.keys()) {
          const about = [...messages.values()].filter(({ alertIds }) => alertIds.includes(id));
          expect(about.map(({ kind }) => kind)).toEqual(
            hub.alerts.get(id)?.isResolved === true ? ['FIRED', 'RESOLVED'] : ['FIRED'],
          );
        }
      }),
      runs,
    );
  });

  it('a restart of the hub fires nothing for devices that return within the grace time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.array(device, { maxLength: 3 }), (downRounds, away) => {
        const hub = new ModelHub();
        for (const id of away) hub.drop(id);
        settle(hub);
        const before = hub.alerts.size;
        play(hub, [{ kind: 'crash', after: 'never', downRounds }]);
        settle(hub);
        expect(hub.alerts.size).toBe(before);
        expect([...hub.alerts.values()].filter(({ isResolved }) => isResolved)).toEqual([]);
      }),
      runs,
    );
  });

  it('messages of one channel are at least two seconds apart unless a crash came between', () => {
    fc.assert(
      fc.property(
        fc.array(
          step.filter(({ kind }) => kind !== 'crash'),
          { maxLength: 60 },
        ),
        (steps) => {
          const hub = new ModelHub();
          play(hub, steps);
          settle(hub);
          const times = hub.receipts.map(({ at }) => at);
          expect(times.every((at, index) => index === 0 || at - (times[index - 1] ?? 0) >= CHANNEL_PACE_MS)).toBe(true);
        },
      ),
      runs,
    );
  });
});
