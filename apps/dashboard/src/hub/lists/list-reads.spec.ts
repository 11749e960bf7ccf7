import { describe, expect, it } from 'vitest';
import { ListReads, type ListState, nothingRead } from './list-reads';
import type { Page, PageAnswer } from './load-pages';

type Answer = PageAnswer<string, string>;

/** A hub that answers when the spec says so: a page has two of the rows that it has then. */
function heldHub(rows: readonly string[]) {
  const hub = { rows, asked: [] as (string | null)[], isAway: false };
  let answers: (() => void)[] = [];
  const ask = (after: string | null) => {
    hub.asked.push(after);
    const answerNow = (): Answer => (hub.isAway ? { failure: 'away' } : { page: pageAfter(hub.rows, after) });
    return new Promise<Answer>((resolve) => answers.push(() => resolve(answerNow())));
  };
  /** Answers what was asked so far, and waits until the list has used it. */
  const answer = async () => {
    const due = answers;
    answers = [];
    due.forEach((resolve) => resolve());
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { hub, ask, answer };
}

function pageAfter(rows: readonly string[], after: string | null): Page<string> {
  const from = Number(after ?? 0);
  const to = Math.min(from + 2, rows.length);
  return { rows: rows.slice(from, to), endCursor: String(to), hasNextPage: to < rows.length };
}

/** A list whose first page is there. */
async function listOf(rows: readonly string[]) {
  const held = heldHub(rows);
  const shown = { state: nothingRead as ListState<string, string> };
  const list = new ListReads<string, string>((state) => (shown.state = state));
  list.begin(held.ask, 0);
  await held.answer();
  expect(shown.state.page.rows).toEqual(rows.slice(0, 2));
  return { ...held, list, shown };
}

describe('a further page of a list', () => {
  it('arrives also where news comes while it is on its way; then all shown rows are read again', async () => {
    const { hub, answer, list, shown } = await listOf(['a', 'b', 'c', 'd', 'e']);
    list.readAfter('2');
    list.refresh();
    list.refresh();
    await answer();
    expect(shown.state.page.rows).toEqual(['a', 'b', 'c', 'd']);
    hub.rows = ['A', 'B', 'C', 'D', 'E'];
    await answer();
    await answer();
    expect(shown.state).toMatchObject({ page: { rows: ['A', 'B', 'C', 'D'] }, isLoading: false });
    expect(hub.asked).toEqual([null, '2', null, '2']);
  });

  it('that is asked for during a refresh is read once, after the rows that this brought', async () => {
    const { hub, answer, list, shown } = await listOf(['a', 'b', 'c', 'd', 'e']);
    list.refresh();
    list.refresh();
    list.readAfter('2');
    list.readAfter('2');
    await answer();
    expect(hub.asked).toEqual([null, null, null]);
    hub.rows = ['A', 'B', 'C', 'D', 'E'];
    await answer();
    expect(hub.asked).toEqual([null, null, null, '2']);
    // The table asks again for the page that is on its way.
    list.readAfter('2');
    await answer();
    expect(shown.state).toMatchObject({ page: { rows: ['A', 'B', 'C', 'D'] }, isLoading: false });
    list.refresh();
    await answer();
    await answer();
    expect(hub.asked).toEqual([null, null, null, '2', null, '2']);
  });

  it('does not hide that the rows before it could not be read again', async () => {
    const { hub, answer, list, shown } = await listOf(['a', 'b', 'c', 'd', 'e']);
    list.refresh();
    list.readAfter('2');
    hub.isAway = true;
    await answer();
    hub.isAway = false;
    await answer();
    expect(shown.state).toMatchObject({ page: { rows: ['a', 'b', 'c', 'd'] }, failure: 'away' });
    list.refresh();
    await answer();
    await answer();
    expect(shown.state.failure).toBeUndefined();
    hub.isAway = true;
    list.readAfter('4');
    await answer();
    expect(shown.state.failure).toBe('away');
    hub.isAway = false;
    list.readAfter('4');
    await answer();
    expect(shown.state).toMatchObject({ page: { rows: ['a', 'b', 'c', 'd', 'e'] }, failure: undefined });
  });

  it('that rows of the former filter asked for is not read', async () => {
    const { list, shown } = await listOf(['a', 'b', 'c', 'd']);
    const other = heldHub(['x', 'y', 'z']);
    list.begin(other.ask, 0);
    list.readAfter('2');
    await other.answer();
    expect(shown.state).toMatchObject({ page: { rows: ['x', 'y'] }, isLoading: false });
    expect(other.hub.asked).toEqual([null]);
  });

  it('is not followed by a look at an interval that was due meanwhile', async () => {
    const { hub, answer, list, shown } = await listOf(['a', 'b', 'c']);
    list.readAfter('2');
    list.look();
    await answer();
    expect(shown.state).toMatchObject({ page: { rows: ['a', 'b', 'c'] }, isLoading: false });
    expect(hub.asked).toEqual([null, '2']);
    list.look();
    expect(hub.asked).toEqual([null, '2', null]);
  });

  it('of another filter has no effect, and that filter begins with its first page at once', async () => {
    const { answer, list, shown } = await listOf(['a', 'b', 'c', 'd']);
    list.readAfter('2');
    list.refresh();
    const other = heldHub(['x', 'y', 'z']);
    list.begin(other.ask, 0);
    await answer();
    expect(shown.state).toMatchObject({ page: { rows: ['a', 'b'] }, isLoading: true });
    await other.answer();
    expect(shown.state).toMatchObject({ page: { rows: ['x', 'y'] }, isLoading: false });
    expect(other.hub.asked).toEqual([null]);
  });
});

describe('a change of shown rows', () => {
  it('that came during a read is in its answer, which the hub may have read before', async () => {
    const { answer, list, shown } = await listOf(['a', 'b']);
    list.refresh();
    list.patch({ change: (rows) => rows.filter((row) => row !== 'a'), rowsMax: Infinity });
    expect(shown.state.page.rows).toEqual(['b']);
    await answer();
    expect(shown.state.page.rows).toEqual(['b']);
  });
});
