/** Device groups, by name. */
import { expectAccepted } from '@flotilla/client';
import type { DeviceGroupInput } from '@flotilla/client/schema';
import {
  ConfiguredGroupsDocument,
  CreateDeviceGroupDocument,
  DeleteDeviceGroupDocument,
  UpdateDeviceGroupDocument,
} from '../../generated/operations.js';
import { eachNode } from '../../pages.js';
import { filterSchema } from '../filter-references.js';
import { withoutNull, type Fields, type Kind } from '../kind.js';
import { allOf } from './all-of.js';

const inputOf = (name: string, fields: Fields) => ({ ...fields, name }) as unknown as DeviceGroupInput;

export const deviceGroups: Kind = {
  kind: 'DeviceGroup',
  nameIs: 'name of the group',
  fields: {
    filter: filterSchema,
    timeZone: { type: ['string', 'null'], description: 'An IANA zone, such as Europe/Berlin.' },
    voiceUrl: { type: ['string', 'null'], description: 'Addresses of voice servers, separated by commas.' },
  },
  required: ['filter'],
  textLists: ['voiceUrl'],
  async read({ client }) {
    const groups = await allOf(
      eachNode(async (page) => (await client.request(ConfiguredGroupsDocument, page)).deviceGroups),
    );
    return groups.map(({ id, name, revision, filter, timeZone, voiceUrl }) => ({
      id,
      name,
      revision,
      fields: withoutNull({ filter, timeZone, voiceUrl }),
    }));
  },
  async create(name, fields, { client }) {
    const input = inputOf(name, fields);
    expectAccepted((await client.request(CreateDeviceGroupDocument, { input })).createDeviceGroup);
  },
  async update({ id, name, revision }, fields, { client }) {
    const variables = { id, input: inputOf(name, fields), revision: String(revision) };
    expectAccepted((await client.request(UpdateDeviceGroupDocument, variables)).updateDeviceGroup);
  },
  async remove({ id }, { client }) {
    expectAccepted((await client.request(DeleteDeviceGroupDocument, { id })).deleteDeviceGroup);
  },
};
