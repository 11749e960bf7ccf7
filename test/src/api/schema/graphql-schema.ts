/**
 * The schema by introspection of a running hub, and queries over all of it, as code generators
 * write them.
 */
import {
  buildClientSchema,
  getIntrospectionQuery,
  getNamedType,
  isCompositeType,
  isObjectType,
  isRequiredArgument,
  type GraphQLField,
  type GraphQLSchema,
  type IntrospectionQuery,
} from 'graphql';
import type { HubProcess } from '../../hub/hub-process.js';
import { ask, type GraphqlAnswer } from '../graphql-client.js';

/** Rows of each nested list: enough to have neighbours, few enough for the cost limit. */
const NESTED_ROWS = 2;

export async function servedSchema(hub: HubProcess): Promise<GraphQLSchema> {
  return buildClientSchema(await ask<IntrospectionQuery>(hub, getIntrospectionQuery()));
}

/**
 * Every field below this one, `levels` objects deep. Fields that need an argument are left out
 * below the first level.
 */
function everythingOf(field: GraphQLField<unknown, unknown>, levels: number): string {
  const type = getNamedType(field.type);
  if (!isCompositeType(type)) return '';
  if (!isObjectType(type) || levels === 0) return '{ __typename }';
  const fields = Object.values(type.getFields()).filter((each) => !each.args.some(isRequiredArgument));
  const deeper = fields.filter((each) => levels > 1 || !isCompositeType(getNamedType(each.type)));
  const selections = deeper.map((each) => `${each.name}${rowsOf(each)} ${everythingOf(each, levels - 1)}`);
  return `{ __typename ${selections.join(' ')} }`;
}

/** Asks for everything of a field: at most `levels` deep, and as deep as the cost limit allows. */
export async function askForEverything(
  send: (query: string) => Promise<GraphqlAnswer>,
  field: GraphQLField<unknown, unknown>,
  { argument, levels }: { readonly argument: string; readonly levels: number },
): Promise<GraphqlAnswer> {
  const answer = await send(`{ ${field.name}${argument} ${everythingOf(field, levels)} }`);
  const isTooCostly = answer.errors?.some(({ extensions }) => extensions?.code === 'COST_LIMIT');
  return isTooCostly && levels > 2 ? askForEverything(send, field, { argument, levels: levels - 1 }) : answer;
}

function rowsOf(field: GraphQLField<unknown, unknown>): string {
  return field.args.some(({ name }) => name === 'first') ? `(first: ${NESTED_ROWS})` : '';
}

/** The input of a desired state of the volume of a device. */
export function desiredStateOf(deviceId: string): string {
  const value = 'tool: "self.audio_speaker.set_volume", arguments: {volume: 3}';
  return `{name: "Every field", ${value}, devices: {ids: ["${deviceId}"]}}`;
}

/** The arguments that a field of Query needs: an id, an input, or the size of a page. */
export function argumentOf(
  { name, args }: GraphQLField<unknown, unknown>,
  id: string | undefined,
  deviceId: string,
): string {
  if (id !== undefined) return `(id: "${id}")`;
  if (name === 'previewJob') return `(input: {tool: "self.get_device_status", devices: {ids: ["${deviceId}"]}})`;
  const since = new Date(Date.now() - 3_600_000).toISOString();
  if (name === 'firmwareHealth') return `(since: "${since}")`;
  if (name === 'fleetMeasurements') return `(path: "self.get_device_status:battery.level", since: "${since}")`;
  if (name === 'previewRegistration') return '(input: [{deviceId: "02:00:00:00:00:01", dialect: XIAOZHI}])';
  if (name === 'previewDesiredState') return `(input: ${desiredStateOf(deviceId)})`;
  if (name === 'previewAlertRule') return '(input: {name: "Preview", kind: DEVICE_OFFLINE, channelIds: []})';
  return args.some((arg) => arg.name === 'first') ? '(first: 3)' : '';
}
