/**
 * Nest's adapter around an existing Fastify scope. It adds routes; apps/hub owns the server and its
 * errors.
 */
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
