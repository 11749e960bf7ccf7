/** The tools for what an operator says once and the hub does from then on, and what they accept. */
import type { Tool } from '@modelcontextprotocol/server';
import { deviceArguments } from './device-arguments.js';
import {
  desiredStateSchema,
  desiredStatesSchema,
  recurringJobSchema,
  recurringJobsSchema,
} from './standing-schemas.js';

const text = (description: string) => ({ type: 'string', description });
/** Not the presence: it changes all the time. */
const { search, tags, group, model } = deviceArguments;

export const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
export const mayDoHarm = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** Arguments of both tools that create. */
const creation = {
  search,
  tags,
  group,
  model,
  name: text('A name that people recognize.'),
  tool: text('The name of the tool as describe_device shows it.'),
  arguments: { type: 'object', description: "What the tool's schema asks for." },
  ids: { type: 'array', items: { type: 'string' }, maxItems: 500, description: 'Ids of devices.' },
  confirmDevices: { type: 'integer', minimum: 0, description: 'The number of devices in the preview.' },
  idempotencyKey: { ...text('A repetition with the same text creates nothing.'), minLength: 1, maxLength: 128 },
};
const reading = {
  id: text('Only this one, with details.'),
  after: text('`next` of the previous answer.'),
};

export const createRecurringJobTool: Tool = {
  name: 'create_recurring_job',
  title: 'Call a tool again and again, by a schedule',
  description:
    'Creates a schedule that runs call_tool_on_many at its times, on the devices that match then. ' +
    'Without confirmDevices nothing is done: the answer has the next times and the devices that match now. ' +
    'Call again with that number as confirmDevices to create it.',
  inputSchema: {
    type: 'object',
    properties: {
      ...creation,
      cron: text('Minute, hour, day, month, weekday: "0 22 * * MON-FRI".'),
      timeZone: text('IANA zone of the times, such as Europe/Berlin.'),
    },
    required: ['name', 'tool', 'cron', 'timeZone'],
  },
  outputSchema: recurringJobSchema,
  annotations: mayDoHarm,
};

export const recurringJobsTool: Tool = {
  name: 'recurring_jobs',
  title: 'Show recurring jobs',
  description: 'The schedules with their next times and last jobs; follow a job with job_status.',
  inputSchema: { type: 'object', properties: reading },
  outputSchema: recurringJobsSchema,
  annotations: readOnly,
};

export const createDesiredStateTool: Tool = {
  name: 'create_desired_state',
  title: 'Keep a value on many devices',
  description:
    'Keeps the effect of a tool true on the devices that match, also on those that are offline or match later. ' +
    'The tool needs a policy with a readback. Without confirmDevices nothing is done: the answer counts devices in ' +
    'sync and devices that would change, and names conflicts. Call again with that number as confirmDevices.',
  inputSchema: {
    type: 'object',
    properties: {
      ...creation,
      mode: { type: 'string', enum: ['ENFORCE', 'REPORT'], description: 'REPORT shows differences and sets nothing.' },
      onDrift: {
        type: 'string',
        enum: ['REVERT', 'HOLD', 'ACCEPT'],
        default: 'HOLD',
        description: 'A value that a person changed: set it again at once, after holdSeconds, or leave it.',
      },
      holdSeconds: { type: 'integer', minimum: 0, default: 1_800 },
      priority: { type: 'integer', minimum: -1_000, maximum: 1_000, description: 'The highest one applies.' },
      window: {
        type: 'object',
        description: 'Only at these hours, HH:MM, each day. Without a zone: the zone of each device.',
        properties: { from: { type: 'string' }, to: { type: 'string' }, zone: { type: 'string' } },
        required: ['from', 'to'],
      },
    },
    required: ['name', 'tool', 'arguments'],
  },
  outputSchema: desiredStateSchema,
  annotations: mayDoHarm,
};

export const desiredStatesTool: Tool = {
  name: 'desired_states',
  title: 'Show desired states',
  description: 'Values that the hub keeps, with devices by state. With `id`: who is out of sync, and why.',
  inputSchema: { type: 'object', properties: reading },
  outputSchema: desiredStatesSchema,
  annotations: readOnly,
};
