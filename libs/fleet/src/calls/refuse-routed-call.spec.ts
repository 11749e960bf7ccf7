import type { RoutedCall } from '@flotilla/bus';
import type { CallId, DeviceId, ToolSetHash } from '@flotilla/mcp';
import type { ToolSet } from '@flotilla/registry';
import { describe, expect, it } from 'vitest';
import { boardTools } from '../fleet-fixture.suite.js';
import { refuseRoutedCall } from './refuse-routed-call.js';
import { CallRules } from './call-rules.js';

const now = 1_800_000_000_000;
const callRules = new CallRules(['https://files.example/']);
const toolSet: ToolSet = {
  hash: 'abc' as ToolSetHash,
  tools: boardTools.map((tool) => ({ ...tool, schemaKnown: true })),
};

interface Change {
  readonly tool?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly rights?: Partial<RoutedCall['rights']>;
  readonly callTimeoutMs?: number;
  readonly queueDeadlineAt?: number;
}

function routedCall({ rights = {}, ...change }: Change): RoutedCall {
  const call = {
    callId: 'c' as CallId,
    tool: 'self.lamp.turn_on',
    arguments: {},
    queueDeadlineAt: now + 60_000,
    callTimeoutMs: 60_000,
  };
  return {
    deviceId: 'd' as DeviceId,
    rights: { mayCallUserOnly: true, mayChangeFirmware: true, ...rights },
    call: { ...call, ...change },
  };
}

const codeOf = (change: Change, tools: ToolSet | undefined = toolSet) =>
  refuseRoutedCall(callRules, routedCall(change), tools, now)?.code;
const upgrade = (url: string, rights: Change['rights'] = {}): Change => ({
  tool: 'self.upgrade_firmware',
  arguments: { url },
  rights,
});

describe('a call of another process', () => {
  it('is admitted if this process would also accept it', () => {
    expect(codeOf({})).toBeUndefined();
    expect(codeOf({ tool: 'hub.alert', arguments: { message: 'Hello' } })).toBeUndefined();
    expect(codeOf({ tool: 'self.reboot' })).toBeUndefined();
    expect(codeOf(upgrade('https://files.example/fw.bin'))).toBeUndefined();
    expect(
      codeOf(upgrade('http://hub.example/t/download/1', { ownUrl: 'http://hub.example/t/download/1' })),
    ).toBeUndefined();
  });

  it.each<[string, Change, string]>([
    ['a tool that the device does not have now', { tool: 'self.lamp.turn_off' }, 'TOOL_UNKNOWN'],
    [
      'a user-only tool without the right',
      { tool: 'self.reboot', rights: { mayCallUserOnly: false } },
      'TOOL_FORBIDDEN',
    ],
    [
      'an upgrade without the right',
      upgrade('https://files.example/fw.bin', { mayChangeFirmware: false }),
      'TOOL_FORBIDDEN',
    ],
    [
      'an upgrade by its name in capitals, which devices may ignore, without the right',
      { tool: 'SELF.Upgrade_Firmware', rights: { mayChangeFirmware: false } },
      'TOOL_FORBIDDEN',
    ],
    [
      'arguments that do not fit',
      { tool: 'self.audio_speaker.set_volume', arguments: { volume: 101 } },
      'ARGUMENTS_INVALID',
    ],
    ['an address that this gateway does not allow', upgrade('https://evil.example/fw.bin'), 'URL_FORBIDDEN'],
    [
      'an address of the hub that another call was made for',
      upgrade('http://a.example/1', { ownUrl: 'http://a.example/2' }),
      'URL_FORBIDDEN',
    ],
    ['a time for the answer beyond all limits', { callTimeoutMs: 300_001 }, 'ARGUMENTS_INVALID'],
    ['a time in the queue beyond all limits', { queueDeadlineAt: now + 400_000 }, 'UNAVAILABLE'],
  ])('is refused with %s', (_what, change, code) => {
    expect(codeOf(change)).toBe(code);
  });

  it('is checked only by its URLs if the device has not listed its tools in this session', () => {
    expect(refuseRoutedCall(callRules, routedCall({ tool: 'self.lamp.turn_off' }), undefined, now)).toBeUndefined();
    expect(refuseRoutedCall(callRules, routedCall(upgrade('https://evil.example/fw.bin')), undefined, now)?.code).toBe(
      'URL_FORBIDDEN',
    );
  });
});
