import type { ToolPage } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { connect } from './connected-session.suite.js';
import type { SessionObserver } from './session-contract.js';

describe('pages of tools', () => {
  function cache() {
    const pages = new Map<string, ToolPage>();
    const hits: string[] = [];
    const get = (text: string) => {
      const known = pages.get(text);
      if (known !== undefined) hits.push(text);
      return known;
    };
    return {
      pages,
      hits,
      pageCache: { get, set: (text: string, known: ToolPage) => void pages.set(text, known) },
    };
  }

  it('are one object for all devices that send the same text', () => {
    const { hits, pageCache } = cache();
    const seen: ToolPage[] = [];
    const observer: Partial<SessionObserver> = { onToolsDiscovered: ({ pages }) => seen.push(...pages) };
    connect({ pageCache, observer });
    expect(hits).toEqual([]);
    connect({ pageCache, observer });
    expect(hits).toEqual(['{"tools":[{"name":"t"}]}']);
    expect(seen[1]).toBe(seen[0]);
  });

  it.each([
    ['also has an error', ',"error":{"message":"x"}', 'discovery failed'],
    ['changes its id later in the text', ',"id":5', 'unknown_reply_id'],
  ])('are not cached if the message %s', (_, tail, expected) => {
    const { pages, pageCache } = cache();
    const { session, far, pump, log } = connect({ pageCache });
    pages.clear();
    far.onmessage = (text) => {
      const { id } = JSON.parse(text).payload;
      far.send(`{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},"result":{"tools":[]}${tail}}}`);
    };
    session.refreshTools();
    pump();
    expect(pages.size).toBe(0);
    expect(log.at(-1)).toContain(expected);
  });
});
