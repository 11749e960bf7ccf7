import type { DeviceId, ToolSetHash } from '@flotilla/mcp';
import { RegistryError, type ToolSet } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../ingress.suite.js';
import type { RecordContext } from './record-context.js';
import type { SessionFacts } from './session-record.js';
import { storeTools } from './store-tools.js';

const toolSet: ToolSet = { hash: 'a'.repeat(64) as ToolSetHash, tools: [] };
const info = { model: 'lamp', firmwareVersion: '1.0.0' };
const facts: SessionFacts = { info, toolSet, isComplete: true };

/** Stores tools while PostgreSQL refuses them with this SQLSTATE. */
function storeWhere(code: string | undefined): Promise<SessionFacts> {
  const cause = Object.assign(new Error('no'), { code });
  const refused = new RegistryError('DATABASE_REFUSED', 'PostgreSQL refused a statement.', { cause });
  const toolSets = { ensure: () => Promise.reject(refused) };
  const context = { registry: { toolSets }, logger: silentLogger } as unknown as RecordContext;
  return storeTools(context, '02:00:00:00:00:01' as DeviceId, facts);
}

describe('tools that PostgreSQL refuses', () => {
  it.each(['22021', '22P05', '54000'])('are given up where it cannot store such values (%s)', async (code) => {
    expect(await storeWhere(code)).toEqual({ ...facts, toolSet: undefined, isComplete: false });
  });

  it.each(['57014', '58030', 'XX000', undefined])('are kept for another attempt elsewhere (%s)', async (code) => {
    await expect(storeWhere(code)).rejects.toMatchObject({ code: 'DATABASE_REFUSED' });
  });
});
