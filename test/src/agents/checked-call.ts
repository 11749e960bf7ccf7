/** A call of a tool whose result must fit the schema that the server declares for it. */
import type { Client } from '@modelcontextprotocol/client';
import { Ajv2020, type SchemaObject } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { textOf } from './agent-keys.js';

type ListedTool = Awaited<ReturnType<Client['listTools']>>['tools'][number];

const ajv = new Ajv2020({ strict: false, validateFormats: false });

/** Calls a tool and checks its structured result against the schema that the listing declares. */
export async function checked(
  agent: Client,
  tools: readonly ListedTool[],
  name: string,
  args: object,
): Promise<object> {
  const schema = tools.find((listed) => listed.name === name)?.outputSchema as SchemaObject | undefined;
  const result = await agent.callTool({ name, arguments: { ...args } });
  expect(result.isError ?? false, textOf(result)).toBe(false);
  const isValid = ajv.validate(schema ?? false, result.structuredContent);
  expect(isValid ? [] : ajv.errors, `${name}: ${JSON.stringify(result.structuredContent)}`).toEqual([]);
  return result.structuredContent as object;
}
