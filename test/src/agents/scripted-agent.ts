/**
 * An agent that follows one sentence of an operator with a fixed script, and keeps what a model
 * would read and write.
 */
import type { Client } from '@modelcontextprotocol/client';

export interface Transcript {
  /** The tools as the host gives them to the model. */
  readonly listing: unknown;
  /** Each call with the text of its result. */
  readonly calls: readonly { readonly name: string; readonly arguments: object; readonly result: unknown }[];
}

export interface StartedJob {
  readonly job: string;
  readonly state: string;
  readonly devices: number;
  readonly startAt: string;
}

interface Found {
  readonly now: string;
  readonly timeZone?: string;
  readonly deviceSays: { readonly models: readonly { readonly model: string }[] };
}

/** Restarts the offline devices of a group whose model begins like this, when `startAt` says. */
export async function restartOffline(
  agent: Client,
  { group, model: begin }: { readonly group: string; readonly model: string },
  startAt: (found: Found) => string,
): Promise<{ readonly started: StartedJob; readonly transcript: Transcript }> {
  const calls: Transcript['calls'][number][] = [];
  const call = async <Result>(name: string, args: object): Promise<Result> => {
    const result = await agent.callTool({ name, arguments: { ...args } });
    calls.push({ name, arguments: args, result: result.content });
    return result.structuredContent as Result;
  };
  const listing = (await agent.listTools()).tools;
  const tool = 'self.reboot';
  const found = await call<Found>('find_devices', { group, presence: 'OFFLINE', tool, first: 3 });
  const model = found.deviceSays.models.find((each) => each.model.startsWith(begin))?.model;
  const request = { tool, group, presence: 'OFFLINE', model, startAt: startAt(found) };
  const preview = await call<{ readonly devices: number }>('call_tool_on_many', request);
  const started = await call<StartedJob>('call_tool_on_many', { ...request, confirmDevices: preview.devices });
  return { started, transcript: { listing, calls } };
}

/** The next 03:00 in Asia/Shanghai, which is always at +08:00. */
export function scheduledAtThree({ now, timeZone }: Found): string {
  if (timeZone !== 'Asia/Shanghai') throw new TypeError(`The script knows no offset of ${String(timeZone)}.`);
  const local = new Date(Date.parse(now) + 8 * 3_600_000);
  const day = new Date(local.getTime() + (local.getUTCHours() < 3 ? 0 : 86_400_000)).toISOString().slice(0, 10);
  return `${day}T03:00:00+08:00`;
}

/** In bytes: the list of tools, and all calls with their results. */
export function sizesOf({ listing, calls }: Transcript) {
  const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  return { listing: bytes(listing), calls: calls.reduce<number>((sum, call) => sum + bytes(call), 0) };
}
