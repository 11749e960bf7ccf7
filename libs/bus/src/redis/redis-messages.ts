/**
 * The messages between hub processes over Redis, and their only parser and writer. The other end
 * may have another version of the hub: see "A message between processes" in CONTRIBUTING.md.
 */
import type { CallErrorCode, CallId, DeviceId, JobId } from '@flotilla/mcp';
import type { SettledCall } from '@flotilla/session';
import { z } from 'zod';
import { BusError } from '../bus-error.js';
import type { RoutedCall } from '../calls/call-router.js';
import { decidedPerMessageMax, type FeedTopic, type FeedTopics } from '../feed/feed.js';

const text = (value: unknown): boolean => typeof value === 'string' && value !== '';
const deviceId = z.custom<DeviceId>(text);
const callId = z.custom<CallId>(text);
const plainObject = z.record(z.string(), z.unknown());

const routedCall = z.object({
  deviceId,
  epoch: z.number().int().exactOptional(),
  rights: z.object({ mayCallUserOnly: z.boolean(), mayChangeFirmware: z.boolean(), ownUrl: z.string().optional() }),
  call: z.object({
    callId,
    tool: z.string(),
    arguments: plainObject,
    queueDeadlineAt: z.number(),
    callTimeoutMs: z.number(),
    callDeadlineAt: z.number().exactOptional(),
  }),
  trace: z.string().exactOptional(),
});

const outcome = z.object({
  kind: z.enum(['SUCCEEDED', 'FAILED', 'REJECTED', 'UNKNOWN', 'NOT_SENT']),
  certainty: z.enum(['NEVER', 'MAYBE', 'YES']),
  result: z.object({ content: z.array(z.looseObject({ type: z.string() })), isError: z.boolean() }).exactOptional(),
  error: z
    .object({ code: z.custom<CallErrorCode>(text), message: z.string(), rpcCode: z.number().exactOptional() })
    .exactOptional(),
});

const settledCall = z.object({
  callId,
  outcome,
  sentAt: z.number().exactOptional(),
  settledAt: z.number(),
  isMoving: z.literal(true).exactOptional(),
});

/** The number of the request, which its answer repeats. */
const requestNumber = { askId: z.number().int() };

const requestMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), ...requestNumber, routed: routedCall }),
  z.object({ kind: z.literal('refreshTools'), ...requestNumber, deviceId }),
  z.object({ kind: z.literal('disconnect'), ...requestNumber, deviceId }),
]);

const replyMessage = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('settled'), ...requestNumber, settled: settledCall }),
  z.object({ kind: z.literal('done'), ...requestNumber, isDone: z.boolean() }),
]);

const feedMessage = z.discriminatedUnion('topic', [
  z.object({
    topic: z.literal('device'),
    message: z.object({ deviceId, presence: z.enum(['ONLINE', 'OFFLINE']).exactOptional() }),
  }),
  z.object({ topic: z.literal('session'), message: z.object({ deviceId, epoch: z.number().int() }) }),
  z.object({
    topic: z.literal('event'),
    message: z
      .object({
        id: z.string(),
        type: z.string(),
        deviceId: deviceId.exactOptional(),
        at: z.number(),
        data: plainObject,
      })
      // JSON has no undefined: an event without a device arrives without the member.
      .transform((event) => ({ ...event, deviceId: event.deviceId })),
  }),
  z.object({ topic: z.literal('expelled'), message: z.object({ deviceId }) }),
  z.object({ topic: z.literal('restarted'), message: z.object({ deviceId }) }),
  z.object({ topic: z.literal('sessionLogWanted'), message: z.object({ deviceId, forMs: z.number().min(0) }) }),
  z.object({
    topic: z.literal('sessionLog'),
    message: z.object({
      deviceId,
      at: z.number(),
      kind: z.enum(['SENT', 'RECEIVED', 'OPENED', 'CLOSED', 'DROPPED']),
      text: z.string(),
      bytes: z.number().int(),
      isTruncated: z.boolean(),
    }),
  }),
  z.object({ topic: z.literal('access'), message: z.object({ principal: z.string() }) }),
  z.object({ topic: z.literal('policy'), message: z.object({ pattern: z.string() }) }),
  z.object({ topic: z.literal('recordingRules'), message: z.object({ ruleId: z.string() }) }),
  z.object({ topic: z.literal('job'), message: z.object({ jobId: z.custom<JobId>(text) }) }),
  z.object({
    topic: z.literal('decided'),
    message: z.object({ jobId: z.custom<JobId>(text), deviceIds: z.array(deviceId).max(decidedPerMessageMax) }),
  }),
  z.object({ topic: z.literal('desiredState'), message: z.object({ id: z.string() }) }),
  z.object({ topic: z.literal('called'), message: z.object({ deviceId, tool: z.string() }) }),
  z.object({ topic: z.literal('lateAnswer'), message: z.object({ callId, outcome }) }),
]);

interface Asker {
  readonly askId: number;
}

/** The requests to a gateway. */
export type GatewayRequest =
  | { readonly kind: 'call'; readonly routed: RoutedCall }
  | { readonly kind: 'refreshTools'; readonly deviceId: DeviceId }
  | { readonly kind: 'disconnect'; readonly deviceId: DeviceId };

type RequestMessage = GatewayRequest & Asker;

export type ReplyMessage =
  | { readonly kind: 'settled'; readonly askId: number; readonly settled: SettledCall }
  | { readonly kind: 'done'; readonly askId: number; readonly isDone: boolean };

export type FeedMessage = {
  readonly [Topic in FeedTopic]: { readonly topic: Topic; readonly message: FeedTopics[Topic] };
}[FeedTopic];

export const writeRequest = (message: RequestMessage): string => JSON.stringify(message);
export const writeReply = (message: ReplyMessage): string => JSON.stringify(message);
export const writeFeedMessage = (message: FeedMessage): string => JSON.stringify(message);

export const parseRequest = (json: string): RequestMessage => parse(requestMessage, json);
export const parseReply = (json: string): ReplyMessage => parse(replyMessage, json);
export const parseFeedMessage = (json: string): FeedMessage => parse(feedMessage, json);

/** Throws BusError MESSAGE_INVALID. */
function parse<Schema extends z.ZodType>(schema: Schema, json: string): z.infer<Schema> {
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch (cause) {
    throw new BusError('MESSAGE_INVALID', 'A bus message is not JSON.', { cause });
  }
  const parsed = schema.safeParse(data);
  if (!parsed.success)
    throw new BusError('MESSAGE_INVALID', `A bus message is not valid: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
