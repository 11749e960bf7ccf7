/** A gateway for specs, whose devices answer as the spec says. */
import type { CallServer, RoutedCall } from '@flotilla/bus';
import type { CallOutcome, DeviceId, DeviceTool } from '@flotilla/mcp';
import type { Clock, SettledCall } from '@flotilla/session';

const noArguments = { type: 'object', properties: {} };
const withUrl = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };
const volume = {
  type: 'object',
  properties: { volume: { type: 'integer', minimum: 0, maximum: 100 } },
  required: ['volume'],
};
const tool = (name: string, inputSchema: DeviceTool['inputSchema'], userOnly = false): DeviceTool => ({
  name,
  description: name,
  inputSchema,
  userOnly,
});
export const boardTools: readonly DeviceTool[] = [
  tool('self.get_device_status', noArguments),
  tool('self.audio_speaker.set_volume', volume),
  tool('self.screen.set_theme', { type: 'object', properties: { theme: { type: 'string' } } }),
  tool('self.lamp.turn_on', noArguments),
  tool('self.reboot', noArguments, true),
  tool('self.upgrade_firmware', withUrl, true),
];

export const answers = (text: string): CallOutcome => ({
  kind: 'SUCCEEDED',
  certainty: 'YES',
  result: { content: [{ type: 'text', text }], isError: false },
});

type Behaviour = (routed: RoutedCall, settle: (outcome: CallOutcome) => void) => void;

/** Implements the port for devices, and counts the calls that would have been sent. */
export class FakeGateway implements CallServer {
  readonly callsByDevice = new Map<DeviceId, number>();
  readonly epochs = new Map<DeviceId, number>();
  readonly seen: RoutedCall[] = [];
  readonly disconnected: DeviceId[] = [];
  behave: Behaviour = (_, settle) => settle(answers('true'));
  inFlight = 0;
  inFlightMost = 0;

  constructor(private readonly clock: Pick<Clock, 'now'>) {}

  enqueue(routed: RoutedCall, settle: (settled: SettledCall) => void): void {
    const { deviceId, epoch, call } = routed;
    const live = this.epochs.get(deviceId);
    const end = (outcome: CallOutcome, sentAt?: number): void =>
      queueMicrotask(() =>
        settle({
          callId: call.callId,
          outcome,
          settledAt: this.clock.now(),
          ...(sentAt === undefined ? {} : { sentAt }),
        }),
      );
    if (live === undefined || (epoch !== undefined && epoch !== live)) {
      return end({ kind: 'NOT_SENT', certainty: 'NEVER', error: { code: 'DEVICE_OFFLINE', message: 'no session' } });
    }
    this.seen.push(routed);
    this.callsByDevice.set(deviceId, (this.callsByDevice.get(deviceId) ?? 0) + 1);
    this.inFlight += 1;
    this.inFlightMost = Math.max(this.inFlightMost, this.inFlight);
    const sentAt = this.clock.now();
    this.behave(routed, (outcome) => {
      this.inFlight -= 1;
      end(outcome, sentAt);
    });
  }

  refreshTools(deviceId: DeviceId): boolean {
    return this.epochs.has(deviceId);
  }

  disconnect(deviceId: DeviceId): boolean {
    this.disconnected.push(deviceId);
    return this.epochs.has(deviceId);
  }

  /** Starts counting again at zero. */
  forget(): void {
    this.callsByDevice.clear();
    this.seen.length = 0;
    this.inFlightMost = 0;
  }

  get callCount(): number {
    return this.seen.length;
  }
}
