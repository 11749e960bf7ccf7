import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi } from './mounted-api.suite.js';
import type { OpenApi } from './mounted-api.suite.js';

let api: OpenApi;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

const ERRORS = 'userErrors { code path }';
const create = (input: unknown) =>
  api.ask(
    `mutation ($input: WebhookInput!) { createWebhook(input: $input) {
      secret webhook { id url types enabled pausedAt } ${ERRORS} } }`,
    { input },
  );

describe('webhooks over GraphQL', () => {
  it('are created with a secret that is shown once, changed, listed with deliveries, and deleted', async () => {
    const input = { url: 'https://203.0.114.9/hook', types: ['device.*'] };
    const made = (await create(input)).data as { createWebhook: { secret: string; webhook: { id: string } } };
    expect(made.createWebhook).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      webhook: { ...input, enabled: true, pausedAt: null },
    });
    const { id } = made.createWebhook.webhook;
    const change = `mutation ($id: ID!) { updateWebhook(id: $id, input: { url: "https://203.0.114.9/other", types: ["*"], enabled: false }) { webhook { url enabled } ${ERRORS} } }`;
    expect((await api.ask(change, { id })).data).toEqual({
      updateWebhook: { webhook: { url: 'https://203.0.114.9/other', enabled: false }, userErrors: [] },
    });
    const listed = await api.ask('{ webhooks { id types deliveries { id } } }');
    expect(listed.data).toEqual({ webhooks: [{ id, types: ['*'], deliveries: [] }] });
    expect(JSON.stringify(listed)).not.toContain(made.createWebhook.secret);
    const remove = `mutation ($id: ID!) { deleteWebhook(id: $id) { webhookId ${ERRORS} } }`;
    expect((await api.ask(remove, { id })).data).toEqual({ deleteWebhook: { webhookId: id, userErrors: [] } });
    expect((await api.ask(remove, { id })).data).toEqual({
      deleteWebhook: { webhookId: null, userErrors: [{ code: 'NOT_FOUND', path: ['id'] }] },
    });
    const { rows } = await api.registry.audit.page({ subject: `webhook:${id}` }, { first: 9 });
    expect(rows.map(({ action }) => action)).toEqual(['webhook.deleted', 'webhook.updated', 'webhook.created']);
    expect(JSON.stringify(rows)).not.toContain(made.createWebhook.secret);
  });

  it('report invalid input', async () => {
    expect((await create({ url: 'http://10.0.0.1/', types: ['*'] })).data).toMatchObject({
      createWebhook: { secret: null, webhook: null, userErrors: [{ code: 'URL_FORBIDDEN', path: ['input', 'url'] }] },
    });
    expect((await api.ask(`mutation { redeliverWebhook(deliveryId: "x") { ${ERRORS} } }`)).data).toMatchObject({
      redeliverWebhook: { userErrors: [{ code: 'NOT_FOUND' }] },
    });
  });

  it("are an admin's alone", async () => {
    const scopes = [
      'DEVICES_READ',
      'DEVICES_WRITE',
      'EVENTS_READ',
      'JOBS_WRITE',
      'TOOLS_CALL_PRIVILEGED',
      'FIRMWARE_WRITE',
    ] as const;
    for (const query of ['{ webhooks { id } }', 'mutation { deleteWebhook(id: "x") { webhookId } }'])
      expect((await api.ask(query, undefined, [...scopes])).codes).toEqual(['FORBIDDEN']);
  });
});
