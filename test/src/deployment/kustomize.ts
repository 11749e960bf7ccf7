/**
 * Renders a folder of deploy/kubernetes as `kubectl kustomize` does, for the features that are used
 * there. Generated names keep no hash. Rejects every other field of a kustomization.
 */
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { isObject, strategicMerge, type Json, type JsonObject } from './strategic-merge.js';

export interface Resource extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string };
}

interface Patch {
  readonly path: string;
  readonly target?: { readonly kind: string; readonly name?: string };
}

interface Kustomization {
  readonly apiVersion: string;
  readonly kind: 'Kustomization' | 'Component';
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly nameSuffix?: string;
  readonly labels?: readonly { readonly pairs: JsonObject; readonly includeSelectors: true }[];
  readonly patches?: readonly Patch[];
  readonly configMapGenerator?: readonly { readonly name: string; readonly envs: readonly string[] }[];
}

const known: Readonly<Record<keyof Kustomization, true>> = {
  apiVersion: true,
  kind: true,
  resources: true,
  components: true,
  nameSuffix: true,
  labels: true,
  patches: true,
  configMapGenerator: true,
};

/** The resources of a kustomization, with those of more components where they are named. */
export function kustomize(folder: string, components: readonly string[] = []): readonly Resource[] {
  const steps = readKustomization(folder);
  const inFolder = (name: string) => path.join(folder, name);
  const given = (steps.resources ?? []).flatMap((name) =>
    statSync(inFolder(name)).isDirectory() ? kustomize(inFolder(name)) : readResources(inFolder(name)),
  );
  const generated = (steps.configMapGenerator ?? []).map(({ name, envs }) =>
    configMap(name, envs.map(inFolder).flatMap(readEnvFile)),
  );
  const own = transform([...given, ...generated], folder, steps);
  return [...(steps.components ?? []).map(inFolder), ...components].reduce(
    (resources, component) => transform(resources, component, readKustomization(component)),
    own,
  );
}

function readKustomization(folder: string): Kustomization {
  const file = path.join(folder, 'kustomization.yaml');
  const steps = parse(readFileSync(file, 'utf8')) as Kustomization;
  const unknown = Object.keys(steps).filter((name) => !(name in known));
  if (unknown.length > 0) throw new Error(`${file}: this test does not render ${unknown.join(', ')}.`);
  return steps;
}

function readResources(file: string): readonly Resource[] {
  // Kubernetes reads YAML 1.1, in which 0440 is octal.
  return parseAllDocuments(readFileSync(file, 'utf8'), { version: '1.1' }).map((document) => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(' ')}`);
    return document.toJS() as Resource;
  });
}

/** `NAME=value` lines; others are comments or empty. */
function readEnvFile(file: string): readonly (readonly [string, string])[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    });
}

function configMap(name: string, values: readonly (readonly [string, string])[]): Resource {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: Object.fromEntries(values) };
}

/** Patches first, then names and labels, as kustomize does. */
function transform(resources: readonly Resource[], folder: string, steps: Kustomization): readonly Resource[] {
  const patched = (steps.patches ?? []).reduce((before, patch) => applyPatch(before, folder, patch), resources);
  const pairs = Object.assign({}, ...(steps.labels ?? []).map((label) => label.pairs)) as JsonObject;
  return patched.map((resource) => labelled(suffixed(resource, steps.nameSuffix ?? ''), pairs));
}

function applyPatch(resources: readonly Resource[], folder: string, { path: file, target }: Patch) {
  const patches = readResources(path.join(folder, file));
  return resources.map((resource) =>
    patches.reduce((before, { metadata: { name }, ...patch }) => {
      const wanted = target ?? { kind: patch.kind, name };
      const isTarget = wanted.kind === before.kind && (wanted.name ?? before.metadata.name) === before.metadata.name;
      return isTarget ? (strategicMerge(before, patch, before.kind) as Resource) : before;
    }, resource),
  );
}

/** A suffix renames resources and the service accounts of pods. No other reference has one. */
function suffixed(resource: Resource, suffix: string): Resource {
  if (suffix === '') return resource;
  const renamed = { ...resource, metadata: { ...resource.metadata, name: `${resource.metadata.name}${suffix}` } };
  return changed(renamed, ['spec', 'template', 'spec', 'serviceAccountName'], (name) => `${String(name)}${suffix}`);
}

function labelled(resource: Resource, pairs: JsonObject): Resource {
  if (Object.keys(pairs).length === 0) return resource;
  const add = (labels: Json | undefined) => ({ ...(isObject(labels) ? labels : {}), ...pairs });
  const named = changed(resource, ['metadata', 'labels'], add, true);
  if (named.kind !== 'Deployment') return named;
  const selecting = changed(named, ['spec', 'selector', 'matchLabels'], add, true);
  return changed(selecting, ['spec', 'template', 'metadata', 'labels'], add, true);
}

/** With the value at a path replaced; where it is absent, only if it is to be created. */
function changed<Value extends JsonObject>(
  value: Value,
  [name = '', ...rest]: readonly string[],
  change: (before: Json | undefined) => Json,
  creates = false,
): Value {
  const before = value[name];
  if (rest.length === 0) return before === undefined && !creates ? value : { ...value, [name]: change(before) };
  if (!isObject(before)) return value;
  return { ...value, [name]: changed(before, rest, change, creates) };
}
