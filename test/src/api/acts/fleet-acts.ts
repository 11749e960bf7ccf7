/** An act for each mutation of devices, boards, groups and tool policies. */
import { randomUUID } from 'node:crypto';
import { askOta } from '../../devices/ota-client.js';
import { enrolmentsOf, type EnrolmentNode } from '../../devices/provisioning-api.js';
import type { HubProcess } from '../../hub/hub-process.js';
import { ask } from '../graphql-client.js';
import { AWAY, inAnHour, restarting, screen, type ActStage, type Acts } from './act-stage.js';
import { by, given, input } from './mutation-act.js';

export function fleetActs({ hub, known }: ActStage): Acts {
  const of = (name: string) => () => known[name] ?? '';
  return {
    registerDevice: [() => input('RegisterDeviceInput', { deviceId: AWAY, dialect: 'XIAOZHI' })],
    registerDevices: [
      () => ({
        args: '(input: $input)',
        variables: { 'input: [RegisterDeviceInput!]!': [{ deviceId: '02:00:00:00:aa:02', dialect: 'XIAOZHI' }] },
      }),
    ],
    updateDevice: [() => input('UpdateDeviceInput', { deviceId: AWAY, name: 'Away' })],
    tagDevices: [() => input('TagDevicesInput', { filter: { ids: [AWAY] }, add: ['audited'] })],
    rotateDeviceCredential: [by('deviceId', () => AWAY)],
    callTool: [() => input('CallToolInput', { deviceId: restarting, tool: 'self.reboot' })],
    takeSnapshot: [by('deviceId', () => screen, { select: 'upload { id }', keep: ['upload', 'upload.id'] })],
    showImage: [
      () => ({
        args: '(deviceId: $id, uploadId: $upload)',
        variables: { 'id: ID!': screen, 'upload: ID!': known['upload'] },
      }),
    ],
    setDevicesTransport: [
      () => input('SetDevicesTransportInput', { filter: { ids: [AWAY] }, transport: 'WEBSOCKET', expectedCount: 1 }),
    ],
    removeDevice: [by('deviceId', () => '02:00:00:00:aa:02')],
    removeDevices: [
      async () => {
        const device = { deviceId: '02:00:00:00:aa:03', dialect: 'XIAOZHI' };
        await ask(hub, 'mutation ($input: RegisterDeviceInput!) { registerDevice(input: $input) { device { id } } }', {
          input: device,
        });
        return input('RemoveDevicesInput', { filter: { ids: [device.deviceId] }, expectedCount: 1 });
      },
    ],
    blockBoard: [by('deviceId', () => '02:00:00:00:bb:03')],
    unblockBoard: [by('deviceId', () => '02:00:00:00:bb:03')],
    addMovingBoards: [() => given('boards', '[MovingBoardInput!]!', [{ deviceId: '02:00:00:00:bb:04' }])],
    moveBoards: [() => given('deviceIds', '[ID!]!', ['02:00:00:00:bb:04'])],
    moveBoardsBack: [() => given('deviceIds', '[ID!]!', ['02:00:00:00:bb:04'])],
    createEnrolmentLink: [
      () =>
        input(
          'EnrolmentLinkInput',
          { name: 'audited', maxDevices: 3, expiresAt: inAnHour },
          { select: 'enrolmentLink { id }', keep: ['link', 'enrolmentLink.id'] },
        ),
    ],
    revokeEnrolmentLink: [by('id', of('link'))],
    approveEnrolment: [
      async () => ({
        args: '(code: $code)',
        variables: { 'code: String!': (await enrolment(hub, '02:00:00:00:bb:01')).code },
      }),
    ],
    rejectEnrolment: [
      async () => ({ args: '(id: $id)', variables: { 'id: ID!': (await enrolment(hub, '02:00:00:00:bb:02')).id } }),
    ],
    createDeviceGroup: [
      () =>
        input(
          'DeviceGroupInput',
          { name: 'audited', filter: { all: true } },
          { select: 'deviceGroup { id }', keep: ['group', 'deviceGroup.id'] },
        ),
    ],
    updateDeviceGroup: [
      () => ({
        args: '(id: $id, input: $input)',
        variables: {
          'id: ID!': known['group'],
          'input: DeviceGroupInput!': { name: 'audited too', filter: { all: true } },
        },
      }),
    ],
    deleteDeviceGroup: [by('id', of('group'))],
    setToolPolicy: [() => input('ToolPolicyInput', { pattern: 'self.audited', idempotent: false, disruptive: false })],
    deleteToolPolicy: [() => ({ args: '(pattern: $pattern)', variables: { 'pattern: String!': 'self.audited' } })],
  };
}

/** A new board that waits for approval. */
async function enrolment(hub: HubProcess, mac: string): Promise<EnrolmentNode> {
  await askOta(hub, { mac, uuid: randomUUID() });
  const found = (await enrolmentsOf(hub)).find(({ deviceId }) => deviceId === mac);
  if (found === undefined) throw new Error(`${mac} does not wait for approval.`);
  return found;
}
