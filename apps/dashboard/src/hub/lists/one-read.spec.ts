import { Client, type Exchange, gql } from 'urql';
import { describe, expect, it } from 'vitest';
import { delay, filter, map, pipe, tap } from 'wonka';
import { OneRead } from './one-read';

const document = gql`
  {
    state
  }
`;

/** A client of a hub that takes a while: an answer has the state at its request. */
function slowClient(hub: { state: string; requests: number }) {
  const exchange: Exchange = () => (operations) =>
    pipe(
      operations,
      filter(({ kind }) => kind === 'query'),
      tap(() => hub.requests++),
      map((operation) => ({ operation, data: { state: hub.state }, stale: false, hasNext: false })),
      delay(20),
    );
  return new Client({ url: '/', preferGetMethod: false, exchanges: [exchange] });
}

/** Changes the state while the first read is on its way, and asks again `times` times. */
async function changed(times: number) {
  const hub = { state: 'firing', requests: 0 };
  const client = slowClient(hub);
  const seen: string[] = [];
  const reads = new OneRead<undefined>(async () => {
    const { data } = await client.query<{ state: string }>(document, {}, { requestPolicy: 'network-only' }).toPromise();
    seen.push(data?.state ?? '');
  });
  reads.ask(undefined);
  hub.state = 'resolved';
  for (let time = 0; time < times; time++) reads.ask(undefined);
  return { hub, reads, seen };
}

describe('a read that is asked for while another is on its way', () => {
  it('comes after it, and has what was new', async () => {
    const { seen } = await changed(1);
    await expect.poll(() => seen).toEqual(['firing', 'resolved']);
  });

  it('is one read, however often it is asked for', async () => {
    const { hub, seen } = await changed(5);
    await expect.poll(() => seen).toEqual(['firing', 'resolved']);
    expect(hub.requests).toBe(2);
  });

  it('does not begin where the list has another filter meanwhile', async () => {
    const { hub, reads, seen } = await changed(1);
    reads.stop();
    await expect.poll(() => seen).toEqual(['firing']);
    expect(hub.requests).toBe(1);
  });

  it('is read also where the one before it throws', async () => {
    const seen: number[] = [];
    const reads = new OneRead(async (wanted: number) => {
      await Promise.resolve();
      seen.push(wanted);
      if (wanted === 1) throw new Error('no');
    });
    reads.ask(1);
    reads.ask(2);
    await expect.poll(() => seen).toEqual([1, 2]);
    reads.ask(3);
    await expect.poll(() => seen).toEqual([1, 2, 3]);
  });
});
