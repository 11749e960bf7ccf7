/**
 * The full listing of online tools in pages, limited in number and bytes. A page begins after the
 * device or tool where the previous one ended, so devices that come and go cause no gaps or
 * repetitions.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { ListToolsResult, Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { AgentCaller } from '../session/agent-caller.js';
import { listedTool } from './listed-tool.js';
import type { AgentTool, ToolCatalogue } from './tool-catalogue.js';

export interface ToolPageLimits {
  /** Tools of one page. The reference client reads 64 pages, which is some 60,000 tools. */
  readonly toolsMax: number;
  /** Bytes of the tools of one page as JSON: the limit of a request. One tool has far less. */
  readonly bytesMax: number;
  /** Devices that are looked at for one page: their tools may be none that the caller may call. */
  readonly devicesMax: number;
}

const defaultToolPageLimits: ToolPageLimits = { toolsMax: 1_000, bytesMax: 1_048_576, devicesMax: 2_000 };

type Source = Pick<ToolCatalogue, 'online' | 'onlineToolsOf'>;

interface Entry {
  readonly deviceId: string;
  readonly cursor: string | undefined;
  readonly tools: readonly AgentTool[];
}

/**
 * `after` is the cursor of the last complete device; `device` and `tool` name an incomplete one.
 */
const positionSchema = z.object({
  after: z.string().optional(),
  device: z.string().optional(),
  tool: z.string().optional(),
});
type Position = z.infer<typeof positionSchema>;

/** Throws a ProtocolError for an invalid cursor. */
export async function listToolPage(
  catalogue: Source,
  caller: AgentCaller,
  cursor: string | undefined,
  limits: ToolPageLimits = defaultToolPageLimits,
): Promise<ListToolsResult> {
  const from = positionIn(cursor);
  const tools: Tool[] = [];
  let [bytes, devices, { after }] = [0, 0, from];
  for await (const entry of entriesFrom(catalogue, caller, from)) {
    let last: string | undefined;
    for (const tool of entry.tools) {
      const shown = listedTool(tool);
      bytes += Buffer.byteLength(JSON.stringify(shown)) + 1;
      if (tools.length >= limits.toolsMax || (tools.length > 0 && bytes > limits.bytesMax)) {
        const { cursor: done, deviceId } = entry;
        return {
          tools,
          nextCursor: cursorAt(last === undefined ? { after } : { after: done, device: deviceId, tool: last }),
        };
      }
      tools.push(shown);
      last = tool.agentName;
    }
    after = entry.cursor;
    devices += 1;
    if (devices >= limits.devicesMax) return { tools, nextCursor: cursorAt({ after }) };
  }
  return { tools };
}

/** The rest of the device where the previous page ended, if it is online, then the next devices. */
async function* entriesFrom(
  catalogue: Source,
  caller: AgentCaller,
  { after, device, tool = '' }: Position,
): AsyncGenerator<Entry> {
  if (device !== undefined) {
    const rest = byName(await catalogue.onlineToolsOf(caller, device)).filter(({ agentName }) => agentName > tool);
    yield { deviceId: device, cursor: after, tools: rest };
  }
  for (let last = after, hasMore = true; hasMore;) {
    const batch = await catalogue.online(caller, last);
    for (const entry of batch.devices) yield { ...entry, tools: byName(entry.tools) };
    last = batch.devices.at(-1)?.cursor;
    hasMore = batch.hasMore && last !== undefined;
  }
}

/** The order stays when the device lists its tools again. */
function byName(tools: readonly AgentTool[]): readonly AgentTool[] {
  return [...tools].sort((one, other) => (one.agentName < other.agentName ? -1 : 1));
}

function cursorAt(position: Position): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

function positionIn(cursor: string | undefined): Position {
  if (cursor === undefined) return {};
  const position = positionSchema.safeParse(parsed(Buffer.from(cursor, 'base64url').toString()));
  if (!position.success)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The cursor is not from this listing. List again without one.',
    );
  return position.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
