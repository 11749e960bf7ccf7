import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MessageSeal } from './message-seal.js';
import { RedisLink } from './redis-link.js';
import { RedisServers } from './redis-servers.js';
import { isRedisInstalled, RedisServer } from './redis-server.suite.js';

const silent = { warn: () => undefined, error: () => undefined };

/**
 * A proxy to Redis that breaks when the answer to the next PUBLISH returns: the message was sent,
 * but the sender does not know.
 */
class BreakingWay {
  readonly #server: Server;
  #isArmed = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<BreakingWay> {
    const server = createServer();
    const way = new BreakingWay(server);
    server.on('connection', (client) => way.#join(client, connect(port, '127.0.0.1')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return way;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  breakAtNextPublish(): void {
    this.#isArmed = true;
  }

  close(): void {
    this.#server.close();
  }

  #join(client: Socket, redis: Socket): void {
    let isPublished = false;
    client.on('data', (chunk) => {
      isPublished ||= this.#isArmed && chunk.toString().includes('publish');
      redis.write(chunk);
    });
    redis.on('data', (chunk) => {
      if (!isPublished) return void client.write(chunk);
      this.#isArmed = false;
      client.destroy();
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  }
}

describe.skipIf(!isRedisInstalled())('the link to Redis', () => {
  let server: RedisServer | undefined;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server?.stop());

  it('never repeats a message whose answer was lost with the connection: it may have been a call', async () => {
    const url = server?.url ?? '';
    const way = await BreakingWay.to(Number(new URL(url).port));
    const link = new RedisLink(new RedisServers({ url: way.url }), new MessageSeal('of the hub', 'here'), silent);
    await link.open();
    const heard: string[] = [];
    const ear = new Redis(url);
    ear.on('message', (_channel, message) => heard.push(message.slice(message.lastIndexOf('.') + 1)));
    await ear.subscribe('calls');
    way.breakAtNextPublish();
    await expect(link.publish('calls', 'once')).rejects.toThrow();
    await expect.poll(() => link.isReady, { timeout: 10_000 }).toBe(true);
    await link.publish('calls', 'after');
    await expect.poll(() => heard.at(-1)).toBe('after');
    expect(heard).toEqual(['once', 'after']);
    link.close();
    way.close();
    await ear.quit();
  });
});
