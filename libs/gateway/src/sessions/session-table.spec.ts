import type { CloseReason, DeviceId } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { SessionTable } from './session-table.js';

const deviceId = '02:5e:7a:10:c4:9f' as DeviceId;

function entry() {
  const closes: CloseReason[] = [];
  return { deviceId, closes, close: (reason: CloseReason) => void closes.push(reason) };
}

function tableAt(time: { now: number }) {
  return new SessionTable<ReturnType<typeof entry>>({ now: () => time.now });
}

describe('SessionTable', () => {
  it('closes the session that a newer connection replaces', () => {
    const table = tableAt({ now: 0 });
    const older = entry();
    table.put(older);
    expect(table.evict(deviceId)).toBe('takeover');
    expect(older.closes).toEqual(['taken_over']);
  });

  it('keeps the newer session when the older one ends late', () => {
    const table = tableAt({ now: 0 });
    const [older, newer] = [entry(), entry()];
    table.put(older);
    table.evict(deviceId);
    table.put(newer);
    table.remove(older);
    expect(table.get(deviceId)).toBe(newer);
    table.remove(newer);
    expect(table.get(deviceId)).toBeUndefined();
  });

  it('distinguishes two devices that share an id from one that reconnects now and then', () => {
    const time = { now: 0 };
    const table = tableAt(time);
    const takeOverAt = (now: number) => {
      time.now = now;
      const kind = table.evict(deviceId);
      table.put(entry());
      return kind;
    };
    expect(takeOverAt(0)).toBe('none');
    expect(takeOverAt(10_000)).toBe('takeover');
    expect(takeOverAt(20_000)).toBe('flapping');
    expect(takeOverAt(120_000)).toBe('takeover');
  });
});
