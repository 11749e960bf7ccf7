/** Recording rules, by path. Of several rules for one path the first that fits a device applies. */
import { expectAccepted } from '@flotilla/client';
import type { RecordingRuleInput } from '@flotilla/client/schema';
import {
  DeleteRecordingRuleDocument,
  RecordingRulesDocument,
  SetRecordingRuleDocument,
} from '../../generated/operations.js';
import { filterSchema, filterWithIds, filterWithNames } from '../filter-references.js';
import { isFields, type Fields, type Kind, type KindContext, type Live } from '../kind.js';

/** What the migration entered as author and time of the rules that come with the hub. */
const SHIPPED = { savedBy: 'hub', savedAt: Date.UTC(2026, 0, 1) };

export const recordingRules: Kind = {
  kind: 'RecordingRule',
  nameIs: 'path, such as `self.get_device_status:battery.level`',
  fields: {
    rules: {
      type: 'array',
      minItems: 1,
      description: 'The first rule whose devices include a device applies to it.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['devices'],
        properties: {
          devices: filterSchema,
          deadband: { type: 'number' },
          minIntervalSeconds: { type: 'integer' },
        },
      },
    },
  },
  required: ['rules'],
  within: { rules: [{ deadband: 0, minIntervalSeconds: 60 }] },
  requireNamed(fields, references) {
    for (const { devices } of rulesOf(fields)) filterWithIds(devices, references);
  },
  async read({ client, references }) {
    const { recordingRules: rules } = await client.request(RecordingRulesDocument);
    const paths = [...new Set(rules.map(({ path }) => path))];
    return paths.map((name): Live => {
      const ofPath = rules.filter(({ path }) => path === name);
      return {
        id: ofPath.map(({ id }) => id).join(ID_SEPARATOR),
        name,
        isPristine: ofPath.every(
          ({ savedBy, savedAt }) => savedBy === SHIPPED.savedBy && Date.parse(savedAt) === SHIPPED.savedAt,
        ),
        fields: {
          rules: ofPath.map(({ devices, deadband, minIntervalSeconds }) => ({
            devices: filterWithNames(devices, references),
            deadband,
            minIntervalSeconds,
          })),
        },
      };
    });
  },
  create: (path, fields, context) => save(path, [], fields, context),
  async update(live, fields, context) {
    const ids = idsOf(live);
    await save(live.name, ids, fields, context);
    for (const id of ids.slice(rulesOf(fields).length)) await removeOne(id, context);
  },
  async remove(live, context) {
    for (const id of idsOf(live)) await removeOne(id, context);
  },
};

/** The thing of a file is all rules of a path. */
const ID_SEPARATOR = ' ';
const idsOf = ({ id }: Live) => id.split(ID_SEPARATOR);

const rulesOf = ({ rules }: Fields) => (Array.isArray(rules) ? rules.filter(isFields) : []);

/** From the last to the first, because the latest saved applies. */
async function save(
  path: string,
  ids: readonly string[],
  fields: Fields,
  { client, references }: KindContext,
): Promise<void> {
  for (const [index, { devices, ...rule }] of [...rulesOf(fields).entries()].reverse()) {
    const input = {
      ...rule,
      path,
      id: ids[index] ?? null,
      devices: filterWithIds(devices, references),
    } as unknown as RecordingRuleInput;
    expectAccepted((await client.request(SetRecordingRuleDocument, { input })).setRecordingRule);
  }
}

async function removeOne(id: string, { client }: KindContext): Promise<void> {
  expectAccepted((await client.request(DeleteRecordingRuleDocument, { id })).deleteRecordingRule);
}
