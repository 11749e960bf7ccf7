import { describe, expect, it } from 'vitest';
import { parseToolPage, toolsListParams } from './tools-list.js';

const tool = { name: 'self.reboot', description: 'Restarts', inputSchema: { type: 'object', properties: {} } };

describe('parseToolPage', () => {
  it('parses tools and the cursor', () => {
    const page = parseToolPage({
      tools: [tool, { ...tool, name: 'b', annotations: { audience: ['user'] } }],
      nextCursor: 'c',
    });
    expect(page?.tools).toEqual([
      { ...tool, userOnly: false },
      { ...tool, name: 'b', userOnly: true },
    ]);
    expect(page?.nextCursor).toBe('c');
  });

  it.each(['', null, 5])('treats the cursor %j as the end', (nextCursor) => {
    expect(parseToolPage({ tools: [], nextCursor })?.nextCursor).toBeUndefined();
  });

  it('gives a tool without a schema, or without properties, an empty one', () => {
    const page = parseToolPage({
      tools: [{ name: 'a' }, { name: 'b', inputSchema: null }, { name: 'c', inputSchema: { type: 'object' } }],
    });
    for (const { description, inputSchema } of page?.tools ?? []) {
      expect([description, inputSchema]).toEqual(['', { type: 'object', properties: {} }]);
    }
    expect(page?.tools).toHaveLength(3);
  });

  it('drops and counts invalid entries and keeps the others', () => {
    const page = parseToolPage({ tools: [null, 'x', {}, { name: '' }, { name: 5 }, { name: 'x'.repeat(257) }, tool] });
    expect(page?.tools.map(({ name }) => name)).toEqual(['self.reboot']);
    expect(page?.droppedEntries).toBe(6);
  });

  it('does not mark a tool for users and others as user-only', () => {
    const page = parseToolPage({
      tools: [
        { ...tool, annotations: { audience: ['user', 'assistant'] } },
        { ...tool, annotations: { audience: [] } },
      ],
    });
    expect(page?.tools.map(({ userOnly }) => userOnly)).toEqual([false, false]);
  });

  it.each([undefined, null, [], {}, { tools: {} }])('returns undefined for %j, which is not a page', (result) => {
    expect(parseToolPage(result)).toBeUndefined();
  });
});

it('requests user-only tools with every cursor', () => {
  expect(toolsListParams(undefined)).toEqual({ withUserTools: true });
  expect(toolsListParams('self.reboot')).toEqual({ cursor: 'self.reboot', withUserTools: true });
});
