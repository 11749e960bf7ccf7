/** Tools without arguments, as buttons. Those that only read are not offered. */
import { identifyTool, isJsonObject } from '@flotilla/mcp';
import type { HomeTool, MappingInput } from './home-device.js';

interface ButtonTool {
  readonly tool: string;
  readonly name: string;
  readonly endsSession: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Names of tools that only read: a button would show nothing. */
const reads = /(?:^|[._])(?:get|is|has|read|list|show|status|info|scan|test)(?:[._]|$)/i;
const buttonsMax = 40;

export function buttonsOf({ device, rights, policyOf }: MappingInput): readonly ButtonTool[] {
  if (!rights.mayCall) return [];
  return device.tools
    .filter((tool) => !tool.userOnly || rights.mayCallUserOnly)
    .filter(isWithoutArguments)
    .flatMap(({ name }): readonly ButtonTool[] => {
      const { disconnectExpected: endsSession, disruptive, idempotent, readOnly, verification } = policyOf(name);
      const tool = { tool: name, name: name.replace(/^(?:self|hub)\./, ''), endsSession };
      if (readOnly === true || verification === 'FIRMWARE' || (readOnly === undefined && reads.test(name))) return [];
      if (verification === 'REBOOT')
        return [{ ...tool, fields: { payload_press: 'PRESS', device_class: 'restart', entity_category: 'config' } }];
      if (disruptive) return [];
      if (name === identifyTool.name)
        return [{ ...tool, fields: { payload_press: 'PRESS', device_class: 'identify', entity_category: 'config' } }];
      // A person enables the others in Home Assistant: a press may move or say something.
      return [{ ...tool, fields: { payload_press: 'PRESS', enabled_by_default: idempotent } }];
    })
    .slice(0, buttonsMax);
}

function isWithoutArguments({ inputSchema, schemaKnown }: HomeTool): boolean {
  const properties = inputSchema['properties'];
  return (
    schemaKnown && (properties === undefined || (isJsonObject(properties) && Object.keys(properties).length === 0))
  );
}
