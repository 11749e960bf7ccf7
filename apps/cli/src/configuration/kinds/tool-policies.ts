/** Tool policies, by pattern. */
import { expectAccepted } from '@flotilla/client';
import type { ToolPolicyInput } from '@flotilla/client/schema';
import {
  ConfiguredPoliciesDocument,
  DeleteToolPolicyDocument,
  SetToolPolicyDocument,
} from '../../generated/operations.js';
import { withoutNull, type Fields, type Kind, type KindContext, type Live } from '../kind.js';

const flag = { type: 'boolean' } as const;

/** The revision of a policy that must not exist yet. */
const NO_REVISION = '';

/** The most specific pattern applies to a tool: its name, or else the longest prefix. */
const specificity = (pattern: string) => (pattern.endsWith('*') ? pattern.length : Number.MAX_SAFE_INTEGER);

async function set(
  { name: pattern, revision = NO_REVISION }: Pick<Live, 'name' | 'revision'>,
  fields: Fields,
  { client }: KindContext,
): Promise<void> {
  const input = { ...fields, pattern } as unknown as ToolPolicyInput;
  expectAccepted((await client.request(SetToolPolicyDocument, { input, revision: String(revision) })).setToolPolicy);
}

export const toolPolicies: Kind = {
  kind: 'ToolPolicy',
  nameIs: 'pattern of tools, such as `self.reboot` or `self.camera.*`',
  fields: {
    idempotent: { ...flag, description: 'The hub may repeat a call whose outcome is unknown.' },
    disruptive: { ...flag, description: 'The tool interrupts the work of the device.' },
    readOnly: { type: ['boolean', 'null'] },
    disconnectExpected: flag,
    verification: { enum: ['NONE', 'READBACK', 'REBOOT', 'FIRMWARE'] },
    readback: {
      type: ['object', 'null'],
      additionalProperties: false,
      properties: {
        tool: { type: 'string' },
        path: { type: 'string' },
        argument: { type: 'string' },
        tolerance: { type: 'number' },
        settleMs: { type: 'integer' },
      },
      required: ['tool', 'path', 'argument'],
    },
    failureText: { type: ['string', 'null'] },
    callTimeoutMs: { type: 'integer' },
  },
  required: ['idempotent', 'disruptive'],
  defaults: { disconnectExpected: false, verification: 'NONE', callTimeoutMs: 60_000 },
  within: { readback: { tolerance: 0, settleMs: 600 } },
  // The hub refuses a readback that disrupts, and a more specific pattern may say that it does not.
  order: (one, other) => specificity(other) - specificity(one),
  async read({ client }) {
    const { toolPolicies: policies } = await client.request(ConfiguredPoliciesDocument);
    return policies.map(({ pattern, revision, ...fields }) => ({
      id: pattern,
      name: pattern,
      revision,
      fields: withoutNull(fields),
    }));
  },
  create: (name, fields, context) => set({ name }, fields, context),
  update: set,
  async remove({ name: pattern }, { client }) {
    expectAccepted((await client.request(DeleteToolPolicyDocument, { pattern })).deleteToolPolicy);
  },
};
