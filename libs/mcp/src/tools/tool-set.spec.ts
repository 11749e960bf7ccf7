import { describe, expect, it } from 'vitest';
import type { DeviceTool } from './tool.js';
import { canonicalToolSet, diffToolSets } from './tool-set.js';

const tool = (name: string, inputSchema: DeviceTool['inputSchema'] = { type: 'object' }): DeviceTool => ({
  name,
  description: name,
  inputSchema,
  userOnly: false,
});

describe('canonicalToolSet', () => {
  it('has the same text for any order of tools and of schema members', () => {
    const one = [tool('b', { type: 'object', properties: { x: { minimum: 1, type: 'integer' } } }), tool('a')];
    const other = [tool('a'), tool('b', { properties: { x: { type: 'integer', minimum: 1 } }, type: 'object' })];
    expect(canonicalToolSet(one).canonicalJson).toBe(canonicalToolSet(other).canonicalJson);
    expect(canonicalToolSet(one).tools.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  it('differs for every difference that a caller can notice', () => {
    const texts = [
      [tool('a')],
      [tool('A')],
      [{ ...tool('a'), userOnly: true }],
      [{ ...tool('a'), description: '' }],
      [tool('a', { type: 'object', required: ['x', 'y'] })],
      [tool('a', { type: 'object', required: ['y', 'x'] })],
    ].map((tools) => canonicalToolSet(tools).canonicalJson);
    expect(new Set(texts).size).toBe(texts.length);
  });

  it('keeps the first of several tools with one name', () => {
    const tools = [tool('a', { type: 'object', first: true }), tool('a', { type: 'object', first: false })];
    expect(canonicalToolSet(tools).tools).toEqual([tools[0]]);
  });
});

it('names added, removed and changed tools', () => {
  const before = [tool('gone'), tool('same'), tool('changed')];
  const after = [tool('same'), tool('new'), tool('changed', { type: 'object', properties: { x: {} } })];
  expect(diffToolSets(before, after)).toEqual({ added: ['new'], removed: ['gone'], changed: ['changed'] });
});
