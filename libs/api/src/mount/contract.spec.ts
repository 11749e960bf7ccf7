import { readFileSync } from 'node:fs';
import {
  type ASTNode,
  buildSchema,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSpecifiedScalarType,
} from 'graphql';
import { describe, expect, it } from 'vitest';

const contract = readSchema('contract.graphql');
const served = readSchema('schema.graphql');

function readSchema(name: string): GraphQLSchema {
  return buildSchema(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
}

/** One line for everything that a caller can depend on. */
function linesOf(schema: GraphQLSchema): Set<string> {
  return new Set(typesOf(schema).flatMap((type) => [kindOf(type), ...membersOf(type)]));
}

function typesOf(schema: GraphQLSchema): GraphQLNamedType[] {
  return Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
}

function kindOf(type: GraphQLNamedType): string {
  return `${type.constructor.name} ${type.name}`;
}

function membersOf(type: GraphQLNamedType): string[] {
  if (isEnumType(type)) return type.getValues().map((value) => `${type.name}.${value.name}`);
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) => `${type.name}.${inputLine(field)}`);
  if (!isObjectType(type) && !isInterfaceType(type)) return [];
  const interfaces = type.getInterfaces().map((each) => `${type.name} implements ${each.name}`);
  const fields = Object.values(type.getFields()).flatMap((field) => [
    `${type.name}.${field.name}: ${String(field.type)}`,
    ...field.args.map((argument) => `${type.name}.${field.name}(${inputLine(argument)})`),
  ]);
  return [...interfaces, ...fields];
}

function inputLine(input: GraphQLArgument | GraphQLInputField): string {
  const node: ASTNode | null | undefined = input.astNode;
  const isDefaulted = node && 'defaultValue' in node && node.defaultValue !== undefined;
  return `${input.name}: ${String(input.type)}${isDefaulted ? ` = ${JSON.stringify(input.defaultValue)}` : ''}`;
}

/** What a caller of the contract must give. */
function requiredInputsOf(schema: GraphQLSchema): Set<string> {
  const inputs = typesOf(schema).flatMap((type) => {
    if (isInputObjectType(type))
      return Object.values(type.getFields())
        .filter(isRequiredInputField)
        .map((field) => `${type.name}.${field.name}`);
    if (!isObjectType(type)) return [];
    return Object.values(type.getFields()).flatMap((field) =>
      field.args.filter(isRequiredArgument).map((argument) => `${type.name}.${field.name}(${argument.name})`),
    );
  });
  return new Set(inputs);
}

describe('the served schema', () => {
  it('has no type, field, argument, default, nullability or enum value that the contract does not have', () => {
    const promised = linesOf(contract);
    expect([...linesOf(served)].filter((line) => !promised.has(line))).toEqual([]);
  });

  it('asks for every input that the contract requires, where it serves the field', () => {
    const asked = requiredInputsOf(served);
    const servedTypes = linesOf(served);
    const missing = [...requiredInputsOf(contract)].filter((line) => !asked.has(line) && isServed(line, servedTypes));
    expect(missing).toEqual([]);
  });

  it('has every value of an enum that it has at all, because callers switch over them', () => {
    const missing = typesOf(served)
      .filter(isEnumType)
      .flatMap((type): string[] => {
        const promised = contract.getType(type.name);
        const values = new Set(type.getValues().map((value) => value.name));
        return isEnumType(promised)
          ? promised.getValues().flatMap(({ name }) => (values.has(name) ? [] : [`${type.name}.${name}`]))
          : [type.name];
      });
    expect(missing).toEqual([]);
  });
});

function isServed(requiredInput: string, lines: ReadonlySet<string>): boolean {
  const owner = requiredInput.replace(/\(.*$/, '');
  const [type] = owner.split('.');
  return requiredInput.includes('(')
    ? [...lines].some((line) => line.startsWith(`${owner}: `))
    : lines.has(`GraphQLInputObjectType ${type}`);
}
