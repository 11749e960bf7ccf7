/** Makes one of each thing that a field of Query takes the id of. */
import { eventually } from '../../eventually.js';
import type { HubProcess } from '../../hub/hub-process.js';
import { makeImage, uploadImage } from '../../jobs/firmware-image.js';
import { finished, jobOf } from '../../jobs/job-api.js';
import { ask } from '../graphql-client.js';
import { desiredStateOf } from './graphql-schema.js';

/** Ids by the name of the field. The second device is offline. */
export async function idsForEveryField(
  hub: HubProcess,
  deviceId: string,
  offlineId: string,
): Promise<Readonly<Record<string, string>>> {
  const input = `{deviceId: "${deviceId}", tool: "self.get_device_status"}`;
  const call = `mutation { callTool(input: ${input}) { call { id } } }`;
  const made = await ask<{ callTool: { call: { id: string } } }>(hub, call);
  const job = await jobOf(hub, { tool: 'self.get_device_status', devices: { ids: [deviceId] } }, 'every-field');
  await finished(hub, job);
  const { id: firmwareImage = '' } = (await uploadImage(hub, makeImage())).body;
  const grouping =
    'mutation { createDeviceGroup(input: {name: "Every field", filter: {all: true}}) { deviceGroup { id } } }';
  const grouped = await ask<{ createDeviceGroup: { deviceGroup: { id: string } } }>(hub, grouping);
  const schedule = await ask<{ createRecurringJob: { recurringJob: { id: string } } }>(
    hub,
    `mutation { createRecurringJob(idempotencyKey: "every-field", input: {name: "Every field", cron: "@yearly",
      timeZone: "UTC", job: {tool: "self.get_device_status", devices: {ids: ["${deviceId}"]}}}) {
        recurringJob { id } } }`,
  );
  const keeping = await ask<{ createDesiredState: { desiredState: { id: string } } }>(
    hub,
    `mutation { createDesiredState(idempotencyKey: "every-field", input: ${desiredStateOf(deviceId)}) {
        desiredState { id } } }`,
  );
  return {
    device: deviceId,
    call: made.callTool.call.id,
    job,
    firmwareImage,
    deviceGroup: grouped.createDeviceGroup.deviceGroup.id,
    recurringJob: schedule.createRecurringJob.recurringJob.id,
    desiredState: keeping.createDesiredState.desiredState.id,
    alert: await alertAbout(hub, offlineId),
  };
}

/** The id of an alert about a device that is offline. */
async function alertAbout(hub: HubProcess, deviceId: string): Promise<string> {
  const create = 'mutation ($input: AlertRuleInput!) { createAlertRule(input: $input) { userErrors { message } } }';
  const input = { name: 'Every field', kind: 'DEVICE_OFFLINE', devices: { ids: [deviceId] }, forSeconds: 0 };
  await ask(hub, create, { input: { ...input, channelIds: [] } });
  const [alert] = await eventually(
    async () => (await ask<{ alerts: { nodes: { id: string }[] } }>(hub, '{ alerts { nodes { id } } }')).alerts.nodes,
    (alerts) => alerts.length > 0,
  );
  return alert?.id ?? '';
}
