/**
 * The rules for a call before it is sent: the tool exists, the caller may use it, the arguments
 * fit, the URLs are allowed. Single calls and jobs share them. It records and sends nothing.
 */
import { compileArguments, findHubTool, findPinProblem, hubTools, isSendableName } from '@flotilla/mcp';
import type { CallError, CompiledArguments, DeviceTool, NotSentCode } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import { LRUCache } from 'lru-cache';
import type { Actor } from '../actor.js';
import { findForbiddenUrl } from './device-urls.js';

/** Compiled schemas in the cache: those of a hundred firmware versions, a few KiB each. */
const compiledSchemasMax = 4_096;

export interface CheckedCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly mayCallUserOnly: boolean;
}

/** Tools that replace what a device runs. Names as firmware has them, in lower case. */
const firmwareTools = new Set(['self.upgrade_firmware', 'self.assets.set_download_url']);

const RESTART_TOOL = 'self.reboot';

/**
 * Whether the tool needs the scope FIRMWARE_WRITE. Case is ignored because devices may ignore it.
 */
export function changesFirmware(tool: string): boolean {
  return firmwareTools.has(tool.toLowerCase());
}

interface RuleRefusal {
  readonly error: CallError & { readonly code: NotSentCode };
  /** Which part of the call it is about. */
  readonly part: 'tool' | 'arguments';
}

export class CallRules {
  readonly #allowedOrigins: ReadonlySet<string>;
  readonly #compiled = new LRUCache<string, CompiledArguments>({ max: compiledSchemasMax });

  /**
   * Devices may open `deviceUrls`. With `mustBeSigned`, firmware must be a signed image of the hub.
   */
  constructor(
    deviceUrls: readonly string[],
    private readonly mustBeSigned = false,
  ) {
    this.#allowedOrigins = new Set(deviceUrls.map((url) => new URL(url).origin));
  }

  /** Undefined if a device with these tools may receive the call. The hub made `ownUrl` for it. */
  refuse(toolSet: ToolSet | undefined, call: CheckedCall, ownUrl?: string): RuleRefusal | undefined {
    const tool = findHubTool(call.tool) ?? toolSet?.tools.find(({ name }) => name === call.tool);
    if (tool === undefined) return about('tool', 'TOOL_UNKNOWN', noTool(call.tool));
    if (!isSendableName(tool.name))
      return about('tool', 'TOOL_UNKNOWN', 'The name of the tool cannot be written to a device.');
    if (tool.userOnly && !call.mayCallUserOnly) {
      return about(
        'tool',
        'TOOL_FORBIDDEN',
        `"${tool.name}" is for users only: calling it needs the scope TOOLS_CALL_PRIVILEGED.`,
      );
    }
    const verdict = this.#compiledFor(toolSet, tool).check(call.arguments);
    if (!verdict.ok) return about('arguments', 'ARGUMENTS_INVALID', verdict.message);
    const pinProblem = toolSet?.pins && findPinProblem(tool.name, call.arguments, toolSet.pins);
    if (pinProblem !== undefined) return about('arguments', 'ARGUMENTS_INVALID', pinProblem.message);
    return this.refuseUrls(call, ownUrl);
  }

  /** The rules about who may change firmware and restart devices, which need no device either. */
  refuseActor(tool: string, actor: Pick<Actor, 'mayChangeFirmware' | 'mayRestart'>): RuleRefusal | undefined {
    if (actor.mayRestart === false && tool.toLowerCase() === RESTART_TOOL)
      return about('tool', 'TOOL_FORBIDDEN', `"${tool}" restarts the device, which is not for this caller.`);
    if (actor.mayChangeFirmware || !changesFirmware(tool)) return undefined;
    return about(
      'tool',
      'TOOL_FORBIDDEN',
      `"${tool}" changes what the device runs: calling it needs the scope FIRMWARE_WRITE.`,
    );
  }

  /** The rule about URLs alone, which needs no device. */
  refuseUrls(call: Omit<CheckedCall, 'mayCallUserOnly'>, ownUrl?: string): RuleRefusal | undefined {
    if (this.mustBeSigned && ownUrl === undefined && changesFirmware(call.tool))
      return about('arguments', 'URL_FORBIDDEN', signedOnly);
    const forbidden = findForbiddenUrl(call.tool, call.arguments, { origins: this.#allowedOrigins, ownUrl });
    return forbidden === undefined ? undefined : about('arguments', 'URL_FORBIDDEN', forbidden.message);
  }

  #compiledFor(toolSet: ToolSet | undefined, tool: DeviceTool): CompiledArguments {
    // The tools of the hub do not depend on the tool set; a hash never contains the letter u.
    const key = `${findHubTool(tool.name) ? 'hub' : (toolSet?.hash ?? 'none')} ${tool.name}`;
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const compiled = compileArguments(tool.inputSchema);
    this.#compiled.set(key, compiled);
    return compiled;
  }
}

const signedOnly =
  'This hub requires signed firmware: upload the image with its signature, publish it and roll it out.';

function about(part: RuleRefusal['part'], code: NotSentCode, message: string): RuleRefusal {
  return { part, error: { code, message } };
}

/**
 * Lists the tools of the hub if one of them is missing, above all for callers who look for speech.
 */
function noTool(name: string): string {
  if (!name.startsWith('hub.')) return `The device has no tool "${name}". List its tools to see their exact names.`;
  const own = hubTools.map((tool) => tool.name).join(' and ');
  const message = `There is no tool "${name}". The hub itself offers ${own}.`;
  return `${message} No tool makes a device speak, because voice servers cannot be asked to.`;
}
