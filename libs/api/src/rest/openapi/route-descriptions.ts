/**
 * The descriptions of the OpenAPI document for each route, by `METHOD url`. A story fails for a
 * route without a description.
 */
import { callOutcomes } from '../call-export.js';
import type { ContentDescription, OperationDescription, QueryDescription } from './openapi-document.js';

const text = { type: 'string' } as const;
const id = { ...text, format: 'uuid' } as const;
const dateTime = { ...text, format: 'date-time' } as const;

const picture: ContentDescription = {
  'image/jpeg': {},
  'image/png': {},
  'image/webp': {},
  'image/gif': {},
  'application/octet-stream': {},
};

const viewer = {
  type: 'object',
  required: ['viewer'],
  properties: {
    viewer: {
      type: 'object',
      required: ['name', 'scopes'],
      properties: { name: text, scopes: { type: 'array', items: text } },
    },
  },
} as const;

const credentials = {
  type: 'object',
  required: ['email', 'password'],
  properties: { email: { ...text, format: 'email' }, password: { ...text, format: 'password' } },
} as const;

const redirect = { status: 302, description: 'Redirects to the address in `Location`.' } as const;

/** Sign-in routes, which need no key. */
const signIn: Readonly<Record<string, OperationDescription>> = {
  'GET /api/sign-in': {
    summary: 'Sign-in methods',
    isOpen: true,
    answer: {
      status: 200,
      description: 'Password, and an identity provider where one is configured.',
      content: {
        'application/json': {
          type: 'object',
          required: ['password', 'oidc'],
          properties: {
            password: { type: 'boolean' },
            oidc: {
              oneOf: [
                { type: 'null' },
                { type: 'object', required: ['label', 'url'], properties: { label: text, url: text } },
              ],
            },
          },
        },
      },
    },
    refusals: [],
  },
  'POST /api/sign-in': {
    summary: 'Sign in with e-mail address and password',
    isOpen: true,
    body: { 'application/json': credentials },
    answer: { status: 200, description: 'Sets the session cookie.', content: { 'application/json': viewer } },
    refusals: [400, 401, 403, 429, 503],
  },
  'POST /api/sign-out': {
    summary: 'End this session',
    answer: { status: 204, description: 'The session is over.' },
    refusals: [400, 403],
  },
  'POST /api/sign-out-everywhere': {
    summary: 'End all sessions of the signed-in user',
    answer: {
      status: 200,
      description: 'How many there were.',
      content: {
        'application/json': {
          type: 'object',
          required: ['sessions'],
          properties: { sessions: { type: 'integer', minimum: 0 } },
        },
      },
    },
    refusals: [400, 403],
  },
  'GET /api/sign-in/oidc': {
    summary: 'Sign in at the identity provider',
    isOpen: true,
    answer: redirect,
    refusals: [404, 503],
  },
  'GET /api/sign-in/oidc/callback': {
    summary: 'Callback of the identity provider',
    isOpen: true,
    answer: redirect,
    refusals: [404],
  },
};

const callExport = 'Latest first, without arguments.';

const period: readonly QueryDescription[] = [
  { name: 'since', description: 'Included. RFC 3339, with a zone.', schema: dateTime },
  { name: 'until', description: 'Not included. RFC 3339, with a zone.', schema: dateTime },
];

const callQuery: readonly QueryDescription[] = [
  { name: 'deviceId', schema: text },
  { name: 'tool', schema: text },
  { name: 'jobId', schema: text },
  {
    name: 'outcome',
    description: 'Also several times.',
    schema: { type: 'array', items: { ...text, enum: callOutcomes } },
  },
  ...period,
];

export const routeDescriptions: ReadonlyMap<string, OperationDescription> = new Map(
  Object.entries<OperationDescription>({
    ...signIn,
    'POST /api/firmware': {
      summary: 'Upload a firmware image',
      description:
        'No device gets it before `publishFirmwareImage` and a job that names it. ' +
        '`kind`, `version` and `signature` come before the file. ASSETS need a version; FIRMWARE contains its own. ' +
        '`signature` is a detached Ed25519 signature over the bytes of the file, in base64, ' +
        'by one of `firmwareSigningKeys`. An invalid signature is refused with SIGNATURE_INVALID ' +
        'or SIGNATURE_KEY_UNKNOWN.',
      body: {
        'multipart/form-data': {
          type: 'object',
          required: ['file'],
          properties: {
            kind: { ...text, enum: ['FIRMWARE', 'ASSETS'], default: 'FIRMWARE' },
            version: text,
            signature: text,
            file: { ...text, format: 'binary' },
          },
        },
      },
      answer: {
        status: 201,
        description: 'It is kept.',
        content: { 'application/json': { type: 'object', required: ['id'], properties: { id } } },
      },
      refusals: [400, 413, 422],
    },
    'POST /api/uploads': {
      summary: 'Upload a picture, to show it on a device with `showImage`',
      body: {
        'multipart/form-data': {
          type: 'object',
          required: ['file'],
          properties: { file: { ...text, format: 'binary' } },
        },
      },
      answer: {
        status: 201,
        description: 'It is kept; `Location` says where.',
        content: {
          'application/json': {
            type: 'object',
            required: ['id', 'kind', 'contentType', 'sizeBytes', 'sha256', 'at', 'url'],
            properties: {
              id,
              kind: text,
              contentType: text,
              sizeBytes: { type: 'integer', minimum: 0 },
              sha256: text,
              at: dateTime,
              url: text,
            },
          },
        },
      },
      refusals: [400, 413, 415],
    },
    'GET /api/uploads/:id': {
      summary: 'A picture that a device or a person sent',
      answer: { status: 200, description: 'The file.', content: picture },
      refusals: [404],
    },
    'GET /api/uploads/:id/thumbnail': {
      summary: 'The thumbnail of a picture',
      answer: { status: 200, description: 'The file.', content: { 'image/jpeg': {} } },
      refusals: [404],
    },
    'GET /api/jobs/:id/results.csv': {
      summary: "Every device's outcome of a job, as CSV",
      answer: { status: 200, description: 'With a line of names first.', content: { 'text/csv': text } },
      refusals: [404],
    },
    'GET /api/jobs/:id/results.jsonl': {
      summary: "Every device's outcome of a job, as lines of JSON",
      answer: { status: 200, description: 'One line per device.', content: { 'application/jsonl': text } },
      refusals: [404],
    },
    'GET /api/calls.csv': {
      summary: 'Calls, as CSV',
      description: callExport,
      query: callQuery,
      answer: { status: 200, description: 'With a line of names first.', content: { 'text/csv': text } },
      refusals: [400],
    },
    'GET /api/calls.jsonl': {
      summary: 'Calls, as lines of JSON',
      description: callExport,
      query: callQuery,
      answer: { status: 200, description: 'One line per call.', content: { 'application/jsonl': text } },
      refusals: [400],
    },
    'GET /api/audit.jsonl': {
      summary: 'The audit trail, as lines of JSON',
      description: 'In the order of its times.',
      query: period,
      answer: {
        status: 200,
        description: 'One line per entry, with all that its hash covers.',
        content: { 'application/jsonl': text },
      },
      refusals: [400],
    },
  }),
);
