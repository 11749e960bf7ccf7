/** A server that receives webhook deliveries and accepts them. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ask } from '../api/graphql-client.js';
import { eventually } from '../eventually.js';
import type { HubProcess } from './hub-process.js';

export class WebhookReceiver {
  readonly #server = createServer(
    (request, response) => void request.resume().on('end', () => response.writeHead(204).end()),
  );

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  close(): void {
    this.#server.close();
  }
}

/** The id of the first event that the webhook received. */
export async function firstDelivery(hub: HubProcess): Promise<() => string> {
  await ask(
    hub,
    `mutation { registerDevice(input: { deviceId: "02:00:00:00:aa:03", dialect: XIAOZHI }) { userErrors { code } } }`,
  );
  const [delivery] = await eventually(
    async () =>
      (
        await ask<{ webhooks: { deliveries: { id: string; delivered: boolean }[] }[] }>(
          hub,
          '{ webhooks { deliveries { id delivered } } }',
        )
      ).webhooks.flatMap(({ deliveries }) => deliveries.filter(({ delivered }) => delivered)),
    (deliveries) => deliveries.length > 0,
  );
  return () => delivery?.id ?? '';
}
