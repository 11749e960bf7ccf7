/** A session with a scripted device on an in-memory transport and a manual clock, for specs. */
import { linkedPair } from '@flotilla/mcp';
import type { CallId } from '@flotilla/mcp';
import { ManualClock } from './clock/manual-clock.js';
import { SessionActor } from './session-actor.js';
import type { SessionCall, SessionLimits, SessionObserver, SettledCall, ToolPageCache } from './session-contract.js';
import { XiaozhiDialect } from './xiaozhi/xiaozhi-dialect.js';

export interface Request {
  readonly id: number;
  readonly method: string;
}

const page = '"result":{"tools":[{"name":"t"}]}';
export const initialised = '"result":{"serverInfo":{"name":"b","version":"1"}}';

/**
 * A device that greets and lists automatically, leaves calls to the test, and uses a queue that the
 * test drives.
 */
export function connect(
  options: { limits?: Partial<SessionLimits>; pageCache?: ToolPageCache; observer?: Partial<SessionObserver> } = {},
) {
  const later: (() => void)[] = [];
  const { near, far } = linkedPair((run) => later.push(run));
  const pump = () => {
    for (let run = later.shift(); run !== undefined; run = later.shift()) run();
  };
  const calls: Request[] = [];
  const answer = (id: number, members: string) =>
    far.send(`{"session_id":"","type":"mcp","payload":{"jsonrpc":"2.0","id":${id},${members}}}`);
  far.onmessage = (text) => {
    const request: Request = JSON.parse(text).payload;
    if (request.method === 'initialize') answer(request.id, initialised);
    else if (request.method === 'tools/list') answer(request.id, page);
    else if (request.method === 'tools/call') calls.push(request);
  };
  const log: string[] = [];
  const observer: SessionObserver = {
    onStateChanged: (state, reason) => log.push(reason === undefined ? state : `${state}: ${reason}`),
    onGreeted: (info) => log.push(`greeted ${info.model}`),
    onToolsDiscovered: (discovered) => log.push(`tools ${discovered.tools.map(({ name }) => name).join()}`),
    onDiscoveryFailed: (message) => log.push(`discovery failed: ${message}`),
    onNotification: (method) => log.push(method),
    onDeviceMessage: (type) => log.push(`message ${type}`),
    onLateOutcome: (late) => log.push(`late ${late.callId}`),
    onLargeRequests: (areLost) => log.push(`large requests ${areLost ? 'lost' : 'received'}`),
    onAnomaly: (anomaly) => log.push(anomaly),
    ...options.observer,
  };
  const clock = new ManualClock(1_000_000);
  const { limits = {}, pageCache } = options;
  const session = new SessionActor({
    dialect: new XiaozhiDialect(),
    transport: near,
    clock,
    observer,
    firstRequestId: 100,
    limits,
    ...(pageCache === undefined ? {} : { pageCache }),
  });
  far.start();
  session.start();
  pump();
  const settled: SettledCall[] = [];
  const makeCall = (callId: string, change: Partial<SessionCall> = {}): SessionCall => ({
    callId: callId as CallId,
    tool: 't',
    arguments: {},
    queueDeadlineAt: clock.now() + 5000,
    callTimeoutMs: 30_000,
    ...change,
  });
  const call = (callId: string, change?: Partial<SessionCall>) =>
    session.enqueue(makeCall(callId, change), (end) => settled.push(end));
  const succeed = () => answer(calls.shift()?.id ?? 0, '"result":{"content":[]}');
  return { session, near, far, clock, log, settled, calls, call, makeCall, succeed, pump };
}
