/**
 * The messages between processes as version 0.1.0 wrote and parsed them: it knows no later member,
 * and requires each of these. It replaces libs/bus/src/redis/redis-messages.ts in a process that
 * plays the former version. It changes only with a release (CONTRIBUTING.md).
 */
import { z } from 'zod';

process.stderr.write('This process speaks the messages of 0.1.0.\n');

const text = (value) => typeof value === 'string' && value !== '';
const name = z.custom(text);
const plainObject = z.record(z.string(), z.unknown());

const routedCall = z.object({
  deviceId: name,
  epoch: z.number().int().exactOptional(),
  rights: z.object({ mayCallUserOnly: z.boolean(), mayChangeFirmware: z.boolean(), ownUrl: z.string().optional() }),
  call: z.object({
    callId: name,
    tool: z.string(),
    arguments: plainObject,
    queueDeadlineAt: z.number(),
    callTimeoutMs: z.number(),
    callDeadlineAt: z.number().exactOptional(),
  }),
});

const outcome = z.object({
  kind: z.enum(['SUCCEEDED', 'FAILED', 'REJECTED', 'UNKNOWN', 'NOT_SENT']),
  certainty: z.enum(['NEVER', 'MAYBE', 'YES']),
  result: z.object({ content: z.array(z.looseObject({ type: z.string() })), isError: z.boolean() }).exactOptional(),
  error: z.object({ code: name, message: z.string(), rpcCode: z.number().exactOptional() }).exactOptional(),
});

const settledCall = z.object({
  callId: name,
  outcome,
  sentAt: z.number().exactOptional(),
  settledAt: z.number(),
});

const requestNumber = { askId: z.number().int() };

const requestMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), ...requestNumber, routed: routedCall }),
  z.object({ kind: z.literal('refreshTools'), ...requestNumber, deviceId: name }),
  z.object({ kind: z.literal('disconnect'), ...requestNumber, deviceId: name }),
]);

const replyMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('settled'), ...requestNumber, settled: settledCall }),
  z.object({ kind: z.literal('done'), ...requestNumber, isDone: z.boolean() }),
]);

const topic = (topicName, message) => z.object({ topic: z.literal(topicName), message });

const feedMessage = z.discriminatedUnion('topic', [
  topic('device', z.object({ deviceId: name, presence: z.enum(['ONLINE', 'OFFLINE']).exactOptional() })),
  topic('session', z.object({ deviceId: name, epoch: z.number().int() })),
  topic(
    'event',
    z
      .object({ id: z.string(), type: z.string(), deviceId: name.exactOptional(), at: z.number(), data: plainObject })
      .transform((event) => ({ ...event, deviceId: event.deviceId })),
  ),
  topic('expelled', z.object({ deviceId: name })),
  topic('access', z.object({ principal: z.string() })),
  topic('policy', z.object({ pattern: z.string() })),
  topic('job', z.object({ jobId: name })),
  topic('decided', z.object({ jobId: name, deviceIds: z.array(name).max(500) })),
  topic('lateAnswer', z.object({ callId: name, outcome })),
]);

export const parseRequest = (json) => requestMessage.parse(JSON.parse(json));
export const parseReply = (json) => replyMessage.parse(JSON.parse(json));
export const parseFeedMessage = (json) => feedMessage.parse(JSON.parse(json));

/** Leaves out what 0.1.0 did not have, as a process of that version would. */
const write = (schema) => (message) => JSON.stringify(schema.parse(JSON.parse(JSON.stringify(message))));

export const writeRequest = write(requestMessage);
export const writeReply = write(replyMessage);
export const writeFeedMessage = write(feedMessage);
