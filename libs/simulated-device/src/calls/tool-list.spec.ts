/** Pages of `tools/list` by the byte. [xiaozhi §4.4] */
import { describe, expect, it } from 'vitest';
import { DeviceOnBench } from '../device-on-bench.suite.js';
import { profileNames, profiles, type ProfileName } from '../profile.js';
import type { SimulatedTool } from './tool.js';
import { toolEntry } from './tool.js';
import { ToolList } from './tool-list.js';

interface Page {
  readonly tools: { readonly name: string; readonly annotations?: unknown }[];
  readonly nextCursor?: string;
}

function parsePage(list: ToolList, cursor: string, withUserTools: boolean): Page {
  const page = list.page(cursor, withUserTools);
  if ('error' in page) throw new Error(page.error);
  return JSON.parse(page.result);
}

function walk(list: ToolList, withUserTools: boolean): Page[] {
  const pages: Page[] = [];
  let cursor: string | undefined = '';
  while (cursor !== undefined) {
    const page: Page = parsePage(list, cursor, withUserTools);
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}

/** A tool whose entry has exactly so many bytes. */
function toolOfBytes(name: string, bytes: number): SimulatedTool {
  const tool = (description: string): SimulatedTool => ({
    name,
    description,
    properties: {},
    isUserOnly: false,
    run: () => true,
  });
  return tool('x'.repeat(bytes - toolEntry(tool('')).length));
}

describe('tools/list', () => {
  it.each(profileNames)('of %s names every tool exactly once', (name: ProfileName) => {
    const { tools } = profiles[name];
    const names = walk(tools, true).flatMap((page) => page.tools.map((tool) => tool.name));
    expect(names).toEqual(tools.names);
  });

  it('of the robot has two pages, and the second begins with the tool that the cursor names', () => {
    const [first, second] = walk(profiles.robot.tools, false);
    expect(first?.tools).toHaveLength(11);
    expect(first?.nextCursor).toBe('self.battery.get_level');
    expect(second?.tools.map((tool) => tool.name)).toEqual(['self.battery.get_level', 'self.otto.get_ip']);
    expect(second).not.toHaveProperty('nextCursor');
  });

  it('never makes a page longer than 7987 bytes and its cursor', () => {
    for (const withUserTools of [false, true]) {
      for (const page of walk(profiles.robot.tools, withUserTools)) {
        expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThanOrEqual(7987 + (page.nextCursor?.length ?? 0));
      }
    }
  });

  it('passes a single tool of 7959 bytes and refuses one of 7960', () => {
    expect(new ToolList([toolOfBytes('big', 7959)]).page('', false)).toHaveProperty('result');
    expect(new ToolList([toolOfBytes('big', 7960)]).page('', false)).toEqual({
      error: 'Failed to add tool big because of payload size limit',
    });
  });

  it('fills a last page to 7971 bytes', () => {
    const list = new ToolList([toolOfBytes('a', 3000), toolOfBytes('b', 4958)]);
    const page = list.page('', false);
    expect('result' in page && page.result.length).toBe(7971);
    expect(parsePage(new ToolList([toolOfBytes('a', 3000), toolOfBytes('b', 4959)]), '', false).nextCursor).toBe('b');
  });

  it('counts bytes and not characters', () => {
    const chinese = { ...toolOfBytes('chinese', 2000), description: '动'.repeat(2700) };
    expect(new ToolList([chinese]).page('', false)).toHaveProperty('error');
  });

  it('refuses an unknown cursor with two spaces and an empty name', () => {
    const error = 'Failed to add tool  because of payload size limit';
    expect(profiles.lamp.tools.page('self.gone', true)).toEqual({ error });
    expect(profiles.lamp.tools.page('self.reboot', false)).toEqual({ error });
  });

  it('keeps the first of two tools with one name', () => {
    expect(new ToolList([toolOfBytes('twin', 200), toolOfBytes('twin', 300)]).names).toEqual(['twin']);
  });

  it('takes only a JSON true as the wish for user-only tools, and old firmware has none', () => {
    const listed = (profile: ProfileName, withUserTools: unknown) => {
      const bench = new DeviceOnBench({ profile });
      bench.mcp({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: '', withUserTools } });
      return JSON.stringify(bench.lastReply().payload.result).includes('"audience"');
    };
    expect([listed('lamp', true), listed('lamp', 1), listed('lamp', 'true'), listed('old', true)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
