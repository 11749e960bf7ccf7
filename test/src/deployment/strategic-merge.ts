/** Strategic merge patches of Kubernetes: lists with a merge key merge, others are replaced. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}

/** The key of each list that merges. The API of Kubernetes declares them as `patchMergeKey`. */
function mergeKeyOf(list: string, kind: string): string | undefined {
  if (list === 'ports') return kind === 'Service' ? 'port' : 'containerPort';
  if (['containers', 'env', 'volumes'].includes(list)) return 'name';
  return list === 'volumeMounts' ? 'mountPath' : undefined;
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the target with the patch applied. `null` in a patch removes a field. */
export function strategicMerge(target: JsonObject, patch: JsonObject, kind: string): JsonObject {
  const patched = Object.entries(patch).map(([name, value]) => [
    name,
    value === null ? null : mergeValue(target[name], value, { name, kind }),
  ]);
  const merged = { ...target, ...Object.fromEntries(patched) } as JsonObject;
  return Object.fromEntries(Object.entries(merged).filter(([name]) => patch[name] !== null));
}

function mergeValue(before: Json | undefined, value: Json, place: { readonly name: string; readonly kind: string }) {
  if (isObject(value)) return strategicMerge(isObject(before) ? before : {}, value, place.kind);
  const key = mergeKeyOf(place.name, place.kind);
  return Array.isArray(value) && Array.isArray(before) && key !== undefined
    ? mergeLists(before.filter(isObject), value.filter(isObject), { key, kind: place.kind })
    : value;
}

function mergeLists(
  before: readonly JsonObject[],
  patches: readonly JsonObject[],
  { key, kind }: { readonly key: string; readonly kind: string },
): readonly JsonObject[] {
  const isKnown = (patch: JsonObject) => before.some((item) => item[key] === patch[key]);
  const merged = before.map((item) => {
    const patch = patches.find((candidate) => candidate[key] === item[key]);
    return patch === undefined ? item : strategicMerge(item, patch, kind);
  });
  return [...merged, ...patches.filter((patch) => !isKnown(patch)).map((patch) => strategicMerge({}, patch, kind))];
}
