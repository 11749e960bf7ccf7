import { describe, expect, it } from 'vitest';
import { boardsOfDump, macOf } from './boards-of-dump.js';
import type { Dump } from './read-dump.js';
import { isTimeZone, zonedTime } from './zoned-time.js';

const device = (change: Partial<Dump['ai_device'][number]>): Dump['ai_device'][number] => ({
  id: '02:00:00:00:00:01',
  mac_address: '02:00:00:00:00:01',
  user_id: '7',
  agent_id: 'a1',
  alias: null,
  board: 'lichuang-dev',
  app_version: '2.4.2',
  last_connected_at: '2026-03-14 15:09:26',
  ...change,
});
const dumpOf = (...devices: Dump['ai_device'][number][]): Dump => ({
  ai_device: devices,
  ai_agent: [{ id: 'a1', user_id: '7', agent_name: '客厅 助手' }],
  sys_user: [
    { id: '7', username: '13800000000', status: '1' },
    { id: '8', username: 'former', status: '0' },
  ],
});
const shanghai = { timeZone: 'Asia/Shanghai' };

describe('the boards of a dump', () => {
  it('have their alias as name, and tags of their agent and user', () => {
    expect(boardsOfDump(dumpOf(device({ alias: ' Lobby\nleft ' })), shanghai)).toEqual({
      boards: [
        {
          deviceId: '02:00:00:00:00:01',
          name: 'Lobby left',
          agent: '客厅 助手',
          user: '13800000000',
          tags: ['agent:客厅-助手', 'user:13800000000'],
          model: 'lichuang-dev',
          firmwareVersion: '2.4.2',
          lastThere: '2026-03-14T07:09:26.000Z',
        },
      ],
      problems: [],
    });
    const [board] = boardsOfDump(dumpOf(device({})), { ...shanghai, withoutUsers: true }).boards;
    expect(board).toMatchObject({ user: undefined, tags: ['agent:客厅-助手'] });
    const [tagged] = boardsOfDump(dumpOf(device({})), { ...shanghai, tags: ['xiaozhi-server'] }).boards;
    expect(tagged?.tags).toEqual(['xiaozhi-server', 'agent:客厅-助手', 'user:13800000000']);
  });

  it('have a long alias cut to what the hub allows, and no half sign at its end', () => {
    const nameOf = (alias: string) => boardsOfDump(dumpOf(device({ alias })), shanghai).boards[0]?.name;
    expect(nameOf(`${'x'.repeat(99)}🔔`)).toBe('x'.repeat(99));
    expect(nameOf(`${'x'.repeat(98)}🔔 and more`)).toBe(`${'x'.repeat(98)}🔔`);
  });

  it('are registered once for each MAC address, as the row that asked last says', () => {
    const { boards, problems } = boardsOfDump(
      dumpOf(
        device({ mac_address: '02-00-00-00-00-AA', alias: 'old', last_connected_at: '2025-01-01 00:00:00' }),
        device({ mac_address: '02:00:00:00:00:aa', alias: 'new' }),
        device({ mac_address: '02:00:00:00:00:AA', alias: 'never', last_connected_at: null }),
      ),
      shanghai,
    );
    expect(boards).toMatchObject([{ deviceId: '02:00:00:00:00:aa', name: 'new' }]);
    expect(problems).toMatchObject([{ kind: 'duplicate', board: '02:00:00:00:00:aa' }]);
  });

  it('are reported without an agent, with a disabled user, and where no board can ask with the id', () => {
    const { boards, problems } = boardsOfDump(
      dumpOf(
        device({ agent_id: 'deleted', user_id: '8' }),
        device({ id: 'manual', mac_address: 'SN-0001' }),
        device({ id: '02:00:00:00:00:03', mac_address: null }),
      ),
      shanghai,
    );
    expect(boards.map(({ deviceId }) => deviceId)).toEqual(['02:00:00:00:00:01', '02:00:00:00:00:03']);
    expect(problems.map(({ board, kind }) => `${kind} ${board}`)).toEqual([
      'cannotMove SN-0001',
      'withoutAgent 02:00:00:00:00:01',
      'disabledUser 02:00:00:00:00:01',
    ]);
  });

  it.each([
    ['02:00:00:AA:bb:cc', '02:00:00:aa:bb:cc'],
    ['02-00-00-aa-bb-cc', '02:00:00:aa:bb:cc'],
    ['020000aabbcc', '02:00:00:aa:bb:cc'],
    ['02:00-00:aa:bb:cc', undefined],
    ['02:00:00:aa:bb', undefined],
    [null, undefined],
  ])('with the address %s have the id %s', (written, id) => {
    expect(macOf(written)).toBe(id);
  });
});

describe('a time of a dump', () => {
  it.each([
    ['2026-03-14 15:09:26', 'Asia/Shanghai', '2026-03-14T07:09:26.000Z'],
    ['2026-03-14 15:09:26', 'UTC', '2026-03-14T15:09:26.000Z'],
    ['2026-03-29 01:30:00', 'Europe/Berlin', '2026-03-29T00:30:00.000Z'],
    ['2026-03-29 03:30:00', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
    ['0000-00-00 00:00:00', 'UTC', undefined],
    ['soon', 'UTC', undefined],
  ])('%s in %s is %s', (text, zone, expected) => {
    expect(zonedTime(text, zone)).toBe(expected);
  });

  it('needs a zone that exists', () => {
    expect([isTimeZone('Asia/Shanghai'), isTimeZone('Mars/Base')]).toEqual([true, false]);
  });
});
