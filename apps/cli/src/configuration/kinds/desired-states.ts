/** Desired states, by name. Their groups are named by name. */
import { randomUUID } from 'node:crypto';
import { expectAccepted } from '@flotilla/client';
import type { DesiredStateInput } from '@flotilla/client/schema';
import {
  CreateDesiredStateDocument,
  DeleteDesiredStateDocument,
  DesiredStatesDocument,
  UpdateDesiredStateDocument,
} from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { filterSchema, filterWithIds, filterWithNames } from '../filter-references.js';
import { withoutNull, type Fields, type Kind, type References } from '../kind.js';
import { allOf } from './all-of.js';
import { rolloutDefaults } from './rollout-defaults.js';

const inputOf = (name: string, fields: Fields, references: References) =>
  ({ ...fields, name, devices: filterWithIds(fields['devices'], references) }) as unknown as DesiredStateInput;

export const desiredStates: Kind = {
  kind: 'DesiredState',
  nameIs: 'name of the desired state',
  fields: {
    devices: filterSchema,
    tool: { type: 'string', description: 'A tool whose policy has a readback.' },
    arguments: { type: 'object', description: 'With `fromEnv: NAME` in place of a secret.' },
    mode: { enum: ['ENFORCE', 'REPORT'] },
    onDrift: { enum: ['REVERT', 'HOLD', 'ACCEPT'] },
    holdSeconds: { type: 'integer' },
    priority: { type: 'integer' },
    window: { type: ['object', 'null'], description: 'A DesiredStateWindowInput of the API.' },
    waves: { type: ['array', 'null'], items: { type: 'object' }, description: 'WaveInputs of the API.' },
    abort: { type: ['array', 'null'], items: { type: 'object' }, description: 'AbortRuleInputs of the API.' },
    maxInFlight: { type: 'integer' },
    perMinute: { type: ['integer', 'null'] },
    enabled: { type: 'boolean' },
  },
  required: ['devices', 'tool', 'arguments'],
  defaults: {
    mode: 'ENFORCE',
    onDrift: 'HOLD',
    holdSeconds: 1_800,
    priority: 0,
    maxInFlight: 200,
    enabled: true,
  },
  within: rolloutDefaults,
  requireNamed: (fields, references) => void inputOf('', fields, references),
  async read({ client, references }) {
    const states = await allOf(
      eachNode(async (page) => (await client.request(DesiredStatesDocument, page)).desiredStates),
    );
    return states.map(({ id, name, generation, isLimited, devices, tool, arguments: toolArguments, ...state }) => {
      const { mode, onDrift, holdSeconds, priority, window, waves, abort, maxInFlight, perMinute, enabled } = state;
      const fields = {
        devices: filterWithNames(devices, references),
        tool,
        arguments: toolArguments,
        mode,
        onDrift,
        holdSeconds,
        priority,
        window,
        waves,
        abort,
        maxInFlight,
        perMinute,
        enabled,
      };
      return { id, name, revision: generation, isLimited, fields: withoutNull(fields) };
    });
  },
  async create(name, fields, { client, references }) {
    const variables = { input: inputOf(name, fields, references), idempotencyKey: randomUUID() };
    expectAccepted((await client.request(CreateDesiredStateDocument, variables)).createDesiredState);
  },
  async update({ id, name, revision = 1, fields: read }, fields, { client, references }) {
    // Another person may disable it without a new generation: null leaves it as it is.
    const enabled = fields['enabled'] === read['enabled'] ? null : fields['enabled'];
    const variables = { id, generation: Number(revision), input: inputOf(name, { ...fields, enabled }, references) };
    expectAccepted((await client.request(UpdateDesiredStateDocument, variables)).updateDesiredState);
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(DeleteDesiredStateDocument, { id })).deleteDesiredState);
  },
};
