/** Configuration files: YAML with a heading for each kind, checked against the JSON Schema. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv, type ErrorObject } from 'ajv';
import { LineCounter, parseDocument, stringify } from 'yaml';
import { messageOf } from '../error-message.js';
import { UsageError } from '../exit-codes.js';
import { readStandardInput, standardInput } from '../json-input.js';
import { isFields, type Fields, type JsonSchema, type Kind } from './kind.js';

/** The version of the format. */
const FORMAT = 1;
/** A file of all settings of a large hub has some hundred kilobytes. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Aliases of one anchor, times those inside of it. A hub has some hundred things of a kind. */
const ALIASES_MAX = 2_000;

/** Things by kind and name, in the order of the file. */
export type Document = ReadonlyMap<string, ReadonlyMap<string, Fields>>;

export function schemaOf(kinds: readonly Kind[]): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of a Flotilla hub',
    type: 'object',
    required: ['flotilla'],
    additionalProperties: false,
    properties: {
      flotilla: { const: FORMAT, description: 'The version of the format.' },
      ...Object.fromEntries(
        kinds.map(({ kind, nameIs, fields, required }) => [
          kind,
          {
            description: `By ${nameIs}.`,
            type: 'object',
            additionalProperties: { type: 'object', additionalProperties: false, properties: fields, required },
          },
        ]),
      ),
    },
  };
}

/** The text of standard input if it is one of the files. */
export async function readInput(files: readonly string[]): Promise<string> {
  return files.includes(standardInput) ? readStandardInput(FILE_BYTES_MAX) : '';
}

/**
 * Reads several files as one, with paths from the folder of the first one. `input` is the text of
 * standard input. Throws UsageError, which names the file and the place.
 */
export function readDocuments(files: readonly string[], kinds: readonly Kind[], input = ''): Document {
  const validate = new Ajv({ allErrors: true, strict: false, verbose: true }).compile(schemaOf(kinds));
  const all = new Map<string, Map<string, Fields>>();
  for (const file of files) {
    const shown = nameOf(file);
    const content = parse(shown, file === standardInput ? input : textOf(file));
    if (content === null || content === undefined)
      throw new UsageError(`${shown} is empty. A configuration begins with the line "flotilla: 1".`);
    if (!validate(content))
      throw new UsageError(`${shown} is not a configuration:\n${problemsOf(validate.errors ?? [])}`);
    for (const one of kinds) {
      const { kind } = one;
      const things = isFields(content) ? content[kind] : undefined;
      if (!isFields(things)) continue;
      const ofKind = all.get(kind) ?? new Map<string, Fields>();
      all.set(kind, ofKind);
      for (const [name, fields] of Object.entries(things)) {
        if (ofKind.has(name))
          throw new UsageError(`${shown}: ${kind} "${name}" is also in another file. Name it once.`);
        ofKind.set(name, withPaths(one, fields as Fields, file, files[0] ?? file));
      }
    }
  }
  return all;
}

/** The folder that paths in this file begin at; of standard input, the working folder. */
export function folderOf(file: string): string {
  return file === standardInput ? process.cwd() : path.dirname(path.resolve(file));
}

/** As messages name it. */
function nameOf(file: string): string {
  return file === standardInput ? 'Standard input' : file;
}

function withPaths({ paths = [] }: Kind, fields: Fields, file: string, first: string): Fields {
  const [own, common] = [folderOf(file), folderOf(first)];
  if (own === common) return fields;
  const changed = paths.flatMap((field) => {
    const value = fields[field];
    return typeof value === 'string' ? [[field, path.relative(common, path.resolve(own, value))]] : [];
  });
  return { ...fields, ...Object.fromEntries(changed) };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}.`);
  }
}

function parse(file: string, text: string): unknown {
  if (Buffer.byteLength(text) > FILE_BYTES_MAX) throw new UsageError(`${file} is larger than 8 MiB. Split it.`);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const { line, col } = lines.linePos(problem.pos[0]);
    throw new UsageError(`${file}:${line}:${col}: ${problem.message.split('\n')[0] ?? 'is not YAML'}`);
  }
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw new UsageError(`${file}: ${aliasProblem(error.message)}`);
  }
}

function aliasProblem(message: string): string {
  const unknown = /^Unresolved alias .*: (.*)$/.exec(message)?.[1];
  return unknown === undefined
    ? `An anchor has more than ${ALIASES_MAX} aliases. Write some of them out.`
    : `There is no anchor "&${unknown}" before the alias "*${unknown}".`;
}

/** Problems shown at once. */
const PROBLEMS_MAX = 10;

function problemsOf(errors: readonly ErrorObject[]): string {
  const shown = errors.slice(0, PROBLEMS_MAX).map(({ instancePath, message, params, parentSchema }) => {
    const extra: unknown = (params as { additionalProperty?: unknown }).additionalProperty;
    const allowed: unknown = (params as { allowedValues?: unknown }).allowedValues;
    const { description } = (parentSchema ?? {}) as JsonSchema;
    const hints = [extra, Array.isArray(allowed) ? allowed.join(', ') : undefined, description];
    const more = hints.map((hint) => (typeof hint === 'string' ? `: ${hint}` : '')).join('');
    return `  ${instancePath.replaceAll('~1', '/').replaceAll('~0', '~') || '/'} ${message ?? 'is wrong'}${more}`;
  });
  const left = errors.length - shown.length;
  return [...shown, ...(left > 0 ? [`  … and ${left} more`] : [])].join('\n');
}

/** One thing as a file has it. */
export function thingText(fields: Fields): string {
  return stringify(fields, { lineWidth: 100, sortMapEntries: true });
}

export function documentText(document: Document, schemaFile: string | undefined): string {
  const content: Record<string, unknown> = { flotilla: FORMAT };
  for (const [kind, things] of document) if (things.size > 0) content[kind] = Object.fromEntries(things);
  const note = schemaFile === undefined ? '' : `# yaml-language-server: $schema=${schemaFile}\n`;
  return note + stringify(content, { lineWidth: 100 });
}
