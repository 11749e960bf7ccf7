import { describe, expect, it } from 'vitest';
import type { Principal } from '@flotilla/registry';
import { budgetHeaders, CostBudget } from './cost-budget.js';

const viewer = (id: string, kind: Principal['kind'] = 'KEY'): Principal => ({ kind, id, name: id, scopes: [] });

describe('CostBudget', () => {
  it('counts down, and refuses with the time to wait', async () => {
    const budget = new CostBudget(100);
    expect(await budget.spend(viewer('a'), 60)).toMatchObject({ cost: 60, limit: 100, remaining: 40 });
    await expect(budget.spend(viewer('a'), 41)).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      state: { remaining: 0, resetMs: expect.any(Number) },
    });
  });

  it('is separate for each key and each person', async () => {
    const budget = new CostBudget(10);
    await budget.spend(viewer('a'), 10);
    expect(await budget.spend(viewer('b'), 10)).toMatchObject({ remaining: 0 });
    expect(await budget.spend(viewer('a', 'USER'), 10)).toMatchObject({ remaining: 0 });
  });
});

describe('budgetHeaders', () => {
  it('are in whole seconds, rounded up, with Retry-After only for an empty budget', () => {
    const state = { cost: 1, limit: 10, remaining: 9, resetMs: 1 };
    expect(budgetHeaders(state)).toEqual({
      'ratelimit-limit': '10',
      'ratelimit-remaining': '9',
      'ratelimit-reset': '1',
    });
    expect(budgetHeaders(state, true)).toMatchObject({ 'retry-after': '1' });
  });
});
