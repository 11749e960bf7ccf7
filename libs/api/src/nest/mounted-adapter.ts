/** Nest's adapter around a Fastify scope that is not Nest's: it adds routes and leaves the server, its errors and its life to apps/hub. */
import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';

export class MountedAdapter extends FastifyAdapter {
  /** No Express-style middleware. */
  override init(): Promise<void> {
    return Promise.resolve();
  }

  override registerParserMiddleware(): void {}

  override setNotFoundHandler(): FastifyInstance {
    return this.getInstance();
  }

  override setErrorHandler(): FastifyInstance {
    return this.getInstance();
  }

  /** The server goes on: only what Nest made ends. */
  override close(): Promise<void> {
    return Promise.resolve();
  }
}
