import { describe, expect, it } from 'vitest';
import { connect } from './connected-session.suite.js';

describe('a tapped session', () => {
  it('reports each message in both directions from then on, until the tap ends', () => {
    const { session, pump } = connect();
    session.start();
    pump();
    const seen: string[] = [];
    session.tap((direction, text) => seen.push(`${direction} ${String(/"method":"([^"]+)"/.exec(text)?.[1])}`));
    session.refreshTools();
    pump();
    expect(seen).toEqual(['SENT tools/list', 'RECEIVED undefined']);
    session.tap(undefined);
    session.refreshTools();
    pump();
    expect(seen).toHaveLength(2);
    expect(session.state).toBe('ready');
  });

  it('reports nothing that was not sent', () => {
    const { session, pump } = connect();
    session.start();
    pump();
    const seen: string[] = [];
    session.tap((direction) => seen.push(direction));
    session.close('hub_closed');
    pump();
    expect(session.sendMessage({ type: 'alert' })).toBe(false);
    expect(seen).toEqual([]);
  });
});
