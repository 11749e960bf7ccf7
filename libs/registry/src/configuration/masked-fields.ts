/** Masks secrets that a configuration file has in place of references. */
import { isJsonObject, maskArguments, maskSecrets } from '@flotilla/mcp';

type Fields = Readonly<Record<string, unknown>>;

/** References stay. Otherwise the same as the hub shows, because a plan compares the two. */
export function maskedFields(fields: Fields): Fields {
  const { job } = fields;
  const masked = { ...maskedCall(fields), ...(isJsonObject(job) && { job: maskedCall(job) }) };
  return withReferences(fields, masked) as Fields;
}

/** The tool decides whether the argument `pin` is a secret. */
function maskedCall(fields: Fields): Fields {
  const { tool, arguments: given } = fields;
  return { ...maskSecrets(fields), ...(isJsonObject(given) && { arguments: maskArguments(String(tool), given) }) };
}

/** `shown` with the references of `value`, which have no secrets. */
function withReferences(value: unknown, shown: unknown): unknown {
  if (isReference(value)) return value;
  if (Array.isArray(shown) && Array.isArray(value))
    return shown.map((item, index) => withReferences(value[index], item));
  if (!isJsonObject(shown) || !isJsonObject(value)) return shown;
  return Object.fromEntries(Object.entries(shown).map(([name, item]) => [name, withReferences(value[name], item)]));
}

function isReference(value: unknown): boolean {
  return isJsonObject(value) && typeof value['fromEnv'] === 'string' && Object.keys(value).length === 1;
}
