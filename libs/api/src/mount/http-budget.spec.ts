import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminKey, openApi, type OpenApi } from './mounted-api.suite.js';

const costPerSecondMax = 100;
const query = '{ devices(first: 40) { nodes { id } } }';

const unknownKey = { authorization: 'Bearer unknown' };

let api: OpenApi;

beforeAll(async () => {
  api = await openApi({}, { costPerSecondMax });
});
afterAll(() => api.close());

async function ask() {
  const response = await fetch(`${api.httpUrl}/graphql?query=${encodeURIComponent(query)}`, {
    headers: { authorization: `Bearer ${adminKey}` },
  });
  const { headers, status } = response;
  const budgetHeaders = ['ratelimit-limit', 'ratelimit-remaining', 'retry-after'].map((name) => headers.get(name));
  return { status, budgetHeaders, answer: (await response.json()) as unknown };
}

describe('the budget of a caller over HTTP', () => {
  it('is in the headers and extensions of an answer and of a refusal', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(ask));
    const answered = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status === 429);
    expect([answered.length > 0, refused.length > 0, answered.length + refused.length]).toEqual([true, true, 4]);
    for (const { budgetHeaders, answer } of answered) {
      expect(budgetHeaders).toEqual(['100', expect.any(String), null]);
      expect(answer).toMatchObject({ extensions: { budget: { limit: 100 } } });
    }
    for (const { budgetHeaders, answer } of refused) {
      expect(budgetHeaders).toEqual(['100', '0', '1']);
      expect(answer).toMatchObject({
        errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }],
        extensions: { budget: { limit: 100, remaining: 0 } },
      });
    }
  });

  it('is not in the refusal of unknown keys after too many of them, as the console expects', async () => {
    const guess = () => fetch(`${api.httpUrl}/graphql?query=${encodeURIComponent(query)}`, { headers: unknownKey });
    const guesses = await Promise.all(Array.from({ length: 301 }, guess));
    const refused = guesses.find(({ status }) => status === 429);
    expect(refused?.headers.get('retry-after')).toEqual(expect.any(String));
    const answer = (await refused?.json()) as { readonly extensions?: { readonly budget?: unknown } } | undefined;
    expect(answer).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }],
    });
    expect(answer?.extensions?.budget).toBeUndefined();
  });
});
