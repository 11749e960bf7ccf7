import type { DeviceTool, DiscoveredTools, ToolPage } from '@flotilla/mcp';
import { describe, expect, it } from 'vitest';
import { ToolSetIndex } from './tool-set-index.js';

function tool(name: string, inputSchema: DeviceTool['inputSchema'] = { type: 'object', properties: {} }): DeviceTool {
  return { name, description: '', inputSchema, userOnly: false };
}

function page(...names: string[]): ToolPage {
  return { tools: names.map((name) => tool(name)), nextCursor: undefined };
}

function discovered(...pages: ToolPage[]): DiscoveredTools {
  return { tools: pages.flatMap(({ tools }) => tools), isComplete: true, pages };
}

describe('ToolSetIndex', () => {
  it('gives devices with the same pages the very same tool set', () => {
    const index = new ToolSetIndex();
    const [first, second] = [page('a'), page('b')];
    expect(index.toolSetOf(discovered(first, second))).toBe(index.toolSetOf(discovered(first, second)));
  });

  it('distinguishes a listing from its first pages', () => {
    const index = new ToolSetIndex();
    const [first, second] = [page('a'), page('b')];
    const both = index.toolSetOf(discovered(first, second));
    const beginning = index.toolSetOf(discovered(first));
    expect(both.tools.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(beginning.tools.map(({ name }) => name)).toEqual(['a']);
    expect(beginning.hash).not.toBe(both.hash);
  });

  it('hashes content, not pages', () => {
    const index = new ToolSetIndex();
    expect(index.toolSetOf(discovered(page('a'), page('b'))).hash).toBe(
      index.toolSetOf(discovered(page('b', 'a'))).hash,
    );
    expect(index.toolSetOf(discovered(page('a'))).hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('marks the tool whose schema does not convert, and only that one', () => {
    const hostile = tool('odd', { type: 'object', properties: { x: { $ref: 'https://example.net/schema' } } });
    const { tools } = new ToolSetIndex().toolSetOf({ tools: [hostile, tool('plain')], isComplete: true, pages: [] });
    expect(tools.map(({ name, schemaKnown }) => [name, schemaKnown])).toEqual([
      ['odd', false],
      ['plain', true],
    ]);
  });
});
