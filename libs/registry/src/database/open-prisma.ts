/**
 * Opens Prisma over a pool of pg. Prisma opens its own connection for each of its transactions;
 * here `$transaction` joins a transaction that is open already, so that SQL and Prisma commit
 * together.
 */
import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapter, Transaction } from '@prisma/driver-adapter-utils';
import type pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';
import type { TransactionContext } from './transaction-context.js';

/** `joined` holds the connection of the open transaction, if there is one. */
export function openPrisma(pool: pg.Pool, joined: TransactionContext): PrismaClient {
  const factory = new PrismaPg(pool);
  const { provider, adapterName } = factory;
  return new PrismaClient({
    adapter: {
      provider,
      adapterName,
      async connect() {
        const adapter = await factory.connect();
        const startTransaction = adapter.startTransaction.bind(adapter);
        adapter.startTransaction = (isolationLevel) => {
          const connection = joined.connection;
          return connection === undefined ? startTransaction(isolationLevel) : join(adapter, connection);
        };
        return adapter;
      },
    },
  });
}

/** The adapter over one connection. Begin and end of the transaction belong to its owner. */
async function join(adapter: SqlDriverAdapter, client: pg.PoolClient): Promise<Transaction> {
  const ownerEndsIt = () => Promise.resolve();
  return Object.assign(Object.create(adapter) as SqlDriverAdapter, {
    client,
    options: { usePhantomQuery: true },
    commit: ownerEndsIt,
    rollback: ownerEndsIt,
  });
}
