import type { FlotillaClient } from '@flotilla/client';
import { describe, expect, it } from 'vitest';
import type { KindContext } from '../kind.js';
import { desiredStates } from './desired-states.js';

const references = { groups: new Map(), images: new Map(), channels: new Map() };
const live = { id: 'one', name: 'Quiet', revision: 3, fields: { devices: { all: true }, priority: 0, enabled: true } };

/** The inputs of the edits that it gets. */
function hubOf() {
  const inputs: unknown[] = [];
  const request = async (_document: unknown, { input }: { readonly input: unknown }) => {
    inputs.push(input);
    return { updateDesiredState: { userErrors: [] } };
  };
  const context: KindContext = { client: { request } as unknown as FlotillaClient, references, folder: '.' };
  return { context, inputs };
}

describe('an apply of a desired state', () => {
  it('does not enable one that another person has disabled meanwhile', async () => {
    const { context, inputs } = hubOf();
    await desiredStates.update?.(live, { ...live.fields, priority: 5 }, context);
    expect(inputs).toEqual([{ name: 'Quiet', devices: { all: true }, priority: 5, enabled: null }]);
  });

  it('disables it where the file says so', async () => {
    const { context, inputs } = hubOf();
    await desiredStates.update?.(live, { ...live.fields, enabled: false }, context);
    expect(inputs).toMatchObject([{ enabled: false }]);
  });
});
