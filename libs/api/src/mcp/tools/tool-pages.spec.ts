/** The pages of the whole listing, over a fleet that changes between them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultToolPolicy } from '@flotilla/jobs';
import type { AgentCaller } from '../session/agent-caller.js';
import type { AgentTool } from './tool-catalogue.js';
import { listToolPage, type ToolPageLimits } from './tool-pages.js';

const caller = {} as AgentCaller;
const roomy: ToolPageLimits = { toolsMax: 1_000, bytesMax: 1_048_576, devicesMax: 2_000 };

function toolOf(deviceId: string, name: string, schema: Readonly<Record<string, unknown>> = {}): AgentTool {
  const tool = {
    name,
    description: '',
    inputSchema: { type: 'object', ...schema },
    userOnly: false,
    schemaKnown: true,
  };
  return {
    agentName: `${deviceId}__${name}`,
    device: { id: deviceId },
    tool,
    policy: defaultToolPolicy,
    readOnly: undefined,
  } as unknown as AgentTool;
}

/** A fleet as the catalogue pages it: by id, three devices at a time. */
function catalogueOf(fleet: () => ReadonlyMap<string, readonly AgentTool[]>) {
  return {
    online: async (_caller: AgentCaller, after: string | undefined) => {
      const ids = [...fleet().keys()].sort().filter((id) => after === undefined || id > after);
      const devices = ids.slice(0, 3).map((id) => ({ deviceId: id, cursor: id, tools: fleet().get(id) ?? [] }));
      return { devices, hasMore: ids.length > 3 };
    },
    onlineToolsOf: async (_caller: AgentCaller, id: string) => fleet().get(id) ?? [],
  };
}

const fleetOf = (counts: readonly number[]) =>
  new Map(
    counts.map((count, at) => {
      const id = `d${String(at).padStart(2, '0')}`;
      return [id, Array.from({ length: count }, (_, index) => toolOf(id, `t${count - index}`))] as const;
    }),
  );

async function pagesOf(
  fleet: () => ReadonlyMap<string, readonly AgentTool[]>,
  limits: ToolPageLimits,
  between: () => void = () => undefined,
) {
  const pages: (readonly string[])[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const { tools, nextCursor } = await listToolPage(catalogueOf(fleet), caller, cursor, limits);
    pages.push(tools.map(({ name }) => name));
    if (tools.length > 1) expect(Buffer.byteLength(JSON.stringify(tools))).toBeLessThanOrEqual(limits.bytesMax + 2);
    cursor = nextCursor;
    between();
  }
  return pages;
}

describe('listToolPage', () => {
  it('lists each tool once for any page size', async () => {
    const counts = fc.array(fc.nat({ max: 9 }), { maxLength: 12 });
    const limits = fc.record({
      toolsMax: fc.integer({ min: 1, max: 12 }),
      bytesMax: fc.integer({ min: 1, max: 4_000 }),
      devicesMax: fc.integer({ min: 1, max: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(counts, limits, async (each, bounds) => {
        const fleet = fleetOf(each);
        const pages = await pagesOf(() => fleet, bounds);
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(bounds.toolsMax);
        const all = [...fleet.values()].flat().map(({ agentName }) => agentName);
        expect(pages.flat().sort()).toEqual(all.sort());
      }),
    );
  });

  it('neither repeats nor hides the tools of devices that stay while others come and go', async () => {
    const stays = (id: string) => Number(id.slice(1)) % 2 === 0;
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 7 }), fc.infiniteStream(fc.boolean()), async (toolsMax, coins) => {
        const whole = fleetOf(Array.from({ length: 12 }, () => 5));
        let now: ReadonlyMap<string, readonly AgentTool[]> = whole;
        const change = () => (now = new Map([...whole].filter(([id]) => stays(id) || coins.next().value)));
        const names = (await pagesOf(() => now, { ...roomy, toolsMax }, change)).flat();
        expect(new Set(names).size).toBe(names.length);
        expect(names).toEqual(
          expect.arrayContaining(
            [...whole].flatMap(([id, own]) => (stays(id) ? own.map(({ agentName }) => agentName) : [])),
          ),
        );
      }),
    );
  });

  it('ends a page before the byte limit, also within a device', async () => {
    const schema = { properties: { x: { type: 'string', description: 'y'.repeat(10_000) } } };
    const fleet = new Map([['d00', Array.from({ length: 9 }, (_, at) => toolOf('d00', `t${at}`, schema))]]);
    const pages = await pagesOf(() => fleet, { ...roomy, bytesMax: 35_000 });
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3]);
  });

  it.each(['', 'x', Buffer.from('{"tool":5}').toString('base64url')])(
    'refuses an invalid cursor: "%s"',
    async (cursor) => {
      await expect(
        listToolPage(
          catalogueOf(() => new Map()),
          caller,
          cursor,
        ),
      ).rejects.toThrow(/not from this listing/);
    },
  );
});
