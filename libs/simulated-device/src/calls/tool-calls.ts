/**
 * `tools/call`: checks on the network task, then a run on the main task as the firmware's age
 * requires. [xiaozhi §4.5, §4.6]
 */
import type { Agenda } from './agenda.js';
import type { BehaviourScript } from '../behaviour/behaviour-script.js';
import type { CallLog } from './call-log.js';
import { checkArguments } from './check-arguments.js';
import type { DeviceState } from '../device-state.js';
import { FirmwareObject, type FirmwareValue } from '../json/firmware-json.js';
import type { MainTask, Work } from './main-task.js';
import { ageOf, type DeviceProfile, type FirmwareAge } from '../profile.js';
import type { HttpRequests } from '../connection/http-requests.js';
import { errorBody, resultBody, type Replies, type ReplyBody, type Request } from '../connection/replies.js';
import type { DeferredWork, SimulatedTool, ToolAnswer, ToolArguments, ToolExchange } from './tool.js';

/** What a called tool may do to the device as a whole. */
interface DeviceFate {
  /** Breaks the connection abruptly and reconnects later. */
  breakOff(now: number): void;
  /** Carries out work that a tool has scheduled. */
  defer(work: DeferredWork): void;
}

interface Parts {
  readonly profile: DeviceProfile;
  readonly state: DeviceState;
  readonly mainTask: MainTask;
  readonly agenda: Agenda;
  readonly script: BehaviourScript;
  readonly replies: Replies;
  readonly log: CallLog;
  readonly fate: DeviceFate;
  readonly http: HttpRequests;
}

export class ToolCalls {
  constructor(private readonly parts: Parts) {}

  /** Accepts or refuses a call; refusals are queued like any reply. */
  call(id: number, params: FirmwareObject | undefined, now: number): void {
    const accepted = this.#check(params);
    const request: Request = { id, method: 'tools/call', ...('tool' in accepted && { tool: accepted.tool.name }) };
    if ('error' in accepted) return this.parts.replies.queue(request, errorBody(accepted.error));
    const run = this.#run(request, accepted.tool, accepted.args);
    if (this.#age === 'detached') this.#runDetached(run, now);
    else this.parts.mainTask.push(run);
  }

  get #age(): FirmwareAge {
    const { script, profile, state } = this.parts;
    const { version } = state.firmware.running;
    return script.strike('rebootAs')?.age ?? (version === profile.firmwareVersion ? profile.age : ageOf(version));
  }

  #check(params: FirmwareObject | undefined): { tool: SimulatedTool; args: ToolArguments } | { error: string } {
    if (params === undefined) return { error: 'Missing params' };
    const name = params.get('name');
    if (typeof name !== 'string') return { error: 'Missing name' };
    const given: FirmwareValue | undefined = params.get('arguments');
    if (given !== undefined && !(given instanceof FirmwareObject)) return { error: 'Invalid arguments' };
    const tool = this.parts.profile.tools.find(name);
    if (tool === undefined) return { error: `Unknown tool: ${name}` };
    const checked = checkArguments(tool, given);
    return 'error' in checked ? checked : { tool, args: checked.args };
  }

  #run(request: Request, tool: SimulatedTool, args: ToolArguments): Work {
    const { script, log, fate, state } = this.parts;
    return {
      begin: (now) => {
        log.add({ tool: tool.name, args, at: now });
        if (script.isEmpty) return 0;
        if (script.strike('disconnectInCall', request)) fate.breakOff(now);
        return script.strike('slow', request)?.ms ?? 0;
      },
      finish: (now) =>
        this.#answer(request, script.strike('noEffect', request) ? true : tool.run(state, args, now), now),
    };
  }

  /** Runs calls in separate threads: they overlap, and replies leave when they are done. */
  #runDetached(run: Work, now: number): void {
    const durationMs = run.begin(now);
    if (durationMs === 0) run.finish(now);
    else this.parts.agenda.add(now + durationMs, (at) => run.finish(at));
  }

  /** The trap: a present firmware queues its reply behind the work that the tool has scheduled. */
  #answer(request: Request, answer: ToolAnswer, now: number): void {
    const { replies, fate } = this.parts;
    if (typeof answer === 'object' && 'exchange' in answer) return this.#exchange(request, answer);
    const isQueued = this.#age === 'queued';
    if (!isQueued) replies.deliver(request, answerBody(answer), now);
    if (typeof answer === 'object' && 'deferred' in answer) fate.defer(answer.deferred);
    if (isQueued) replies.queue(request, answerBody(answer));
  }

  /** The main task stands still until the hub has answered. [xiaozhi §6.1] */
  #exchange(request: Request, { exchange, then }: ToolExchange): void {
    const { http, mainTask } = this.parts;
    const isBlocking = this.#age !== 'detached';
    if (isBlocking) mainTask.hold('request');
    http.send(exchange, (response, now) => {
      if (isBlocking) mainTask.release('request');
      this.#answer(request, then(response), now);
    });
  }
}

function answerBody(answer: Exclude<ToolAnswer, ToolExchange>): ReplyBody {
  switch (typeof answer) {
    case 'boolean':
    case 'number':
      return textBody(`"${answer}"`);
    case 'string':
      return textBody(JSON.stringify(answer));
    case 'object':
      return 'error' in answer ? errorBody(answer.error) : textBody('"true"');
  }
}

function textBody(quoted: string): ReplyBody {
  return resultBody(`{"content":[{"type":"text","text":${quoted}}],"isError":false}`);
}
