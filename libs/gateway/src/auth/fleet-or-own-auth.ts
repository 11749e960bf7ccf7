/**
 * Devices of an existing gateway authenticate with the fleet secret, unless they were removed here;
 * all others with their own credentials, microcontrollers always. A fleet moves device by device.
 */
import { parseDeviceIdHeader, parseMqttClientId } from '@flotilla/mcp';
import type { DialectName } from '@flotilla/mcp';
import type { EnrolmentStore } from '@flotilla/registry';
import type {
  AuthVerdict,
  DeviceAuth,
  MqttCredentials,
  TokenCredentials,
  WebSocketCredentials,
} from './device-auth.js';

interface FleetOrOwnAuthOptions {
  readonly fleet: DeviceAuth;
  readonly own: DeviceAuth;
  readonly enrolments: Pick<EnrolmentStore, 'isDenied'>;
}

/** Whether devices of a family may authenticate with the fleet secret over MQTT. */
const maySignWithFleetSecret: Readonly<Record<DialectName, boolean>> = { XIAOZHI: true, MCPU: false };

export class FleetOrOwnAuth implements DeviceAuth {
  constructor(private readonly options: FleetOrOwnAuthOptions) {}

  async checkMqtt(credentials: MqttCredentials): Promise<AuthVerdict> {
    const identity = parseMqttClientId(credentials.clientId);
    if (identity.ok && !maySignWithFleetSecret[identity.dialect]) return this.options.own.checkMqtt(credentials);
    const verdict = await this.options.fleet.checkMqtt(credentials);
    if (verdict.kind === 'granted' && identity.ok && !(await this.options.enrolments.isDenied(identity.deviceId)))
      return verdict;
    return this.options.own.checkMqtt(credentials);
  }

  async checkWebSocket(credentials: WebSocketCredentials): Promise<AuthVerdict> {
    const verdict = await this.options.fleet.checkWebSocket(credentials);
    const identity = parseDeviceIdHeader(credentials.deviceId);
    if (verdict.kind === 'granted' && identity.ok && !(await this.options.enrolments.isDenied(identity.deviceId)))
      return verdict;
    const own = await this.options.own.checkWebSocket(credentials);
    // The problem of a fleet token, such as its age, is the more useful message.
    return own.kind === 'granted' || verdict.kind === 'granted' ? own : verdict;
  }

  async checkToken(credentials: TokenCredentials): Promise<AuthVerdict> {
    return this.options.own.checkToken(credentials);
  }
}
