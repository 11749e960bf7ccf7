/** The schemas of structured results, which hosts check and models read. */
import type { Tool } from '@modelcontextprotocol/server';

type Schema = Readonly<Record<string, unknown>>;
export type OutputSchema = NonNullable<Tool['outputSchema']>;

export const text = { type: 'string' };
export const integer = { type: 'integer' };
export const boolean = { type: 'boolean' };
export const time = { type: 'string', format: 'date-time' };
export const list = (items: Schema) => ({ type: 'array', items });

export function object(required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}) {
  return { type: 'object' as const, properties: { ...required, ...optional }, required: Object.keys(required) };
}

const device = {
  id: text,
  dialect: text,
  presence: { enum: ['ONLINE', 'OFFLINE'] },
  tags: list(text),
  deviceSays: object({}, { model: text, firmwareVersion: text }),
};
const deviceOptions = { name: text, connectedAt: time, lastSeenAt: time };

/** `value` is the JSON object or the text that a device answered; media are only in the content. */
export const deviceAnswerSchema: OutputSchema = object({ source: { const: 'device' }, untrusted: text }, { value: {} });

export const foundDevicesSchema: OutputSchema = object(
  { untrusted: text, now: time, devices: list(object(device, deviceOptions)), more: boolean },
  {
    matching: { ...integer, description: 'Devices that match in all; left out above 10,000.' },
    deviceSays: object({ models: list(object({ model: text, devices: integer })) }),
    next: { ...text, description: 'Give it as `after` for the next devices.' },
    hint: text,
    timeZone: { ...text, description: 'The IANA time zone of the group.' },
  },
);

const describedTool = object(
  { name: text, mcpName: text },
  {
    deviceSaysOfIt: text,
    inputSchema: { type: 'object' },
    schemaKnown: boolean,
    leftOut: boolean,
    readOnly: boolean,
    destructive: boolean,
    idempotent: boolean,
  },
);

export const describedDeviceSchema: OutputSchema = object(
  { untrusted: text, ...device, tools: list(describedTool) },
  { ...deviceOptions, next: text },
);

export const jobStartSchema: OutputSchema = object(
  { devices: integer, next: text },
  {
    preview: boolean,
    untrusted: text,
    now: time,
    online: integer,
    sample: list(text),
    timeZone: text,
    rejected: {
      ...list(object({ message: text, devices: integer })),
      description: 'Devices that would reject the call, by reason.',
    },
    blastRadius: { ...integer, description: 'Devices that a failing call can affect before the job stops itself.' },
    warnings: list(text),
    job: text,
    state: text,
    startAt: time,
  },
);

export const jobStatusSchema: OutputSchema = object(
  {
    untrusted: text,
    job: text,
    tool: text,
    state: text,
    progress: { type: 'object', additionalProperties: integer, description: 'Devices by outcome or state.' },
    failures: list(object({ outcome: text, code: text, count: integer, message: text })),
  },
  { conclusion: text, startAt: time, ratePerMinute: { type: 'number' }, estimatedFinishAt: time },
);

const alert = object(
  { id: text, severity: text, kind: text, state: { enum: ['FIRING', 'RESOLVED'] }, summary: text, firedAt: time },
  { device: text, devices: integer, resolvedAt: time, acknowledgedBy: text, note: text },
);

export const listedAlertsSchema: OutputSchema = object(
  { untrusted: text, alerts: list(alert), more: boolean },
  { next: { ...text, description: 'Give it as `after` for the next alerts.' } },
);

export const acknowledgedAlertSchema: OutputSchema = object({ untrusted: text, acknowledged: text }, { alert });

const number = { type: 'number' };

export const measuredSchema: OutputSchema = object(
  { untrusted: text },
  {
    paths: list(object({ path: text }, { latest: number, latestAt: time })),
    path: text,
    points: list(object({ at: time, min: number, mean: number, max: number }, { p95: number, devices: integer })),
    hint: text,
  },
);
